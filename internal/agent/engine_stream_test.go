package agent_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

// watch follows the conversation on a server until enough says so, and returns
// what it was told. It is given up when the test ends.
func watch(t *testing.T, s *agent.Service, actor capability.Actor, conversation uuid.UUID, after int64, enough func(agent.Event) bool) []agent.Event {
	t.Helper()
	var told []agent.Event
	for e, err := range s.Follow(t.Context(), actor, conversation, after) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, e)
		if enough(e) {
			return told
		}
	}
	t.Fatal("the following ended before there was enough")
	return nil
}

func says(text string) func(agent.Event) bool {
	return func(e agent.Event) bool { return e.Partial != nil && strings.Contains(e.Partial.Text, text) }
}

func is(state agent.TurnState) func(agent.Event) bool {
	return func(e agent.Event) bool { return e.Turn != nil && e.Turn.State == state }
}

// entriesOf lists what a follower was told, as numbers.
func entriesOf(told []agent.Event) (seqs []int64) {
	for _, e := range told {
		if e.Entry != nil {
			seqs = append(seqs, e.Entry.Seq)
		}
	}
	return seqs
}

// A tab on the server that works and one on another see the text grow, and
// then the answer, once and in order.
func TestTwoTabsOnTwoServers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		first, second := modeltest.NewGate(), modeltest.NewGate()
		w.think(t, p, modeltest.New(t, modeltest.Say("Once ").Wait(first).Say("upon a time").Wait(second).Say(".")))
		other, conv := w.again(t), w.conversation(t)
		done := w.begin(t, conv, "tell me")
		watch(t, w.agent, w.member, conv, 0, says("Once "))
		watch(t, other, w.member, conv, 0, says("Once "))
		first.Open()
		watch(t, other, w.member, conv, 0, says("upon a time"))
		tab := make(chan []agent.Event, 1)
		go func() { tab <- watch(t, other, w.member, conv, 0, is(agent.TurnDone)) }()
		second.Open()
		<-done
		for name, told := range map[string][]agent.Event{
			"the tab that was there": <-tab,
			"one that comes later":   watch(t, w.agent, w.member, conv, 0, is(agent.TurnDone)),
		} {
			if diff := cmp.Diff([]int64{1, 2}, entriesOf(told)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if told := watch(t, other, w.member, conv, 1, is(agent.TurnDone)); len(entriesOf(told)) != 1 {
			t.Errorf("taken up after the message: %v", entriesOf(told))
		}
	})
}

// What was said before the answer's entry is not told after it, and a call is
// known before its arguments are.
func TestNoPartialAfterItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	gate := modeltest.NewGate()
	w.think(t, workspace.ProviderAnthropic, modeltest.New(t,
		modeltest.Say("Let ", "me ", "look.").Call("a", "code__echo", `{}`).Wait(gate), modeltest.Say("It ", "is ", "so.")))
	conv := w.conversation(t)
	w.begin(t, conv, "look")
	told := watch(t, w.agent, w.member, conv, 0, func(e agent.Event) bool { return e.Partial != nil && len(e.Partial.Calls) > 0 })
	if got := told[len(told)-1].Partial; got.Calls[0].Name != "code__echo" || got.Text != "Let me look." {
		t.Errorf("announced: %+v", got)
	}
	gate.Open()
	answered := false
	for _, e := range watch(t, w.agent, w.member, conv, 0, is(agent.TurnDone)) {
		answered = answered || e.Entry != nil && e.Entry.Kind == agent.EntryModelOutput
		if e.Partial != nil && answered && strings.HasPrefix(e.Partial.Text, "Let") {
			t.Errorf("told after its answer: %+v", e.Partial)
		}
	}
}

func TestFollowingEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv := w.conversation(t)
	for name, actor := range map[string]capability.Actor{"a stranger": w.other, "an admin": w.admin} {
		for _, err := range w.agent.Follow(t.Context(), actor, conv, 0) {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	next, stop := iter.Pull2(w.agent.Follow(ctx, w.member, conv, 0))
	defer stop()
	leave()
	if _, err, more := next(); more || err != nil {
		t.Errorf("after leaving: %v, %v", err, more)
	}
	server := w.again(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, err := range server.Follow(t.Context(), w.member, conv, 0) {
			t.Errorf("told %v", err)
		}
	}()
	server.Stop()
	<-ended
	gone := make(chan error, 1)
	go func() {
		for _, err := range w.agent.Follow(t.Context(), w.member, conv, 0) {
			gone <- err
		}
	}()
	if err := w.agent.DeleteConversation(t.Context(), w.member, conv); err != nil {
		t.Fatal(err)
	}
	if err := <-gone; !fault.Is(err, fault.NotFound) {
		t.Errorf("of a deleted conversation: %v", err)
	}
}

// A stop in the middle of an answer keeps what was said, from whatever server
// it comes.
func TestStopInMidStream(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		for _, from := range []string{"here", "elsewhere"} {
			t.Run(from, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				gate := modeltest.NewGate()
				s := modeltest.New(t, modeltest.Say("The first ", "half").Wait(gate), modeltest.Say("Good."))
				w.think(t, p, s)
				server, conv := w.agent, w.conversation(t)
				if from == "elsewhere" {
					server = w.again(t)
				}
				done := w.begin(t, conv, "tell me")
				watch(t, w.agent, w.member, conv, 0, says("half"))
				began := time.Now()
				if err := server.StopTurn(t.Context(), w.member, conv); err != nil {
					t.Fatal(err)
				}
				t.Logf("stopped after %s", time.Since(began))
				<-done
				entries := w.ledger(t, w.member, conv)
				if diff := cmp.Diff([]agent.EntryKind{agent.EntryMessage, agent.EntryModelOutput, agent.EntryStop}, kinds(entries)); diff != "" {
					t.Fatal(diff)
				}
				if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "The first half" || got.Stop != "stopped" {
					t.Errorf("kept %+v", got)
				}
				if got := w.state(t, conv); got != agent.TurnStopped {
					t.Errorf("state %s", got)
				}
				<-w.begin(t, conv, "and?")
				if text := string(s.Requests()[1].Raw); !strings.Contains(text, "The first half") || !strings.Contains(text, "You stopped this.") {
					t.Errorf("the model reads %s", text)
				}
			})
		}
	})
}

