package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent/model"
	"capstore/internal/agent/model/modeltest"
)

// sse is a whole answer of Chat Completions by its choices' deltas. It ends
// with the reason and, as some servers leave it out, without [DONE].
func sse(reason string, deltas ...string) modeltest.Step {
	var b strings.Builder
	for _, delta := range deltas {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n")
	}
	if reason != "" {
		b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n")
	}
	return modeltest.Status(200, b.String(), "Content-Type", "text/event-stream; charset=utf-8")
}

// TestLikenesses reads the answers of servers that are nearly OpenAI's.
func TestLikenesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step     modeltest.Step
		text     string
		thinking string
		calls    []string // name and arguments
		stop     model.Stop
	}{
		"every call at index 0, by ID": {sse("tool_calls",
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":"{\"id\":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"b","function":{"name":"add","arguments":"{\"id\":2}"}}]}`),
			"", "", []string{`add {"id":1}`, `add {"id":2}`}, model.StopTools},
		"every call at index 0, without ID": {sse("stop",
			`{"tool_calls":[{"function":{"name":"add","arguments":"{\"id\":1}"}}]}`,
			`{"tool_calls":[{"function":{"name":"add","arguments":"{\"id\":2}"}}]}`),
			"", "", []string{`add {"id":1}`, `add {"id":2}`}, model.StopTools},
		"both calls in one piece, one ID": {sse("tool_calls",
			`{"tool_calls":[{"index":0,"id":"same","function":{"name":"add","arguments":"{\"id\":1}"}},{"index":1,"id":"same","function":{"name":"add","arguments":"{}"}}]}`),
			"", "", []string{`add {"id":1}`, `add {}`}, model.StopTools},
		"the name in every piece": {sse("tool_calls",
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":"{\"id\""}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":":7}"}}]}`),
			"", "", []string{`add {"id":7}`}, model.StopTools},
		"calls interleaved": {sse("tool_calls",
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":"{\"id\":"}},{"index":1,"id":"b","function":{"name":"add","arguments":"{\"id\":"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"2}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`),
			"", "", []string{`add {"id":1}`, `add {"id":2}`}, model.StopTools},
		"arguments as an object": {sse("tool_calls",
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"add","arguments":{"id": 1000000000000000001}}}]}`),
			"", "", []string{`add {"id": 1000000000000000001}`}, model.StopTools},
		"thoughts as reasoning": {sse("stop", `{"reasoning":"Hm"}`, `{"reasoning":"m.","content":null}`, `{"content":"Yes."}`),
			"Yes.", "Hmm.", nil, model.StopEnd},
		"thoughts under both names": {sse("stop", `{"reasoning":"Hm.","reasoning_content":"Hm."}`, `{"content":"Yes."}`),
			"Yes.", "Hm.", nil, model.StopEnd},
		"content as a list": {sse("stop", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Yes."}]}`),
			"Yes.", "Hm.", nil, model.StopEnd},
		"a refusal": {sse("stop", `{"refusal":"I will not."}`), "I will not.", "", nil, model.StopRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := scripted(t, model.OpenAI, c.step)
			out, deltas, err := stream(m, ask("Hi"))
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			seen := map[string]bool{}
			for _, call := range out.Calls {
				calls = append(calls, call.Name+" "+string(call.Arguments)+call.Broken)
				if call.ID == "" || seen[call.ID] {
					t.Errorf("the ID %q is no ID", call.ID)
				}
				seen[call.ID] = true
			}
			thinking := ""
			for _, d := range deltas {
				thinking += d.Thinking
			}
			if diff := cmp.Diff(c.calls, calls); diff != "" {
				t.Error(diff)
			}
			if out.Text != c.text || thinking != c.thinking || out.Stop != c.stop {
				t.Errorf("got %q, thought %q, stopped for %q", out.Text, thinking, out.Stop)
			}
		})
	}
}

// TestNoReason is a stream that ends well for HTTP and says nothing of an end.
func TestNoReason(t *testing.T) {
	t.Parallel()
	m, _ := scripted(t, model.OpenAI, sse("", `{"content":"Once"}`))
	out, _, err := stream(m, ask("Hi"))
	wantCode(t, err, "provider_died")
	if out.Text != "Once" {
		t.Errorf("kept %q", out.Text)
	}
}

