package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// What hooks add, change and withhold is what a model reads, in the turn and in
// the next one.
func TestAModelReadsWhatHooksLeave(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.echo(t)
		w.hook(t, w.admin, "day", capability.EventSessionStart, `echo It is Monday.`, nil)
		w.hook(t, w.admin, "tone", capability.EventUserPromptSubmit, `echo Be brief.`, nil)
		w.hook(t, w.admin, "raise", capability.EventBeforeTool, `grep -q '"n":1}' && echo '{"updatedInput":{"n":9007199254740993}}'; exit 0`, nil)
		w.hook(t, w.admin, "shut", capability.EventAfterTool, `grep -q '"n":2}' && { echo too much >&2; exit 2; }; exit 0`, nil)
		w.hook(t, w.admin, "end", capability.EventTurnEnd, `exit 2`, nil)
		s := modeltest.New(t,
			modeltest.Call("a", "code__echo", `{"n":1}`).Call("b", "code__echo", `{"n":2}`), modeltest.Say("Done."), modeltest.Say("Still here."))
		w.think(t, p, s)
		conv := w.conversation(t)
		<-w.begin(t, conv, "go")
		<-w.begin(t, conv, "and now?")

		asked := s.Requests()
		if len(asked) != 3 {
			t.Fatalf("the model was asked %d times", len(asked))
		}
		want := "<hook name=\"day\">\nIt is Monday.\n</hook>\n\ngo\n\n<hook name=\"tone\">\nBe brief.\n</hook>"
		for i, r := range asked {
			if got := r.Messages[0].Text(); got != want {
				t.Errorf("request %d begins with %q", i+1, got)
			}
		}
		var seen []string
		for _, m := range asked[2].Messages {
			for _, r := range m.Results {
				seen = append(seen, r.Text())
			}
		}
		if len(seen) != 2 || !strings.Contains(seen[0], "9007199254740993") || !strings.Contains(seen[1], "The hook shut refused this: too much") || strings.Contains(seen[1], "got") {
			t.Errorf("the model sees %q", seen)
		}
		said := outcomes(t, w.ledger(t, w.member, conv))
		slices.Sort(said)
		want2 := []string{"day allow", "end deny", "end deny", "raise allow", "raise rewrite", "shut allow", "shut deny", "tone allow", "tone allow"}
		if diff := cmp.Diff(want2, said); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A message that a hook refuses reaches no model, then or later, and the
// conversation goes on.
func TestARefusedMessageReachesNoModel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.hook(t, w.admin, "no-keys", capability.EventUserPromptSubmit, `grep -q sk-canary && { echo That is a key. >&2; exit 2; }; exit 0`, nil)
		s := modeltest.New(t, modeltest.Say("Hello."))
		w.think(t, p, s)
		conv := w.conversation(t)
		<-w.begin(t, conv, "use sk-canary")
		if got := last[agent.Failure](t, w.ledger(t, w.member, conv), agent.EntryError); got.Code != "hook_denied" || got.Message != "The hook no-keys refused this: That is a key." {
			t.Errorf("the turn ended with %+v", got)
		}
		if w.state(t, conv) != agent.TurnFailed || s.Asked() != 0 {
			t.Errorf("%s, and the model was asked %d times", w.state(t, conv), s.Asked())
		}
		<-w.begin(t, conv, "hello")
		if asked := s.Requests(); len(asked) != 1 || strings.Contains(string(asked[0].Raw), "canary") {
			t.Error("the model reads what was refused")
		}
	})
}

// A hook that crashes and fails closed denies the call; the model is told, and
// the turn goes on.
func TestACrashOfAHookDeniesAModelsCall(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.echo(t)
		w.hook(t, w.admin, "guard", capability.EventBeforeTool, `kill -9 $$`, nil)
		s := modeltest.New(t, modeltest.Call("a", "code__echo", `{"n":1}`), modeltest.Say("Then not."))
		w.think(t, p, s)
		entries := w.say(t, w.member, agent.Ask{Text: "go"})
		if ran(entries) || last[agent.ModelOutput](t, entries, agent.EntryModelOutput).Text != "Then not." {
			t.Errorf("%v", kinds(entries))
		}
		if got := s.Requests()[1].Last().Results; len(got) != 1 || !got[0].IsError && p == workspace.ProviderAnthropic || !strings.Contains(got[0].Text(), "The hook guard refused this: The program ended with signal 9.") {
			t.Errorf("the model is told %+v", got)
		}
	})
}

// A call that a hook rewrote and wants asked waits with the arguments as they
// are now. After the word, on another server, it runs with these, and no hook
// is asked again.
func TestHooksOfAWaitingCallAreAskedOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.echo(t)
		w.hook(t, w.admin, "a", capability.EventBeforeTool, `echo '{"updatedInput":{"n":9007199254740993}}'`, nil)
		w.hook(t, w.admin, "b", capability.EventBeforeTool, `echo '{"decision":"ask","reason":"That is a lot."}'`, nil)
		s := modeltest.New(t, modeltest.Call("a", "code__echo", `{"n":1}`), modeltest.Say("Done."))
		w.think(t, p, s)
		conv := w.conversation(t)
		<-w.begin(t, conv, "go")
		a := w.approval(t, last[agent.ApprovalAsked](t, w.ledger(t, w.member, conv), agent.EntryApprovalAsked).Approval)
		if string(a.Arguments) != `{"n":9007199254740993}` || a.Why != capability.WhyHook || a.Detail != "b: That is a lot." {
			t.Errorf("the member is asked about %s for %s: %s", a.Arguments, a.Why, a.Detail)
		}
		other := w.again(t)
		w.agent.Stop()
		w.agent = other
		entries := w.answer(t, other, a, agent.Word{Answer: capability.AnswerOnce})
		if diff := cmp.Diff([]string{"a rewrite", "b ask"}, outcomes(t, entries)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got := last[agent.ToolCall](t, entries, agent.EntryToolCall); string(got.Arguments) != `{"n":9007199254740993}` {
			t.Errorf("it ran with %s", got.Arguments)
		}
		if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "Done." {
			t.Errorf("the turn ended with %+v", got)
		}
	})
}
