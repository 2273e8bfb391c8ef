package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"capstore/internal/agent/model"
)

// played is a turn played at random as the engine would: each step is decided
// by the replay of what stands before it.
type played struct {
	t       *rapid.T
	turn    uuid.UUID
	entries []Entry
	started map[string]int
	ended   map[string]int
}

func (p *played) write(kind EntryKind, payload any) {
	raw, err := json.Marshal(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	p.entries = append(p.entries, Entry{Seq: int64(len(p.entries) + 1), Turn: p.turn, Kind: kind, Payload: raw})
}

func (p *played) progress() progress { return progressOf(p.turn, readAll(p.t, p.entries)) }

func readAll(t interface{ Fatal(...any) }, entries []Entry) []line {
	lines := make([]line, 0, len(entries))
	for _, e := range entries {
		l, err := readLine(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func (p *played) answer(step int) {
	out := ModelOutput{Model: "m", Text: rapid.SampledFrom([]string{"", "Some text."}).Draw(p.t, "text"), Stop: "end"}
	for i := range rapid.IntRange(0, 3).Draw(p.t, "calls") {
		out.Calls = append(out.Calls, Requested{Ref: refOf(step, fmt.Sprintf("c%d", i)), Name: "x", Arguments: json.RawMessage(`{"n":12345678901234567890}`)})
	}
	p.write(EntryModelOutput, out)
}

// some takes a part of the pending calls one step further, in any order.
func (p *played) some(pending []Requested) {
	for _, w := range rapid.Permutation(pending).Draw(p.t, "order") {
		switch rapid.IntRange(0, 3).Draw(p.t, "what") {
		case 0: // waits for the member
		case 1:
			p.ended[w.Ref]++
			p.write(EntryToolResult, ToolResult{Name: w.Name, Ref: w.Ref, IsError: true, Code: "denied"})
		default:
			p.started[w.Ref]++
			p.write(EntryToolCall, ToolCall{Name: w.Name, Ref: w.Ref})
			p.ended[w.Ref]++
			p.write(EntryToolResult, ToolResult{Name: w.Name, Ref: w.Ref})
		}
	}
}

// However a turn goes, and wherever it is cut off: no call is made twice, what
// is pending was never begun, and the model's conversation is well formed.
func TestReplayOfAnyPrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := &played{t: t, turn: uuid.New(), started: map[string]int{}, ended: map[string]int{}}
		message := Message{Text: "Do it."}
		if rapid.Bool().Draw(t, "by hand") {
			message.Calls, message.Prompt = byHand("x", nil), "and more"
		}
		p.write(EntryMessage, message)
		for range rapid.IntRange(0, 8).Draw(t, "moves") {
			state := p.progress()
			switch state.next(true) {
			case nextCalls:
				p.some(state.pending)
			case nextThink:
				p.answer(state.steps + 1)
			}
		}
		for ref, n := range p.ended {
			if n != 1 || p.started[ref] > 1 {
				t.Fatalf("%s started %d times and ended %d times", ref, p.started[ref], n)
			}
		}
		for cut := 1; cut <= len(p.entries); cut++ {
			checkPrefix(t, p.turn, readAll(t, p.entries[:cut]))
		}
	})
}

func checkPrefix(t *rapid.T, turn uuid.UUID, lines []line) {
	state := progressOf(turn, lines)
	begun := map[string]bool{}
	for _, l := range lines {
		if l.called != nil {
			begun[l.called.Ref] = true
		}
		if l.result != nil {
			begun[l.result.Ref] = true
		}
	}
	for _, w := range state.pending {
		if begun[w.Ref] {
			t.Fatalf("%s is pending although it had begun", w.Ref)
		}
	}
	if err := wellFormed(messagesOf(storiesOf(lines), nil)); err != nil {
		t.Fatal(err)
	}
}

// wellFormed returns what a provider would refuse about the messages.
func wellFormed(messages []model.Message) error {
	for i, m := range messages {
		switch {
		case i%2 == 0 && m.Role != model.User, i%2 == 1 && m.Role != model.Assistant:
			return fmt.Errorf("message %d is the %s's", i, m.Role)
		case m.Text == "" && len(m.Calls) == 0 && len(m.Results) == 0:
			return fmt.Errorf("message %d is empty", i)
		case len(m.Calls) == 0:
			continue
		case i+1 == len(messages):
			return fmt.Errorf("the calls of message %d have no results", i)
		}
		var wanted, had []string
		for _, c := range m.Calls {
			wanted = append(wanted, c.ID)
		}
		for _, r := range messages[i+1].Results {
			had = append(had, r.Call)
		}
		if !slices.Equal(wanted, had) {
			return fmt.Errorf("message %d calls %v and is answered %v", i, wanted, had)
		}
	}
	return nil
}

func TestWhatAModelReadsOfEarlierTurns(t *testing.T) {
	t.Parallel()
	one, two, three, four := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	entry := func(turn uuid.UUID, kind EntryKind, payload string) Entry {
		return Entry{Turn: turn, Kind: kind, Payload: json.RawMessage(payload)}
	}
	messages := messagesOf(storiesOf(readAll(t, []Entry{
		entry(one, EntryMessage, `{"text":"/tool code__sum {\"a\":1}","calls":[{"ref":"hand/1","name":"code__sum","arguments":{"a":1}}]}`),
		entry(one, EntryToolResult, `{"name":"code__sum","ref":"hand/1","content":[{"type":"text","text":"3"}]}`),
		entry(two, EntryMessage, `{"text":"/weekly now","prompt":"Write the weekly report."}`),
		entry(two, EntryHookOutcome, `{"hook":"house-rules","event":"user_prompt","decision":"allow","context":"Be brief."}`),
		entry(two, EntryModelOutput, `{"model":"m","text":"I look.","calls":[{"ref":"1/a","name":"x","arguments":{}},{"ref":"1/b","name":"y","arguments":{}}]}`),
		entry(two, EntryToolResult, `{"name":"y","ref":"1/b","isError":true,"code":"server_error","message":"It is down.","errors":[{"path":"/q","message":"Too long."}],"stderr":"Trace"}`),
		entry(two, EntryStop, `{"code":"stopped","message":"You stopped this."}`),
		entry(three, EntryMessage, `{"text":"a secret word"}`),
		entry(three, EntryError, `{"code":"hook_denied","message":"No secrets."}`),
		entry(four, EntryMessage, `{"text":"Go on."}`),
	})), nil)
	if err := wellFormed(messages); err != nil {
		t.Fatal(err)
	}
	if len(messages) != 3 {
		t.Fatalf("%d messages: %+v", len(messages), messages)
	}
	first, last := messages[0].Text, messages[2]
	for _, want := range []string{"code__sum", `{"a":1}`, "3", "Write the weekly report.", "Be brief."} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in %q", want, first)
		}
	}
	if strings.Contains(first, "/weekly") || !strings.Contains(last.Text, "You stopped this.") || !strings.HasSuffix(last.Text, "Go on.") {
		t.Errorf("first %q, last %q", first, last.Text)
	}
	for i, want := range []string{"not made", "server_error: It is down.\n- /q: Too long.\nStandard error ends with:\nTrace"} {
		if got := string(last.Results[i].Content[0]); !last.Results[i].IsError || !strings.Contains(got, strings.ReplaceAll(want, "\n", `\n`)) {
			t.Errorf("result %d: %s", i, got)
		}
	}
	for _, m := range messages {
		if strings.Contains(m.Text, "secret word") {
			t.Error("a refused message reached the model")
		}
	}
}

