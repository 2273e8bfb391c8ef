package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// systemOf is the part of a request that is to stay byte for byte: the first
// text of the prompt, and the tools.
func systemOf(t *testing.T, r modeltest.Request) string {
	t.Helper()
	if len(r.System) == 0 {
		t.Fatalf("no prompt in %s", r.Raw)
	}
	raw, err := json.Marshal(r.Tools)
	if err != nil {
		t.Fatal(err)
	}
	return r.System[0].Text + "\n" + string(raw)
}

// A quiet world gives the same bytes from turn to turn and from server to
// server; one that moved is told of once.
func TestThePromptStaysWhileTheWorldDoes(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.code(t, w.member, "echo", echo, nil)
		w.skill(t, w.member, "plan", "# Plan")
		s := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Step { return modeltest.Say("Fine.") })
		w.think(t, p, s)
		other, conv := w.again(t), w.conversation(t)
		for _, server := range []*agent.Service{w.agent, other, w.agent} {
			_, done, err := server.Begin(t.Context(), w.member, conv, agent.Ask{Text: "hello"})
			if err != nil {
				t.Fatal(err)
			}
			<-done
		}
		asked := s.Requests()
		for i, r := range asked[1:] {
			if diff := cmp.Diff(systemOf(t, asked[0]), systemOf(t, r)); diff != "" {
				t.Errorf("request %d: %s", i+2, diff)
			}
		}
		if slices.Contains(kinds(w.ledger(t, w.member, conv)), agent.EntryEpochChanged) {
			t.Error("a quiet world is said to have changed")
		}

		w.code(t, w.member, "newcomer", echo, nil)
		<-w.begin(t, conv, "and now?")
		<-w.begin(t, conv, "and then?")
		entries, asked := w.ledger(t, w.member, conv), s.Requests()
		var told []registry.Delta
		for _, e := range entries {
			if e.Kind != agent.EntryEpochChanged {
				continue
			}
			var d registry.Delta
			if err := json.Unmarshal(e.Payload, &d); err != nil {
				t.Fatal(err)
			}
			told = append(told, d)
		}
		if len(told) != 1 || len(told[0].Added) != 1 || told[0].Added[0].Name != "newcomer" {
			t.Errorf("told %+v", told)
		}
		if is, was := strings.Contains(string(asked[3].Raw), "has changed since"), strings.Contains(string(asked[4].Raw), "has changed since"); !is || was {
			t.Errorf("the model is told in the next turn: %v, in the one after: %v", is, was)
		}
	})
}

// Of many tools only some are loaded. What a search finds is callable in the
// same turn, whatever the provider knows of deferral.
func TestADeferredToolIsFoundAndUsed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		var tools []string
		for i := range 200 {
			tools = append(tools, fmt.Sprintf(`{"name":"chore_%d","description":"Chore number %d. %s","inputSchema":{"type":"object"}}`, i, i, strings.Repeat("It takes words. ", 40)))
		}
		tools = append(tools, `{"name":"settle_up","description":"Settles a shared bill between friends.","inputSchema":{"type":"object","properties":{"group":{"type":"string"}}}}`)
		stub := mcptest.New(t, strings.Join(tools, ","))
		classes := map[string]any{"settle_up": "read"}
		for i := range 200 {
			classes[fmt.Sprintf("chore_%d", i)] = "read"
		}
		w.learnt(t, w.serve(t, stub, "splitpot", classes, false))
		s := modeltest.New(t,
			modeltest.Call("f", "find_tools", `{"query":"settle a shared bill"}`),
			modeltest.Call("s", "mcp__splitpot__settle_up", `{"group":"flat"}`),
			modeltest.Say("Settled."))
		w.think(t, p, s)
		entries := w.say(t, w.member, agent.Ask{Text: "the flat wants to be even"})
		if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "Settled." {
			t.Fatalf("%+v %v", got, results(t, entries))
		}
		if diff := cmp.Diff([]string{`settle_up {"group":"flat"}`}, stub.Called()); diff != "" {
			t.Error(diff)
		}
		asked := s.Requests()
		if !strings.Contains(asked[0].System[0].Text, "settle_up: Settles a shared bill") {
			t.Error("the catalogue does not name it")
		}
		offered := func(r modeltest.Request) (loaded, deferred bool) {
			for _, tool := range r.Tools {
				if tool.Name == "mcp__splitpot__settle_up" {
					return !tool.Deferred, tool.Deferred
				}
			}
			return false, false
		}
		before, deferred := offered(asked[0])
		after, _ := offered(asked[1])
		if native := p == workspace.ProviderAnthropic; before || deferred != native || after == native {
			t.Errorf("before the search: loaded %v, deferred %v; after it: loaded %v", before, deferred, after)
		}
		if p == workspace.ProviderAnthropic && systemOf(t, asked[0]) != systemOf(t, asked[2]) {
			t.Error("the search changed the prefix")
		}
	})
}

