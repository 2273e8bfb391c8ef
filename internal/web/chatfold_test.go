package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"capstore/internal/agent"
	"capstore/internal/i18n"
	"capstore/internal/identity"
	"capstore/internal/registry"
	"capstore/views"
)

func foldCtx() *Ctx {
	return &Ctx{Locale: i18n.English, Who: identity.Principal{Workspace: "acme"}}
}

// scribe writes the entries of one conversation.
type scribe struct {
	entries []agent.Entry
	turn    uuid.UUID
}

func (s *scribe) write(kind agent.EntryKind, payload any) {
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	n := int64(len(s.entries) + 1)
	s.entries = append(s.entries, agent.Entry{Seq: n, At: time.Unix(1_700_000_000+n, 0), Turn: s.turn, Kind: kind, Payload: body})
}

func (s *scribe) say(text string) {
	s.turn = uuid.NewSHA1(uuid.Nil, fmt.Append(nil, len(s.entries)))
	s.write(agent.EntryMessage, agent.Message{Text: text})
}

// shownAs is what a reader sees of an item, in short.
func shownAs(i views.ChatItem) string {
	var out []string
	if i.Said != nil {
		out = append(out, "said "+i.Said.Text)
	}
	if i.Answer != nil {
		out = append(out, strings.TrimSpace("answer "+i.Answer.Text+" "+i.Answer.Note+i.Answer.Usage))
	}
	for _, call := range i.Calls {
		line := call.Name + " " + call.State
		for _, b := range call.Blocks {
			line += " " + b.Text
		}
		for _, h := range call.Hooks {
			line += " " + h.Text
		}
		if call.Approval != nil {
			line += " " + call.Approval.Text
		}
		out = append(out, strings.TrimSpace(line+" "+call.Message))
	}
	if i.Notice != nil {
		out = append(out, i.Notice.Text)
	}
	if i.Trouble != nil {
		out = append(out, "trouble "+i.Trouble.Text)
	}
	return strings.Join(out, "; ")
}

func folded(entries []agent.Entry) []string {
	f := foldCtx().newFold("1")
	for _, e := range entries {
		f.add(e)
	}
	var out []string
	for _, item := range f.items {
		out = append(out, shownAs(item))
	}
	return out
}

func text(s string) []json.RawMessage {
	return []json.RawMessage{json.RawMessage(`{"type":"text","text":"` + s + `"}`)}
}

