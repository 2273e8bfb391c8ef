package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
)

// ask sends what must succeed and reads the answer into out, nil for none.
func (c client) ask(t *testing.T, method, path string, body, out any) string {
	t.Helper()
	status, text, err := c.send(t.Context(), method, path, body)
	if err != nil || status >= 300 {
		t.Fatalf("%s %s: status %d %s (%v)", method, path, status, text, err)
	}
	if out != nil {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// ledger reads a conversation's entries.
func (c client) ledger(t *testing.T, path string) (kinds []string, entries []agent.Entry) {
	t.Helper()
	var list struct{ Items []agent.Entry }
	c.ask(t, http.MethodGet, path+"/ledger", nil, &list)
	for _, e := range list.Items {
		kinds = append(kinds, string(e.Kind))
	}
	return kinds, list.Items
}

// A server killed while a model speaks, after a tool has run: the next one says
// that the turn was interrupted, keeps what was said, runs nothing again, and
// the member goes on in the same conversation.
func TestKilledInMidTurn(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	gate := modeltest.NewGate()
	model := modeltest.New(t,
		modeltest.Say("I look.").Call("one", "code__unit_convert", `{"value": 12, "from": "in", "to": "cm"}`),
		modeltest.Say("It is thirty").Wait(gate).Say(" and a half."),
		modeltest.Say("Here I am again."))
	s := startServer(t, folder, "--demo", "--allow-hosts", "127.0.0.1")
	c := client{s.url, s.command("token", "create", "--email", "admin@acme.demo", "--workspace", "acme", "--scope", "agent")}
	c.ask(t, http.MethodPost, "/models", map[string]any{"name": "scripted", "provider": "openai", "baseUrl": model.URL, "model": "m"}, nil)
	c.ask(t, http.MethodPut, "/agent/model", map[string]any{"model": "scripted"}, nil)
	var conversation struct{ ID string }
	c.ask(t, http.MethodPost, "/conversations", map[string]any{}, &conversation)
	at := "/conversations/" + conversation.ID
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _, _ = c.send(t.Context(), http.MethodPost, at+"/turns", map[string]any{"text": "How long is a foot?"}) // the server goes away
	}()
	<-gate.Reached()
	s.kill()
	<-left

	again := startServer(t, folder, "--demo", "--allow-hosts", "127.0.0.1")
	c.base = again.url
	kinds, entries := c.ledger(t, at)
	if got, want := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == string(agent.EntryEpochChanged) }),
		[]string{"message", "model_output", "tool_call", "tool_result"}; !slices.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("before the end the ledger holds %v", got)
	}
	if last := entries[len(entries)-1]; last.Kind != agent.EntryError || !strings.Contains(string(last.Payload), `"interrupted"`) {
		t.Errorf("the turn ends with %s %s", last.Kind, last.Payload)
	}
	if answer := c.ask(t, http.MethodPost, at+"/turns", map[string]any{"text": "Go on."}, nil); !strings.Contains(answer, "Here I am again.") {
		t.Errorf("the next turn says %s", answer)
	}
	after, _ := c.ledger(t, at)
	ran := 0
	for _, kind := range after {
		if kind == string(agent.EntryToolCall) {
			ran++
		}
	}
	if ran != 1 || model.Asked() != 3 {
		t.Errorf("the tool ran %d times, the model was asked %d times", ran, model.Asked())
	}
	if diff := cmp.Diff(kinds, after[:len(kinds)]); diff != "" {
		t.Errorf("what had happened reads otherwise: %s", diff)
	}
}