// A server that nobody has asked yet is reached by the broker, and its tool is
// run under its own name and rights.
func TestTheBroker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stub := mcptest.New(t, `{"name":"look","description":"Looks.","inputSchema":{"type":"object"}},{"name":"wipe","inputSchema":{"type":"object"}}`)
	w.serve(t, stub, "fresh", map[string]any{"look": "read", "wipe": "write"}, false)
	w.think(t, workspace.ProviderOpenAI, modeltest.New(t,
		modeltest.Call("1", "mcp", `{"server":"fresh"}`),
		modeltest.Call("2", "mcp", `{"server":"fresh","tool":"look","arguments":{"n":9007199254740993}}`).
			Call("3", "mcp", `{"server":"fresh","tool":"wipe"}`).Call("4", "mcp", `{"server":"stale"}`),
		modeltest.Say("Seen.")))
	entries := w.say(t, w.member, agent.Ask{Text: "look"})
	got := map[string]agent.ToolResult{}
	for _, r := range results(t, entries) {
		got[r.Ref] = r
	}
	if listed := got["1/1"]; listed.IsError || !strings.Contains(string(listed.Structured), `"look"`) {
		t.Errorf("listed: %+v", listed)
	}
	if ran := got["2/2"]; ran.IsError {
		t.Errorf("ran: %+v", ran)
	}
	if refused := got["2/3"]; refused.Code != "write_not_enabled" {
		t.Errorf("a write: %+v", refused)
	}
	if unknown := got["2/4"]; unknown.Code != "invalid" {
		t.Errorf("another server: %+v", unknown)
	}
	if diff := cmp.Diff([]string{`look {"n":9007199254740993}`}, stub.Called()); diff != "" {
		t.Error(diff)
	}
	if call := last[agent.ToolCall](t, entries, agent.EntryToolCall); call.Name != "mcp__fresh__look" || call.Raw != "look" {
		t.Errorf("recorded: %+v", call)
	}
}

// A result that is too long is cut, and the model reads on by its handle.
func TestAModelReadsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "long", "import json\nprint(json.dumps({'content': [{'type': 'text', 'text': 'a' * 65536 + 'needle' + 'b' * 100000}]}))\n", nil)
	handle := regexp.MustCompile(`read_result: (\{[^}]*\})`)
	s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
		results := r.Last().Results
		if len(results) == 0 {
			return modeltest.Call("1", "code__long", `{}`)
		}
		if m := handle.FindStringSubmatch(results[0].Text()); m != nil {
			return modeltest.Call("2", "read_result", m[1])
		}
		if strings.HasPrefix(results[0].Text(), "needle") {
			return modeltest.Say("Found.")
		}
		return modeltest.Say("Lost: " + results[0].Text()[:min(200, len(results[0].Text()))])
	})
	w.think(t, workspace.ProviderOpenAI, s)
	entries := w.say(t, w.member, agent.Ask{Text: "go"})
	if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "Found." {
		t.Errorf("%.300s", got.Text)
	}
}