func TestWhatALedgerShows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		write func(s *scribe)
		want  []string
	}{
		"calls stand where they were asked for": {func(s *scribe) {
			s.say("go")
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Text: "Two.", Calls: []agent.Requested{{Ref: "1/a", Name: "code__x"}, {Ref: "1/b", Name: "code__x"}}})
			s.write(agent.EntryToolCall, agent.ToolCall{Name: "code__x", Ref: "1/b"})
			s.write(agent.EntryToolResult, agent.ToolResult{Name: "code__x", Ref: "1/b", Content: text("second")})
			s.write(agent.EntryToolResult, agent.ToolResult{Name: "code__x", Ref: "1/a", IsError: true, Code: "unknown_tool", Message: "There is none."})
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Text: "Done.", Stop: "end", Usage: &agent.Usage{Input: 10, Output: 2, Cost: "0.25"}})
		}, []string{"said go", "answer Two.; code__x failed There is none.; code__x done second", "answer Done. m · 10 tokens in, 2 out · cost 0.2500 · 5 s"}},
		"a question and its answer": {func(s *scribe) {
			s.say("write")
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Calls: []agent.Requested{{Ref: "1", Name: "code__w"}}})
			s.write(agent.EntryApprovalAsked, agent.ApprovalAsked{Ref: "1", Tool: "code__w"})
			s.write(agent.EntryApprovalAnswered, agent.ApprovalAnswered{Ref: "1", Tool: "code__w", Answer: "deny", Reason: "Not now."})
			s.write(agent.EntryToolResult, agent.ToolResult{Ref: "1", Name: "code__w", IsError: true, Code: "denied_by_member", Message: "You said no."})
		}, []string{"said write", "code__w failed You denied it. Not now. You refused this call."}},
		"what a stop leaves": {func(s *scribe) {
			s.say("long")
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Calls: []agent.Requested{{Ref: "1", Name: "code__a"}, {Ref: "2", Name: "code__b"}}})
			s.write(agent.EntryToolResult, agent.ToolResult{Ref: "1", Name: "code__a", Content: text("ok")})
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Text: "Half", Stop: "stopped"})
			s.write(agent.EntryStop, agent.Failure{Code: "stopped", Message: "You stopped this."})
		}, []string{"said long", "code__a done ok; code__b not_run", "answer Half Stopped here.", "trouble You stopped this."}},
		"hooks": {func(s *scribe) {
			s.say("hooked")
			s.write(agent.EntryHookOutcome, agent.HookOutcome{Hook: "quiet", Decision: agent.HookAllow})
			s.write(agent.EntryHookOutcome, agent.HookOutcome{Hook: "teller", Decision: agent.HookAllow, Context: "It is Monday."})
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Calls: []agent.Requested{{Ref: "1", Name: "code__a"}}})
			s.write(agent.EntryHookOutcome, agent.HookOutcome{Hook: "guard", Ref: "1", Tool: "code__a", Decision: agent.HookDeny, Reason: "No mail."})
		}, []string{"said hooked", "The hook teller told the model something.", "code__a asked The hook guard refused this. No mail."}},
		"a hook that failed": {func(s *scribe) {
			s.say("hooked")
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Calls: []agent.Requested{{Ref: "1", Name: "code__a"}}})
			s.write(agent.EntryHookOutcome, agent.HookOutcome{
				Hook: "guard", Ref: "1", Tool: "code__a", Decision: agent.HookDeny, Reason: "Too slow.", Failure: &agent.Failure{Code: "timeout", Message: "Too slow."},
			})
		}, []string{"said hooked", "code__a asked The hook guard failed. Too slow."}},
		"a withheld result": {func(s *scribe) {
			s.say("hooked")
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Calls: []agent.Requested{{Ref: "1", Name: "code__a"}}})
			s.write(agent.EntryToolResult, agent.ToolResult{Ref: "1", Name: "code__a", Content: text("4711"), Withheld: "The hook dlp refused this."})
		}, []string{"said hooked", "code__a done 4711 The model was not given this result."}},
		"what nobody announced": {func(s *scribe) {
			s.say("/tool code__a")
			s.write(agent.EntryToolCall, agent.ToolCall{Name: "code__a"})
			s.write(agent.EntryBrief, struct{}{})
			s.write("unheard_of", struct{}{})
		}, []string{"said /tool code__a", "code__a running"}},
		"another epoch": {func(s *scribe) {
			s.say("now")
			s.write(agent.EntryEpochChanged, registry.Delta{From: 1, To: 2, Mode: "plan", Added: []registry.Change{{Name: "code__new", Version: "1.0.0"}}, Removed: []registry.Change{{Name: "a"}, {Name: "b"}}})
		}, []string{"said now", "What your agent carries changed (epoch 2). 1 added, 2 gone, Permission: Plan, write nothing"}},
		"direct mode": {func(s *scribe) {
			s.say("hello")
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "direct"})
		}, []string{"said hello", "answer Nothing that your agent carries fits these words. Pick a tool, or look in the store."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s scribe
			tc.write(&s)
			if diff := cmp.Diff(tc.want, folded(s.entries)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// anyLedger writes turns of calls that are asked for, refused, started, waited
// for and ended in every order that a turn allows.
func anyLedger(t *rapid.T) []agent.Entry {
	var s scribe
	for turn := range rapid.IntRange(1, 3).Draw(t, "turns") {
		s.say(fmt.Sprint("turn ", turn))
		for step := range rapid.IntRange(0, 2).Draw(t, "steps") {
			var calls []agent.Requested
			for c := range rapid.IntRange(0, 3).Draw(t, "calls") {
				calls = append(calls, agent.Requested{Ref: fmt.Sprintf("%d/%d", step, c), Name: "code__x"})
			}
			s.write(agent.EntryModelOutput, agent.ModelOutput{Model: "m", Text: "step", Calls: calls})
			for _, c := range rapid.Permutation(calls).Draw(t, "order") {
				if rapid.Bool().Draw(t, "asks") {
					s.write(agent.EntryApprovalAsked, agent.ApprovalAsked{Ref: c.Ref, Tool: c.Name, Approval: uuid.New()})
				}
				if rapid.Bool().Draw(t, "starts") {
					s.write(agent.EntryToolCall, agent.ToolCall{Ref: c.Ref, Name: c.Name})
				}
				if rapid.Bool().Draw(t, "ends") {
					s.write(agent.EntryToolResult, agent.ToolResult{Ref: c.Ref, Name: c.Name, Content: text("r")})
				}
			}
		}
		if rapid.Bool().Draw(t, "stopped") {
			s.write(agent.EntryStop, agent.Failure{Code: "stopped", Message: "Stopped."})
		}
	}
	return s.entries
}

// A page that was drawn at any entry and told of the rest shows what one shows
// that is drawn at the end: nothing is lost, nothing doubled.
func TestAPageThatFollowsIsThePage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := anyLedger(t)
		cut := rapid.IntRange(0, len(entries)).Draw(t, "cut")
		page := folded(entries[:cut])
		calls := map[string]*int{} // the item that a call stands in
		f := foldCtx().newFold("1")
		for _, e := range entries[:cut] {
			f.add(e)
		}
		place := func() {
			for i, item := range f.items {
				for _, call := range item.Calls {
					calls[call.ID] = &i
				}
			}
		}
		place()
		for _, e := range entries[cut:] {
			for _, change := range f.add(e) {
				switch {
				case change.Item != nil:
					page = append(page, shownAs(*change.Item))
				case calls[change.Call.ID] == nil:
					t.Fatalf("entry %d changes a call that the page does not have", e.Seq)
				default:
					at := *calls[change.Call.ID]
					page[at] = shownAs(f.items[at])
				}
			}
			place()
		}
		if diff := cmp.Diff(folded(entries), page); diff != "" {
			t.Fatalf("cut at %d (-drawn +followed):\n%s", cut, diff)
		}
	})
}

