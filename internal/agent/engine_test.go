package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/netguard"
	"capstore/internal/workspace"
)

// think registers a scripted model and makes it the member's choice.
func (w *world) think(t testing.TB, p workspace.Provider, s *modeltest.Server) {
	t.Helper()
	m, err := w.ws.RegisterModel(t.Context(), w.admin, workspace.ModelInput{
		Name: "thinker", Provider: p, BaseURL: s.URL, Underlying: "scripted", Price: workspace.Price{Input: "3", Output: "15"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.ws.ChooseModel(t.Context(), w.member, m.Name); err != nil {
		t.Fatal(err)
	}
}

// both runs the test with either protocol.
func both(t *testing.T, test func(t *testing.T, p workspace.Provider)) {
	t.Helper()
	for _, p := range []workspace.Provider{workspace.ProviderAnthropic, workspace.ProviderOpenAI} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// again is another server over the same database.
func (w *world) again(t testing.TB) *agent.Service {
	t.Helper()
	runner, err := sandbox.NewRunner(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := netguard.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	other := agent.New(agent.Parts{
		DB: w.db, Catalog: w.store, Workspace: w.ws, Secrets: w.sec, Sandbox: runner, Guard: guard,
		Rules: capability.Rules{AllowLoopbackHTTP: true}, Log: slog.New(slog.DiscardHandler),
	})
	if err := other.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	<-other.Started()
	t.Cleanup(other.Stop)
	return other
}

func (w *world) conversation(t testing.TB) uuid.UUID {
	t.Helper()
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	return conv.ID
}

// begin sends a text and returns what closes at the turn's end.
func (w *world) begin(t testing.TB, conversation uuid.UUID, text string) <-chan struct{} {
	t.Helper()
	_, done, err := w.agent.Begin(t.Context(), w.member, conversation, agent.Ask{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func (w *world) state(t testing.TB, conversation uuid.UUID) agent.TurnState {
	t.Helper()
	status, err := w.agent.Turn(t.Context(), w.member, conversation)
	if err != nil {
		t.Fatal(err)
	}
	return status.State
}

func results(t testing.TB, entries []agent.Entry) (out []agent.ToolResult) {
	t.Helper()
	for _, e := range entries {
		if e.Kind != agent.EntryToolResult {
			continue
		}
		var r agent.ToolResult
		if err := json.Unmarshal(e.Payload, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestAModelAnswers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		s := modeltest.New(t, modeltest.Say("Hello", ", ", "you.").Costs(modeltest.Usage{Input: 100, Output: 20}))
		w.think(t, p, s)
		w.skill(t, w.member, "close-month", "# Closing")
		entries := w.say(t, w.member, agent.Ask{Text: "hi"})
		if diff := cmp.Diff([]agent.EntryKind{agent.EntryMessage, agent.EntryModelOutput}, kinds(entries)); diff != "" {
			t.Fatal(diff)
		}
		got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput)
		if got.Text != "Hello, you." || got.Model != "thinker" || got.Stop != "end" || got.Usage == nil || got.Usage.Output != 20 || got.Usage.Cost != "0.0006" {
			t.Errorf("%+v %+v", got, got.Usage)
		}
		asked := s.Requests()[0]
		if !slices.Contains(asked.ToolNames(), "find_tools") || !strings.Contains(asked.Last().Text(), "hi") || !strings.Contains(string(asked.Raw), "close-month: How to close-month.") {
			t.Errorf("asked %s", asked.Raw)
		}
		var steps, output int
		var cost string
		if err := w.db.QueryRow(t.Context(), `SELECT steps, output_tokens, cost::text FROM turns`).Scan(&steps, &output, &cost); err != nil {
			t.Fatal(err)
		}
		if steps != 1 || output != 20 || cost != "0.000600" {
			t.Errorf("usage: %d steps, %d tokens, %s", steps, output, cost)
		}
	})
}

// Two calls of one answer run side by side: each waits for the other's sign.
// Their results come together, numbers as they were.
func TestCallsOfOneAnswerRunInParallel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.code(t, w.member, "echo", echo, nil)
		stub := mcptest.New(t, `{"name":"one","inputSchema":{"type":"object"}}`)
		key := w.serve(t, stub, "srv", map[string]any{"one": "read"}, false)
		w.learnt(t, key)
		const big = `{"n":123456789012345678901234567890,"f":1.10}`
		s := modeltest.New(t,
			modeltest.Say("Both at once.").Call("a", "code__echo", `{"n":123456789012`, `345678901234567890,"f":1.10}`).Call("b", "mcp__srv__one", big),
			modeltest.Say("Done."))
		w.think(t, p, s)
		entries := w.say(t, w.member, agent.Ask{Text: "go"})
		if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "Done." {
			t.Fatalf("ended with %+v, %v", got, kinds(entries))
		}
		second := s.Requests()[1]
		var seen []modeltest.Result
		for _, m := range second.Messages {
			seen = append(seen, m.Results...)
		}
		if len(seen) != 2 || seen[0].IsError || seen[1].IsError || !strings.Contains(seen[0].Text(), "123456789012345678901234567890") || !strings.Contains(seen[0].Text(), "1.10") {
			t.Errorf("results as the model reads them: %+v", seen)
		}
		if diff := cmp.Diff([]string{"one " + big}, stub.Called()); diff != "" {
			t.Errorf("what reached the server: %s", diff)
		}
		var calls, failed int
		if err := w.db.QueryRow(t.Context(), `SELECT calls, failed_calls FROM turns`).Scan(&calls, &failed); err != nil || calls != 2 || failed != 0 {
			t.Errorf("%d calls, %d failed, %v", calls, failed, err)
		}
	})
}

// What a model gets wrong is told to it, and it goes on.
func TestWhatAModelGetsWrong(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.code(t, w.member, "strict", echo, func(spec map[string]any) {
			spec["parametersSchema"] = json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
		})
		w.skill(t, w.member, "plan", "# Plan")
		s := modeltest.New(t,
			modeltest.Call("a", "code__strikt", `{}`).Call("b", "code__strict", `{"n":`).Call("c", "code__strict", `{"n":"1"}`).
				Call("d", "plan", `{}`).Call("e", "code__strict", `"{\"n\":1}"`).Call("f", "code__strict", `{"n":1,"n":2}`),
			modeltest.Say("I see."))
		w.think(t, p, s)
		entries := w.say(t, w.member, agent.Ask{Text: "go"})
		codes := map[string]string{}
		for _, r := range results(t, entries) {
			if !r.IsError {
				t.Errorf("%+v ran", r)
			}
			codes[r.Ref[strings.LastIndex(r.Ref, "/")+1:]] = r.Code
		}
		want := map[string]string{"a": "unknown_tool", "c": "invalid", "d": "not_a_tool"}
		for ref, code := range want {
			if codes[ref] != code {
				t.Errorf("%s: %s, want %s", ref, codes[ref], code)
			}
		}
		if len(codes) != 6 || slices.Contains(kinds(entries), agent.EntryToolCall) || slices.Contains(kinds(entries), agent.EntryError) {
			t.Errorf("%v, %v", codes, kinds(entries))
		}
		if text := string(s.Requests()[1].Raw); !strings.Contains(text, "code__strict") || !strings.Contains(text, "/n") {
			t.Errorf("the model was told %s", text)
		}
		if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != "I see." {
			t.Errorf("%+v", got)
		}
	})
}

func TestTheSameFailureAgainAndAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := 0
	s := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Step {
		if n++; n > 7 {
			return modeltest.Say("I give up.")
		}
		return modeltest.Call("x", "code__nothing", `{"b":2,"a":1}`)
	})
	w.think(t, workspace.ProviderOpenAI, s)
	var codes []string
	for _, r := range results(t, w.say(t, w.member, agent.Ask{Text: "go"})) {
		codes = append(codes, r.Code)
	}
	want := []string{"unknown_tool", "unknown_tool", "unknown_tool", "unknown_tool", "unknown_tool", "repeated_call", "repeated_call"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
}

// How turns end that no answer ends.
func TestHowTurnsEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step  modeltest.Step
		state agent.TurnState
		code  string
		text  string
	}{
		"nothing is said":     {modeltest.Say(), agent.TurnDone, "model_silent", ""},
		"withheld":            {modeltest.Say("I").Stop("refusal"), agent.TurnDone, "model_refused", "I"},
		"cut":                 {modeltest.Say("And then").Stop("max_tokens"), agent.TurnDone, "model_length", "And then"},
		"it dies":             {modeltest.Say("Well, ", "I th").Die(), agent.TurnFailed, "provider_died", "Well, I th"},
		"the key is wrong":    {modeltest.Refuse(http.StatusUnauthorized, "bad key"), agent.TurnFailed, "model_unauthorized", ""},
		"it has gone too far": {modeltest.Refuse(http.StatusBadRequest, "prompt is too long: 300000 tokens > 200000 maximum"), agent.TurnFailed, "model_too_long", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p workspace.Provider) {
				w := newWorld(t)
				s := modeltest.New(t, tc.step, modeltest.Say("Better."))
				w.think(t, p, s)
				conv := w.conversation(t)
				<-w.begin(t, conv, "hi")
				entries := w.ledger(t, w.member, conv)
				if got := last[agent.Failure](t, entries, agent.EntryError); got.Code != tc.code || got.Message == "" {
					t.Errorf("%+v", got)
				}
				if tc.text != "" {
					if got := last[agent.ModelOutput](t, entries, agent.EntryModelOutput); got.Text != tc.text {
						t.Errorf("kept %q", got.Text)
					}
				}
				if got := w.state(t, conv); got != tc.state {
					t.Errorf("state %s", got)
				}
				<-w.begin(t, conv, "and now?") // the member can go on
				if got := last[agent.ModelOutput](t, w.ledger(t, w.member, conv), agent.EntryModelOutput); got.Text != "Better." {
					t.Errorf("then %+v", got)
				}
				if text := s.Requests()[1].Last().Text(); !strings.Contains(text, "ended early") || !strings.Contains(text, "and now?") {
					t.Errorf("the model reads %q", text)
				}
			})
		})
	}
}

func TestABusyProviderIsAskedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		s := modeltest.New(t, modeltest.Status(http.StatusTooManyRequests, `{}`, "Retry-After", "0"), modeltest.Say("Now."))
		w.think(t, p, s)
		if got := last[agent.ModelOutput](t, w.say(t, w.member, agent.Ask{Text: "hi"}), agent.EntryModelOutput); got.Text != "Now." {
			t.Errorf("%+v", got)
		}
	})
}

func TestAChoiceThatCannotBeUsedIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	conv := w.conversation(t)
	if err := w.agent.Choose(t.Context(), w.member, conv, "gone", ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.agent.Begin(t.Context(), w.member, conv, agent.Ask{Text: "hi"}); !fault.HasCode(err, "model_gone") {
		t.Errorf("%v", err)
	}
	if entries := w.ledger(t, w.member, conv); len(entries) > 0 {
		t.Errorf("left behind: %v", kinds(entries))
	}
	_, done, err := w.agent.Begin(t.Context(), w.member, conv, agent.Ask{Tool: "code__echo"})
	if err != nil {
		t.Fatalf("by hand: %v", err)
	}
	<-done
}

// Of two messages at once one is taken, on whatever servers they arrive.
func TestTwoMessagesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := modeltest.NewGate()
	w.think(t, workspace.ProviderOpenAI, modeltest.New(t, modeltest.Say("Hm").Wait(gate)))
	other, conv := w.again(t), w.conversation(t)
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		taken []<-chan struct{}
	)
	for i := range 6 {
		all.Go(func() {
			server := w.agent
			if i%2 == 0 {
				server = other
			}
			_, done, err := server.Begin(t.Context(), w.member, conv, agent.Ask{Text: "hi"})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				taken = append(taken, done)
			} else if !fault.HasCode(err, "turn_running") || !fault.Is(err, fault.Conflict) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	gate.Open()
	for _, done := range taken {
		<-done
	}
	if got := kinds(w.ledger(t, w.member, conv)); len(taken) != 1 || len(got) != 2 {
		t.Errorf("%d taken, %v", len(taken), got)
	}
}

// A turn that goes on and on ends with a plain note, and with all that it did.
func TestLimitsOfATurn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		usage modeltest.Usage
		code  string
		steps int
	}{
		"steps":  {modeltest.Usage{Input: 10, Output: 5}, "turn_steps", 40},
		"tokens": {modeltest.Usage{Input: 1_999_990, Output: 10}, "turn_tokens", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.skill(t, w.member, "plan", "# Plan")
			s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
				return modeltest.Call("c"+strconv.Itoa(len(r.Messages)), "use_skill", `{"name":"plan"}`).Costs(tc.usage)
			})
			w.think(t, workspace.ProviderAnthropic, s)
			conv := w.conversation(t)
			<-w.begin(t, conv, "go")
			entries := w.ledger(t, w.member, conv)
			if got := last[agent.Failure](t, entries, agent.EntryError); got.Code != tc.code || got.Action == "" {
				t.Errorf("%+v", got)
			}
			if n := len(results(t, entries)); n != tc.steps || s.Asked() != tc.steps || w.state(t, conv) != agent.TurnDone {
				t.Errorf("%d results of %d answers, %s", n, s.Asked(), w.state(t, conv))
			}
		})
	}
}