// A write waits, nothing waits in memory, and whichever server is there when
// the member answers goes on, with the world that the turn began with.
func TestAModelsWriteOutlivesItsServer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		for name, tc := range map[string]struct {
			word agent.Word
			ran  bool
		}{
			"allowed": {agent.Word{Answer: capability.AnswerOnce}, true},
			"denied":  {agent.Word{Answer: capability.AnswerDeny, Reason: "not today"}, false},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				stub := mcptest.New(t, `{"name":"read","inputSchema":{"type":"object"}},{"name":"wipe","inputSchema":{"type":"object"}}`)
				w.learnt(t, w.serve(t, stub, "disk", map[string]any{"read": "read", "wipe": "write"}, true))
				s := modeltest.New(t,
					modeltest.Say("First I look.").Call("r", "mcp__disk__read", `{}`).Call("w", "mcp__disk__wipe", `{"n":18446744073709551617}`),
					modeltest.Say("That is that."))
				w.think(t, p, s)
				first, conv := w.again(t), w.conversation(t)
				_, done, err := first.Begin(t.Context(), w.member, conv, agent.Ask{Text: "wipe it"})
				if err != nil {
					t.Fatal(err)
				}
				<-done
				if got := w.state(t, conv); got != agent.TurnWaiting {
					t.Fatalf("%s: %v", got, results(t, w.ledger(t, w.member, conv)))
				}
				first.Stop()
				w.code(t, w.member, "newcomer", echo, nil)
				tab := make(chan struct{})
				go func() {
					defer close(tab)
					watch(t, w.agent, w.member, conv, 0, is(agent.TurnDone))
				}()
				asked := last[agent.ApprovalAsked](t, w.ledger(t, w.member, conv), agent.EntryApprovalAsked)
				entries := w.answer(t, w.agent, w.approval(t, asked.Approval), tc.word)
				<-tab
				want := []string{"read {}"}
				if tc.ran {
					want = append(want, `wipe {"n":18446744073709551617}`)
				}
				if diff := cmp.Diff(want, stub.Called()); diff != "" {
					t.Error(diff)
				}
				if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "That is that." {
					t.Errorf("ended with %+v", got)
				}
				second := s.Requests()[1]
				if slices.Contains(second.ToolNames(), "code__newcomer") {
					t.Error("the world grew in the middle of a turn")
				}
				if !tc.ran && !strings.Contains(string(second.Raw), "not today") {
					t.Errorf("the model is not told why: %s", second.Raw)
				}
			})
		}
	})
}

func TestStopOfAWaitingTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "writer", echo, func(spec map[string]any) { spec["isReadOnly"] = false })
	w.exec(t, `UPDATE adoptions SET adoption = (adoption::jsonb || '{"enableWrite": true}')::json`)
	w.think(t, workspace.ProviderAnthropic, modeltest.New(t, modeltest.Call("w", "code__writer", `{}`)))
	conv := w.conversation(t)
	<-w.begin(t, conv, "write")
	if got := w.state(t, conv); got != agent.TurnWaiting {
		t.Fatalf("%s: %v", got, results(t, w.ledger(t, w.member, conv)))
	}
	if _, _, err := w.agent.Begin(t.Context(), w.member, conv, agent.Ask{Text: "more"}); err == nil || !strings.Contains(err.Error(), "turn_waiting") {
		t.Errorf("a message while it waits: %v", err)
	}
	if err := w.again(t).StopTurn(t.Context(), w.member, conv); err != nil {
		t.Fatal(err)
	}
	entries := w.ledger(t, w.member, conv)
	if got := last[agent.ApprovalAnswered](t, entries, agent.EntryApprovalAnswered); got.Answer != "withdrawn" || entries[len(entries)-1].Kind != agent.EntryStop {
		t.Errorf("%+v, %v", got, kinds(entries))
	}
	if err := w.agent.Resume(context.WithoutCancel(t.Context()), w.member, entries[0].Turn); err != nil {
		t.Errorf("taken up after all: %v", err)
	}
	if got := w.state(t, conv); got != agent.TurnStopped {
		t.Errorf("state %s", got)
	}
}