// A stop in the middle of a call kills the program; the call of the same answer
// that had not started never does.
func TestStopInMidCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "wait", "import time\ntime.sleep(300)\nprint('{}')\n", func(spec map[string]any) { spec["timeoutSec"] = 300 })
	w.think(t, workspace.ProviderAnthropic, modeltest.New(t, modeltest.Say("I wait.").Call("a", "code__wait", `{}`)))
	conv := w.conversation(t)
	done := w.begin(t, conv, "wait")
	watch(t, w.agent, w.member, conv, 0, func(e agent.Event) bool { return e.Entry != nil && e.Entry.Kind == agent.EntryToolCall })
	if err := w.again(t).StopTurn(t.Context(), w.member, conv); err != nil {
		t.Fatal(err)
	}
	<-done
	entries := w.ledger(t, w.member, conv)
	if got := results(t, entries); len(got) != 1 || got[0].Code != "stopped" {
		t.Errorf("%+v", got)
	}
	if entries[len(entries)-1].Kind != agent.EntryStop || w.state(t, conv) != agent.TurnStopped {
		t.Errorf("%v", kinds(entries))
	}
}

// The server is gone in the middle of a turn: whoever finds it says so, keeps
// what was said and what ran, and runs nothing again. The member goes on.
func TestAServerThatDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := modeltest.New(t, modeltest.Say("Better now."))
	w.think(t, workspace.ProviderOpenAI, s)
	conv, turn, call, gone := w.conversation(t), uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), uuid.New()
	w.exec(t, `INSERT INTO turns (turn, conversation, workspace, subject, surface, epoch, digest, mode, model, state, server, heartbeat_at)
		VALUES ($1, $2, 'acme', $3, 'web', 1, 'd', 'ask', 'thinker', 'running', $4, now() - interval '1 minute')`, turn, conv, w.member.Subject, gone)
	w.exec(t, `INSERT INTO ledger (conversation, seq, turn, kind, call, payload) VALUES
		($1, 1, $2, 'message', NULL, '{"text":"do it"}'),
		($1, 2, $2, 'model_output', NULL, '{"model":"thinker","text":"I call.","calls":[{"ref":"1/a","name":"code__x","arguments":{}},{"ref":"1/b","name":"code__y","arguments":{}}]}'),
		($1, 3, $2, 'tool_call', $3, '{"name":"code__x","key":"k","ref":"1/a","arguments":{}}')`, conv, turn, call)
	w.exec(t, `UPDATE conversations SET last_seq = 3 WHERE id = $1`, conv)
	w.exec(t, `INSERT INTO running_calls (call, conversation, turn, tool, ends_by) VALUES ($1, $2, $3, 'code__x', now() + interval '1 hour')`, call, conv, turn)
	w.exec(t, `INSERT INTO turn_partials (turn, text) VALUES ($1, 'And the')`, turn)

	if _, _, err := w.agent.Begin(t.Context(), w.member, conv, agent.Ask{Text: "more"}); !fault.HasCode(err, "turn_running") {
		t.Errorf("before it is known: %v", err)
	}
	for range 2 {
		if _, err := w.agent.Settle(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	entries := w.ledger(t, w.member, conv)
	want := []agent.EntryKind{agent.EntryMessage, agent.EntryModelOutput, agent.EntryToolCall, agent.EntryToolResult, agent.EntryModelOutput, agent.EntryError}
	if diff := cmp.Diff(want, kinds(entries)); diff != "" {
		t.Fatal(diff)
	}
	if got := results(t, entries)[0]; got.Code != "interrupted" || got.Ref != "1/a" {
		t.Errorf("the call: %+v", got)
	}
	if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "And the" || got.Stop != "died" {
		t.Errorf("what was said: %+v", got)
	}
	if got := w.state(t, conv); got != agent.TurnInterrupted {
		t.Errorf("state %s", got)
	}
	<-w.begin(t, conv, "go on")
	if got := s.Requests()[0]; len(got.Messages) != 5 && len(got.Messages) != 6 {
		t.Errorf("the model reads %d messages: %s", len(got.Messages), got.Raw)
	}
	if calls := kinds(w.ledger(t, w.member, conv))[len(want):]; len(calls) != 2 {
		t.Errorf("then %v", calls)
	}
}

// A server that is stopped says at once what it leaves.
func TestAServerThatStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := modeltest.NewGate()
	w.think(t, workspace.ProviderOpenAI, modeltest.New(t, modeltest.Say("So far").Wait(gate)))
	server, conv := w.again(t), w.conversation(t)
	_, done, err := server.Begin(t.Context(), w.member, conv, agent.Ask{Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	watch(t, server, w.member, conv, 0, says("So far"))
	server.Stop()
	<-done
	entries := w.ledger(t, w.member, conv)
	if got := last[agent.Failure](t, entries, agent.EntryError); got.Code != "interrupted" {
		t.Errorf("%+v", got)
	}
	if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "So far" {
		t.Errorf("%+v", got)
	}
	if got := w.state(t, conv); got != agent.TurnInterrupted {
		t.Errorf("state %s", got)
	}
}
