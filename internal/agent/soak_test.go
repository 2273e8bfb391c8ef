package agent_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/workspace"
)

// parrot is a model that says the same to everything and remembers nothing.
func parrot(t *testing.T) (url string) {
	chunk := func(delta, reason string) string {
		return fmt.Sprintf(`data: {"id":"1","object":"chat.completion.chunk","model":"parrot","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, reason) + "\n\n"
	}
	answer := chunk(`{"role":"assistant","content":"Hello."}`, "null") + chunk("{}", `"stop"`) + "data: [DONE]\n\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.Copy(w, strings.NewReader(answer))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Turns with a model and without, in a world that moves: nothing of one is left
// when it has ended. Under make soak there is a turn for ten epochs.
func TestSoakTurns(t *testing.T) {
	w := newWorld(t)
	if _, err := w.ws.RegisterModel(t.Context(), w.admin, workspace.ModelInput{
		Name: "parrot", Provider: workspace.ProviderOpenAI, BaseURL: parrot(t), Underlying: "parrot",
	}); err != nil {
		t.Fatal(err)
	}
	v := w.code(t, w.member, "program", waits, nil)
	key := capability.CapabilityKey(v.Source, v.ID)
	s := w.server(t, serverOptions{poll: never})
	turn := func(i int) {
		on, model := i%4 < 2, "parrot"
		if i%2 == 0 {
			model = ""
		}
		if _, err := s.ws.SetSwitch(t.Context(), w.member, key, &on); err != nil {
			t.Fatal(err)
		}
		if err := s.ws.ChooseModel(t.Context(), w.member, model); err != nil {
			t.Fatal(err)
		}
		conv, err := s.agent.NewConversation(t.Context(), w.member)
		if err != nil {
			t.Fatal(err)
		}
		_, done, err := s.agent.Begin(t.Context(), w.member, conv.ID, agent.Ask{Text: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		if got := w.state(t, conv.ID); got != agent.TurnDone {
			t.Fatalf("turn %d is %s", i, got)
		}
		if err := s.agent.DeleteConversation(t.Context(), w.member, conv.ID); err != nil {
			t.Fatal(err)
		}
	}
	const warm = 40
	for i := range warm {
		turn(i)
	}
	start, n := lifecycletest.Heap(), lifecycletest.Rounds(600)/10
	for i := range n {
		turn(warm + i)
	}
	end := lifecycletest.Heap()
	t.Logf("%d turns: a heap of %d bytes before, %d after", n, start, end)
	if end > start+start/10 {
		t.Errorf("the heap grew from %d to %d bytes in %d turns", start, end, n)
	}
	if got := s.reg.Health(); got.Holders != 0 || got.Snapshots > int64(got.Worlds) {
		t.Errorf("%+v", got)
	}
}