// What a message is about is told to the model with the means to work on it.
func TestWhatAMessageIsAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := modeltest.New(t, modeltest.Say("I see."))
	w.think(t, workspace.ProviderAnthropic, s)
	conv := w.conversation(t)
	for name, refs := range map[string][]string{
		"another kind": {"file:/etc/passwd"}, "no id": {"skill:"}, "a line break": {"skill:x\ny"}, "too many": slices.Repeat([]string{"skill:x"}, 9),
	} {
		if _, _, err := w.agent.Begin(t.Context(), w.member, conv, agent.Ask{Text: "edit", Refs: refs}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, done, err := w.agent.Begin(t.Context(), w.member, conv, agent.Ask{Text: "Make it shorter.", Refs: []string{"capability:acme/echo", "skill:plan"}})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	text := s.Requests()[0].Last().Text()
	for _, want := range []string{"capability acme/echo", "capstore__create_capability", "skill plan", "capstore__update_skill", "Make it shorter."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}

// What the workspace does not let in by a door is neither offered nor run there.
func TestAdmissionByTheTurnsDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "inner", echo, nil)
	w.code(t, w.member, "outer", echo, nil)
	w.config(t, func(c *capability.AgentConfig) {
		c.Channels = map[capability.Surface]capability.ChannelRule{capability.SurfaceAPI: {Deny: []string{"code__inner"}}}
	})
	s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
		if len(r.Last().Results) == 0 {
			return modeltest.Call("1", "code__inner", `{}`).Call("2", "code__outer", `{}`)
		}
		return modeltest.Say("Done.")
	})
	w.think(t, workspace.ProviderOpenAI, s)
	for on, want := range map[capability.Surface]string{capability.SurfaceWeb: "", capability.SurfaceAPI: "not_admitted"} {
		got := map[string]string{}
		for _, r := range results(t, w.say(t, w.member, agent.Ask{Text: "go", Surface: on})) {
			got[r.Name] = r.Code
		}
		if diff := cmp.Diff(map[string]string{"code__inner": want, "code__outer": ""}, got); diff != "" {
			t.Errorf("%s: %s", on, diff)
		}
		asked := s.Requests()
		if offered := slices.Contains(asked[len(asked)-1].ToolNames(), "code__inner"); offered != (want == "") {
			t.Errorf("%s: offered %v", on, offered)
		}
	}
}

// A picture that is too long for the ledger is shown to the model all the same,
// in the turn that made it.
func TestAModelSeesAPicture(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.code(t, w.member, "draw", "import json\nprint(json.dumps({'content': [{'type': 'text', 'text': 'Drawn.'}, {'type': 'image', 'mimeType': 'image/png', 'data': 'iVBORw0KGgoA' + 'AAAA' * 30000}]}))\n", nil)
		s := modeltest.New(t, modeltest.Call("1", "code__draw", `{}`), modeltest.Say("A fine one."), modeltest.Say("What picture?"))
		w.think(t, p, s)
		conv := w.conversation(t)
		<-w.begin(t, conv, "draw")
		<-w.begin(t, conv, "and again?")
		asked := s.Requests()
		if len(asked) != 3 {
			t.Fatalf("%v", results(t, w.ledger(t, w.member, conv)))
		}
		if now, later := strings.Count(string(asked[1].Raw), "iVBORw0KGgoA"), strings.Count(string(asked[2].Raw), "iVBORw0KGgoA"); later != 0 ||
			now != 1 && p == workspace.ProviderAnthropic {
			t.Errorf("shown %d times in its turn and %d later", now, later)
		}
		if !strings.Contains(string(asked[2].Raw), "Drawn.") {
			t.Error("what stands beside it is lost")
		}
	})
}

// A conversation that the model finds too long loses its beginning, and the
// member notices nothing.
func TestAConversationThatIsTooLong(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
			if len(r.Raw) > 60_000 {
				return modeltest.Refuse(http.StatusBadRequest, "prompt is too long: 300000 tokens > 200000 maximum")
			}
			return modeltest.Say("Yes.")
		})
		w.think(t, p, s)
		conv := w.conversation(t)
		for i := range 6 {
			<-w.begin(t, conv, fmt.Sprintf("Part %d. %s", i, strings.Repeat("word ", 3_000)))
			if got := w.state(t, conv); got != agent.TurnDone {
				t.Fatalf("message %d: %s, %+v", i, got, last[agent.Failure](t, w.ledger(t, w.member, conv), agent.EntryError))
			}
		}
		if text := s.Requests()[s.Asked()-1].Last().Text(); !strings.Contains(text, "Part 5.") {
			t.Errorf("the newest message is lost: %.80s", text)
		}
	})
}
