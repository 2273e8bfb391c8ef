package model_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"capstore/internal/agent/model"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// key is the canary: it may stand in a request's header and nowhere else.
const key = "sk-canary-0123456789abcdefghij"

var providers = []model.Provider{model.Anthropic, model.OpenAI}

// both runs a test over both protocols.
func both(t *testing.T, f func(t *testing.T, p model.Provider)) {
	t.Helper()
	for _, p := range providers {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			f(t, p)
		})
	}
}

func config(t *testing.T, p model.Provider, url string) model.Config {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return model.Config{Provider: p, BaseURL: url, Name: "m-1", Key: key,
		HTTP: &http.Client{Transport: transport}, Backoff: time.Millisecond}
}

func newModel(t *testing.T, c model.Config) *model.Client {
	t.Helper()
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// scripted starts a model with a script.
func scripted(t *testing.T, p model.Provider, script ...modeltest.Step) (*model.Client, *modeltest.Server) {
	t.Helper()
	server := modeltest.New(t, script...)
	return newModel(t, config(t, p, server.URL)), server
}

// ask is a question with two tools at hand.
func ask(text string) model.Request {
	return model.Request{
		System:   "You are an agent.",
		Messages: []model.Message{{Role: model.User, Text: text}},
		Tools: []model.Tool{
			{Name: "add", Description: "Adds.", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}}}`)},
			{Name: "find_tools", Schema: json.RawMessage(`{"type":"object"}`)},
		},
	}
}

// stream asks and returns everything that was told.
func stream(m model.Model, r model.Request) (model.Output, []model.Delta, error) {
	var deltas []model.Delta
	out, err := m.Stream(context.Background(), r, func(d model.Delta) { deltas = append(deltas, d) })
	return out, deltas, err
}

func wantCode(t *testing.T, err error, code string) *fault.Fault {
	t.Helper()
	if !fault.HasCode(err, code) {
		t.Fatalf("error = %v, want the code %s", err, code)
	}
	f := fault.From(err)
	for what, text := range map[string]string{"message": f.Message, "action": f.Action, "log": err.Error()} {
		if strings.Contains(text, key) || strings.Contains(text, key[10:]) {
			t.Errorf("the %s holds the key: %s", what, text)
		}
	}
	if f.Message == "" || f.Action == "" {
		t.Errorf("the fault says %q and advises %q", f.Message, f.Action)
	}
	return f
}

func TestPlainAnswer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("Hel", "lo ", "世界.").
			Costs(modeltest.Usage{Input: 100, CachedInput: 900, CacheWrite: 50, Output: 7}))
		out, deltas, err := stream(m, ask("Hi"))
		if err != nil {
			t.Fatal(err)
		}
		want := model.Output{Text: "Hello 世界.", Stop: model.StopEnd, Model: "m-1",
			Usage: model.Usage{Input: 100, CachedInput: 900, CacheWrite: 50, Output: 7}}
		if diff := cmp.Diff(want, out); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]model.Delta{{Text: "Hel"}, {Text: "lo "}, {Text: "世界."}}, deltas); diff != "" {
			t.Error(diff)
		}
		r := server.Requests()[0]
		if r.Model != "m-1" || r.System[0].Text != "You are an agent." || r.Last().Text() != "Hi" {
			t.Errorf("asked %+v", r)
		}
		if diff := cmp.Diff([]string{"add", "find_tools"}, r.ToolNames()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestParallelCalls has arguments that no float64 holds, in pieces that split
// them, and follows them back into the next question.
func TestParallelCalls(t *testing.T) {
	t.Parallel()
	const first, second = `{"id": 1000000000000000001, "x": 0.10, "s": "<&>"}`, `{"id":9007199254740993}`
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p,
			modeltest.Say("Let me add.").Call("call_a", "add", first[:9], first[9:20], first[20:]).Call("call_b", "add", second),
			modeltest.Say("Done."))
		r := ask("Add both")
		out, deltas, err := stream(m, r)
		if err != nil {
			t.Fatal(err)
		}
		calls := []model.Call{
			{ID: "call_a", Name: "add", Arguments: json.RawMessage(first)},
			{ID: "call_b", Name: "add", Arguments: json.RawMessage(second)},
		}
		if diff := cmp.Diff(calls, out.Calls); diff != "" || out.Stop != model.StopTools {
			t.Error(out.Stop, diff)
		}
		early := []model.Delta{{Text: "Let me add."}, {Call: &model.Call{ID: "call_a", Name: "add"}}, {Call: &model.Call{ID: "call_b", Name: "add"}}}
		if diff := cmp.Diff(early, deltas); diff != "" {
			t.Error(diff)
		}
		r.Messages = append(r.Messages,
			model.Message{Role: model.Assistant, Text: out.Text, Calls: out.Calls, Opaque: out.Opaque},
			model.Message{Role: model.User, Results: []model.Result{
				{Call: "call_b", Content: text("three"), IsError: true},
				{Call: "call_a", Structured: json.RawMessage(`{"sum":1000000000000000002}`)},
			}})
		if _, _, err := stream(m, r); err != nil {
			t.Fatal(err)
		}
		var gotCalls []modeltest.ToolCall
		var gotResults []modeltest.Result
		perMessage := 0
		for _, message := range server.Requests()[1].Messages {
			gotCalls = append(gotCalls, message.Calls...)
			gotResults = append(gotResults, message.Results...)
			perMessage = max(perMessage, len(message.Results))
		}
		if len(gotCalls) != 2 || !strings.Contains(gotCalls[0].Arguments, "1000000000000000001") || !strings.Contains(gotCalls[0].Arguments, "0.10") {
			t.Errorf("repeated calls %+v", gotCalls)
		}
		failed := map[model.Provider]string{model.Anthropic: "three", model.OpenAI: "Error: three"}[p]
		want := []modeltest.Result{
			{Call: "call_a", Texts: []modeltest.Text{{Text: `{"sum":1000000000000000002}`}}},
			{Call: "call_b", Texts: []modeltest.Text{{Text: failed}}, IsError: p == model.Anthropic},
		}
		if diff := cmp.Diff(want, gotResults, cmpopts.IgnoreFields(modeltest.Result{}, "Cached")); diff != "" {
			t.Error(diff)
		}
		if want := map[model.Provider]int{model.Anthropic: 2, model.OpenAI: 1}[p]; perMessage != want {
			t.Errorf("%d results in a message, want %d", perMessage, want)
		}
	})
}

func text(s string) []json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"type": "text", "text": s})
	return []json.RawMessage{raw}
}

func TestStops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step  modeltest.Step
		stop  model.Stop
		text  string
		calls int
	}{
		"empty":             {modeltest.Say(), model.StopEnd, "", 0},
		"cut text":          {modeltest.Say("Once upon").Stop("max_tokens"), model.StopLength, "Once upon", 0},
		"cut call":          {modeltest.Call("c", "add", `{"id":`).Stop("max_tokens"), model.StopLength, "", 1},
		"refused":           {modeltest.Say("I").Call("c", "add", "{}").Stop("refusal"), model.StopRefused, "I", 0},
		"call without args": {modeltest.Call("c", "add"), model.StopTools, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				m, _ := scripted(t, p, c.step)
				out, _, err := stream(m, ask("Go on"))
				if err != nil || out.Stop != c.stop || out.Text != c.text || len(out.Calls) != c.calls {
					t.Errorf("got %+v, %v", out, err)
				}
			})
		})
	}
}

// TestBrokenArguments keeps what is no JSON object for the door to answer, and
// shows it to the model again in a form that the provider takes.
func TestBrokenArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ written, says string }{
		"cut":           {`{"id": 12`, "not a JSON object"},
		"a string":      {`"{\"id\":1}"`, "must not be put in quotes"},
		"a list":        {`[1]`, "an array"},
		"a number":      {`12`, "a number"},
		"a boolean":     {`true`, "a boolean"},
		"two values":    {`{}{}`, "not a JSON object"},
		"the key twice": {`{"id":1,"id":2}`, "not a JSON object"},
		"words":         {`id is 5`, "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				m, server := scripted(t, p, modeltest.Call("c1", "add", c.written), modeltest.Say("Sorry."))
				out, _, err := stream(m, ask("Go on"))
				if err != nil || len(out.Calls) != 1 {
					t.Fatal(out, err)
				}
				call := out.Calls[0]
				if call.Broken != c.written || call.Arguments != nil {
					t.Errorf("got %+v", call)
				}
				if f := fault.From(call.Fault()); f.Code != "arguments_unreadable" || !strings.Contains(f.Message, c.says) {
					t.Errorf("fault %v", f)
				}
				r := ask("Go on")
				r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: out.Calls},
					model.Message{Role: model.User, Results: []model.Result{{Call: "c1", Content: text("write it again"), IsError: true}}})
				if _, _, err := stream(m, r); err != nil {
					t.Fatal(err)
				}
				var repeated struct {
					Unreadable string `json:"unreadable_arguments"`
				}
				for _, message := range server.Requests()[1].Messages {
					for _, again := range message.Calls {
						if json.Unmarshal([]byte(again.Arguments), &repeated) != nil || repeated.Unreadable != c.written {
							t.Errorf("repeated as %s", again.Arguments)
						}
					}
				}
			})
		})
	}
}