// TestRepeatedIDs is a server that numbers the calls of each answer anew.
func TestRepeatedIDs(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Call("call:0", "add", `{}`), modeltest.Call("call:0", "add", `{}`), modeltest.Say("Done."))
		r := ask("Add twice")
		ids := map[string]bool{}
		for range 2 {
			out, _, err := stream(m, r)
			if err != nil {
				t.Fatal(err)
			}
			ids[out.Calls[0].ID] = true
			r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: out.Calls},
				model.Message{Role: model.User, Results: []model.Result{{Call: out.Calls[0].ID, Content: text("ok")}}})
		}
		if _, _, err := stream(m, r); err != nil || len(ids) != 2 {
			t.Errorf("IDs %v, %v", ids, err)
		}
		if len(server.Requests()) != 3 {
			t.Error("the conversation was not taken")
		}
	})
}

// TestSignedCalls gives back what a server adds to a call, which some demand.
func TestSignedCalls(t *testing.T) {
	t.Parallel()
	m, server := scripted(t, model.OpenAI,
		modeltest.Step{}.CallWith("c1", "add", `"extra_content":{"google":{"thought_signature":"abc"}}`, `{}`), modeltest.Say("Done."))
	r := ask("Add")
	out, _, err := stream(m, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: out.Calls, Opaque: out.Opaque},
		model.Message{Role: model.User, Results: []model.Result{{Call: "c1", Content: text("4")}}})
	if _, _, err := stream(m, r); err != nil {
		t.Fatal(err)
	}
	if raw := string(server.Requests()[1].Raw); !strings.Contains(raw, `"extra_content":{"google":{"thought_signature":"abc"}}`) {
		t.Errorf("repeated as %s", raw)
	}
}

// TestPickyServers learn nothing; the client does, once.
func TestPickyServers(t *testing.T) {
	t.Parallel()
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
		switch raw := string(r.Raw); {
		case strings.Contains(raw, "stream_options"):
			return modeltest.Status(422, `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`)
		case strings.Contains(raw, `"max_tokens"`):
			return modeltest.Refuse(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
		}
		return modeltest.Say("Fine.")
	})
	m := newModel(t, config(t, model.OpenAI, server.URL))
	r := ask("Hi")
	r.MaxTokens = 99
	for range 2 {
		if out, _, err := stream(m, r); err != nil || out.Text != "Fine." {
			t.Fatal(out, err)
		}
	}
	if got := server.Requests(); len(got) != 4 || got[3].MaxTokens != 99 {
		t.Errorf("asked %d times", len(got))
	}
}

// TestShortAnswers is an older model that writes less than is asked for.
func TestShortAnswers(t *testing.T) {
	t.Parallel()
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
		if r.MaxTokens > 4096 {
			return modeltest.Refuse(400, fmt.Sprintf("max_tokens: %d > 4096, which is the maximum allowed number of output tokens for m-1", r.MaxTokens))
		}
		return modeltest.Say("Fine.")
	})
	m := newModel(t, config(t, model.Anthropic, server.URL))
	for range 2 {
		if out, _, err := stream(m, ask("Hi")); err != nil || out.Text != "Fine." {
			t.Fatal(out, err)
		}
	}
	if got := server.Requests(); len(got) != 3 || got[2].MaxTokens != 4096 {
		t.Errorf("asked %d times", len(got))
	}
}

// TestArgumentsAtTheStart is a likeness of Messages that sends them whole.
func TestArgumentsAtTheStart(t *testing.T) {
	t.Parallel()
	m, _ := scripted(t, model.Anthropic, modeltest.Status(200, strings.Join([]string{
		`event: message_start`, `data: {"type":"message_start","message":{"id":"m","role":"assistant","model":"m-1","content":[],"usage":{"input_tokens":3,"output_tokens":0}}}`, ``,
		`event: content_block_start`, `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"add","input":{"id": 1000000000000000001}}}`, ``,
		`event: content_block_stop`, `data: {"type":"content_block_stop","index":0}`, ``,
		`event: content_block_start`, `data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}`, ``,
		`event: a_new_one`, `data: {"type":"a_new_one"}`, ``,
		`event: message_delta`, `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":4,"cache_read_input_tokens":2,"cache_creation_input_tokens":1,"output_tokens":9}}`, ``,
		`event: message_stop`, `data: {"type":"message_stop"}`, ``, ``,
	}, "\n"), "Content-Type", "text/event-stream"))
	out, _, err := stream(m, ask("Hi"))
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Call{{ID: "a", Name: "add", Arguments: json.RawMessage(`{"id": 1000000000000000001}`)}}
	if diff := cmp.Diff(want, out.Calls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(model.Usage{Input: 4, CachedInput: 2, CacheWrite: 1, Output: 9}, out.Usage); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(out.Opaque), `"redacted_thinking"`) {
		t.Errorf("kept %s", out.Opaque)
	}
}