// Sent as they differ, the blocks of a text that grows are the blocks of it.
func TestLiveTextIsSentOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"word ", "\n\n", "- item\n", "```\n", "more"}), 0, 30).Draw(t, "parts"), "")
		st := &chatStream{}
		var page []string
		for end := 0; ; {
			if change := st.liveChange(whole[:end]); change != nil {
				switch {
				case change.Whole:
					page = change.Blocks
				case change.Sent != len(page) || change.From > len(page):
					t.Fatalf("%+v for a page of %d blocks", change, len(page))
				default:
					page = append(page[:change.From:change.From], change.Blocks...)
				}
			}
			if diff := cmp.Diff(strings.Join(page, ""), whole[:end]); diff != "" {
				t.Fatalf("(-page +text):\n%s", diff)
			}
			if end == len(whole) {
				break
			}
			end = rapid.IntRange(end+1, len(whole)).Draw(t, "end")
		}
		if change := st.liveChange(""); len(page) > 0 && (change == nil || !change.Whole || len(change.Blocks) > 0) {
			t.Fatalf("the end clears with %+v", change)
		}
	})
}

func TestReadValue(t *testing.T) {
	t.Parallel()
	scalar := func(kind, text string) views.ChatValue { return views.ChatValue{Type: kind, Text: text} }
	for raw, want := range map[string]views.ChatValue{
		`9007199254740993`: scalar("number", "9007199254740993"),
		`{"b":1e400,"a":null}`: {Type: "object", Parts: []views.ChatPart{
			{Name: "b", Value: scalar("number", "1e400")}, {Name: "a", Value: scalar("null", "null")}}},
		`[{"n":1},{"n":2,"m":true}]`: {Type: "array", Columns: []string{"n", "m"}, Rows: [][]views.ChatValue{
			{scalar("number", "1"), {Type: "null"}}, {scalar("number", "2"), scalar("true", "true")}}},
		`[{"n":[]},{"n":1}]`: {Type: "array", Parts: []views.ChatPart{
			{Name: "1", Value: views.ChatValue{Type: "object", Parts: []views.ChatPart{{Name: "n", Value: views.ChatValue{Type: "array"}}}}},
			{Name: "2", Value: views.ChatValue{Type: "object", Parts: []views.ChatPart{{Name: "n", Value: scalar("number", "1")}}}}}},
	} {
		if diff := cmp.Diff(&want, readValue(json.RawMessage(raw))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
	if got := readValue(json.RawMessage(`{"a":`)); got != nil {
		t.Errorf("half an object is %+v", got)
	}
	if got := readValue(json.RawMessage("[" + strings.Repeat("1,", 500) + "1]")); len(got.Parts)+got.More != 501 || len(got.Parts) > maxParts {
		t.Errorf("%d parts and %d more", len(got.Parts), got.More)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for name, tc := range map[string]struct {
		raw  string
		want func(b views.ChatBlock) bool
	}{
		"plain":           {`{"type":"text","text":"a - b * c"}`, func(b views.ChatBlock) bool { return b.Text == "a - b * c" }},
		"markdown":        {`{"type":"text","text":"# Title\n\nText"}`, func(b views.ChatBlock) bool { return b.Markdown != "" }},
		"json":            {`{"type":"text","text":" {\"a\": 1} "}`, func(b views.ChatBlock) bool { return b.Value != nil && b.JSON != "" }},
		"a picture":       {`{"type":"image","mimeType":"image/png","data":"` + png + `"}`, func(b views.ChatBlock) bool { return b.Image != "" }},
		"a page as one":   {`{"type":"image","mimeType":"text/html","data":"` + png + `"}`, func(b views.ChatBlock) bool { return b.Image == "" && b.Note != "" }},
		"a hologram":      {`{"type":"hologram","data":"?"}`, func(b views.ChatBlock) bool { return strings.Contains(b.Note, "hologram") }},
		"no block at all": {`7`, func(b views.ChatBlock) bool { return b.Note != "" }},
		"a resource":      {`{"type":"resource","resource":{"uri":"mem://1","text":"inside"}}`, func(b views.ChatBlock) bool { return b.Text == "inside" }},
		"a blob":          {`{"type":"resource","resource":{"uri":"mem://1","blob":"AAAA"}}`, func(b views.ChatBlock) bool { return strings.Contains(b.Note, "resource") }},
	} {
		if got := foldCtx().chatBlock("t", json.RawMessage(tc.raw)); !tc.want(got) {
			t.Errorf("%s is shown as %+v", name, got)
		}
	}
	if kind, _ := imageIn([]byte(`{"content":[{"type":"text"},{"type":"image","mimeType":"image/png","data":"`+png+`"}]}`), 1); kind != "image/png" {
		t.Errorf("the picture within is %q", kind)
	}
	for _, at := range []int{-1, 0, 2} {
		if kind, data := imageIn([]byte(`{"content":[{"type":"text"},{"type":"image","mimeType":"image/svg+xml","data":"`+png+`"}]}`), at); data != nil {
			t.Errorf("block %d is handed over as %s", at, kind)
		}
	}
}