// A conversation that is too long loses its beginning, more of it than it must,
// and then stays as it is for a while.
func TestALongConversationIsCutRarely(t *testing.T) {
	t.Parallel()
	var stories []*story
	starts := map[int]bool{}
	for i := range 100 {
		stories = append(stories, &story{message: &Message{Text: strings.Repeat("x", 100)}})
		kept := within(stories, 1000)
		if n := len(kept); n > 10 || n < min(i+1, 4) {
			t.Fatalf("after %d turns %d are kept", i+1, n)
		}
		starts[len(stories)-len(kept)] = true
	}
	if len(starts) > 20 {
		t.Errorf("the beginning moved %d times in 100 turns", len(starts))
	}
}

func TestALongResultIsReadOn(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"plain": strings.Repeat("0123456789", 20_000), "wide": strings.Repeat("가나다", 30_000)} {
		block := textBlock(text)
		stored, artifacts := fitLedger(ToolResult{Content: []json.RawMessage{block}})
		if len(artifacts) != 1 {
			t.Fatalf("%s: %d artifacts", name, len(artifacts))
		}
		stored.Artifacts = []Artifact{{ID: uuid.New(), MediaType: "application/json"}}
		_, offset, ok := rest(stored)
		if !ok || offset > maxInline || offset < maxInline-4 {
			t.Fatalf("%s: read on at %d, %v", name, offset, ok)
		}
		whole := wholeText([]json.RawMessage{block}, nil)
		read := cutText(whole, offset)
		for len(read) < len(whole) {
			var got struct{ Text string }
			if err := json.Unmarshal(page(whole, len(read)).Content[0], &got); err != nil {
				t.Fatal(err)
			}
			text, note, _ := strings.Cut(got.Text, "\n[")
			if text == "" || note == "" {
				t.Fatalf("%s: nothing at %d: %q", name, len(read), got.Text)
			}
			read += text
		}
		if strings.TrimSpace(read) != text {
			t.Errorf("%s: the pieces are not the whole", name)
		}
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add("message", []byte(`{"text":"x","calls":[{"ref":"hand/1"}]}`))
	f.Add("model_output", []byte(`{"calls":[{"ref":"","name":""}],"usage":{}}`))
	f.Add("tool_result", []byte(`{"ref":"1/a","loads":["x"]}`))
	f.Add("capability_epoch_changed", []byte(`{}`))
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		l, err := readLine(Entry{Kind: EntryKind(kind), Payload: payload})
		if err != nil {
			return
		}
		lines := []line{{Entry: Entry{}, message: &Message{}}, l}
		progressOf(uuid.Nil, lines).next(true)
		_ = wellFormed(messagesOf(storiesOf(lines), nil))
	})
}
