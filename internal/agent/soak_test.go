package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// soakTurns is how many turns a soak takes: a few in the ordinary tests, a
// tenth of what CAPSTORE_SOAK says under make soak.
func soakTurns(short int) int {
	if n, err := strconv.Atoi(os.Getenv("CAPSTORE_SOAK")); err == nil && n/10 > short {
		return n / 10
	}
	return short
}

// heap is what is in use after everything that can go has gone.
func heap() uint64 {
	for range 3 {
		runtime.GC() // cleanups run after one, what they let go goes with the next
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// forgetful is a model that reads a skill and says that it did, and remembers
// nothing, as a scripted one would.
func forgetful(t testing.TB) string {
	t.Helper()
	chunk := func(rw io.Writer, delta, finish string) {
		_, _ = fmt.Fprintf(rw, `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []struct{ Role string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
			http.Error(rw, "bad", http.StatusBadRequest)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		if asked.Messages[len(asked.Messages)-1].Role == "tool" {
			chunk(rw, `{"role":"assistant","content":"I have read it."}`, "null")
			chunk(rw, `{}`, `"stop"`)
		} else {
			chunk(rw, `{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"use_skill","arguments":"{\"name\":\"plan\"}"}}]}`, "null")
			chunk(rw, `{}`, `"tool_calls"`)
		}
		_, _ = io.WriteString(rw, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Turn after turn on two servers, by hand and with a model, while the world
// moves: when they are over, nothing of them is left in memory.
func TestSoakTurns(t *testing.T) {
	url := forgetful(t)
	w := newWorld(t)
	if _, err := w.ws.RegisterModel(t.Context(), w.admin, workspace.ModelInput{
		Name: "m", Provider: workspace.ProviderOpenAI, BaseURL: url, Underlying: "m",
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.ws.ChooseModel(t.Context(), w.member, "m"); err != nil {
		t.Fatal(err)
	}
	skill, err := w.ws.CreateSkill(t.Context(), w.admin, workspace.SkillInput{Name: "plan", Description: "How.", Spec: &capability.SkillSpec{Instructions: "Plan."}})
	if err != nil {
		t.Fatal(err)
	}
	servers := []*server{w.server(t, serverOptions{poll: never}), w.server(t, serverOptions{poll: never, mute: true})}
	people := []capability.Actor{w.member, w.viewer, w.admin, w.viewer}
	talks := make([]uuid.UUID, len(people))
	turns := 0
	round := func(i int) {
		if i%5 == 0 {
			if _, err := servers[i%2].ws.UpdateSkill(t.Context(), w.admin, skill.ID, 0, workspace.SkillInput{
				Name: "plan", Description: "How.", Spec: &capability.SkillSpec{Instructions: fmt.Sprint("Plan ", i, ".")},
			}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for n, who := range people {
			if i%10 == 0 {
				conv, err := servers[0].agent.NewConversation(t.Context(), who)
				if err != nil {
					t.Fatal(err)
				}
				talks[n] = conv.ID
			}
			all.Go(func() { servers[(i+n)%2].turn(t, who, talks[n]) })
			turns++
		}
		all.Wait()
		if i%25 == 0 {
			settled(t, i, servers)
		}
	}
	warm := 10
	for i := range warm {
		round(i)
	}
	start, last := heap(), 0
	goroutines := runtime.NumGoroutine()
	for last = warm; turns < soakTurns(80)+warm*len(people); last++ {
		round(last)
	}
	settled(t, last, servers)
	end := heap()
	t.Logf("%d turns: heap %d → %d bytes, goroutines %d → %d", turns, start, end, goroutines, runtime.NumGoroutine())
	if end > start+start/10+(1<<20) {
		t.Errorf("the heap grew from %d to %d bytes in %d turns", start, end, turns)
	}
	if now := runtime.NumGoroutine(); now > goroutines+20 {
		t.Errorf("%d goroutines became %d", goroutines, now)
	}
	var ended, calls int
	if err := w.db.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state = 'done'), sum(calls) FROM turns`).Scan(&ended, &calls); err != nil {
		t.Fatal(err)
	}
	if ended != turns || calls != turns {
		t.Errorf("of %d turns %d are done, with %d calls", turns, ended, calls)
	}
}

// turn reads the skill, by hand or, for who has a model, by asking it to.
func (s *server) turn(t *testing.T, who capability.Actor, conversation uuid.UUID) {
	ask := agent.Ask{Text: "read the plan"}
	if who != s.member {
		ask = agent.Ask{Tool: agent.UseSkill, Arguments: json.RawMessage(`{"name":"plan"}`)}
	}
	_, done, err := s.agent.Begin(t.Context(), who, conversation, ask)
	if err != nil {
		t.Error(err)
		return
	}
	<-done
}

// settled holds that no turn holds a snapshot any more, and lets epochs go that
// none refers to.
func settled(t *testing.T, round int, servers []*server) {
	t.Helper()
	for _, s := range servers {
		if err := s.reg.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.reg.Health(); got.Holders != 0 || got.Snapshots > int64(got.Worlds) {
			t.Fatalf("round %d: %d snapshots, %d holders, %d worlds", round, got.Snapshots, got.Holders, got.Worlds)
		}
		if err := s.reg.Prune(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
}
