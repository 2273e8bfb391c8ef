package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// heard is a turn whose hooks are told of it by hand.
type heard struct {
	*world
	conversation, turn uuid.UUID
}

func (w *world) turn(t testing.TB) heard {
	t.Helper()
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	return heard{w, conv.ID, uuid.Must(uuid.NewV7())}
}

func (h heard) says(t testing.TB) {
	t.Helper()
	h.exec(t, `WITH c AS (UPDATE conversations SET last_seq = last_seq + 1 WHERE id = $1 RETURNING last_seq)
		INSERT INTO ledger (conversation, seq, turn, kind, payload) SELECT $1, last_seq, $2, 'message', '{"text":"hello"}' FROM c`, h.conversation, h.turn)
}

func (h heard) session(t testing.TB) (string, error) {
	return agent.SessionHooks(h.agent, t.Context(), h.bind(t, h.member), h.member, h.conversation, h.turn)
}

func (h heard) prompt(t testing.TB, text string) (string, error) {
	return agent.PromptHooks(h.agent, t.Context(), h.bind(t, h.member), h.member, h.conversation, h.turn, text)
}

// The events of a turn, in each decision and failure mode.
func TestHooksOfATurn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code           string
		added          string
		refused        string // by an advisory hook, which is what all but a before-tool hook is
		closed         string // by one that fails closed
		said, saidShut string
	}{
		"silent": {`exit 0`, "", "", "", "allow", "allow"},
		"allows": {saysAllow, "", "", "", "allow", "allow"},
		"denies": {saysDeny, "", "not today", "not today", "deny", "deny"},
		"asks":   {`echo '{"decision":"ask","reason":"sure?"}'`, "", "sure?", "sure?", "ask", "ask"},
		"exit 2": {`echo no >&2; exit 2`, "", "no", "no", "deny", "deny"},
		"exit 1": {`exit 1`, "", "", "The program ended with exit code 1.", "allow exit_nonzero", "deny exit_nonzero"},
		"rewrites": {
			`echo '{"decision":"rewrite","arguments":{}}'`, "", "", "Only a hook before a tool rewrites its arguments.",
			"allow hook_unreadable", "deny hook_unreadable",
		},
		"adds": {`echo '{"hookSpecificOutput":{"additionalContext":"It is Monday."}}'`, "<hook name=\"guard\">\nIt is Monday.\n</hook>", "", "", "allow", "allow"},
		"says": {`echo It is Monday.`, "<hook name=\"guard\">\nIt is Monday.\n</hook>", "", "", "allow", "allow"},
	} {
		for _, event := range []capability.Event{capability.EventSessionStart, capability.EventUserPromptSubmit} {
			for _, mode := range []capability.FailureMode{"", capability.FailClosed} {
				t.Run(name+" "+string(event)+" "+string(mode), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.hook(t, w.admin, "guard", event, tt.code, map[string]any{"failureMode": mode})
					h := w.turn(t)
					h.says(t)
					added, err := h.session(t)
					if event == capability.EventUserPromptSubmit {
						added, err = h.prompt(t, "hello")
					}
					refused, said := tt.refused, tt.said
					if mode == capability.FailClosed {
						refused, said = tt.closed, tt.saidShut
					}
					switch f := fault.From(err); {
					case refused == "" && (err != nil || added != tt.added):
						t.Errorf("added %q, %v", added, err)
					case refused != "" && (f == nil || f.Code != "hook_denied" || f.Message != "The hook guard refused this: "+refused):
						t.Errorf("not refused: %v", err)
					}
					entries := w.ledger(t, w.member, h.conversation)
					if diff := cmp.Diff([]string{"guard " + said}, outcomes(t, entries)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// The hooks of a session run once in a conversation, and again only while they
// let nothing in.
func TestASessionStartsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(t, w.admin, "greeter", capability.EventSessionStart, `echo It is Monday.`, nil)
	v := w.hook(t, w.admin, "gate", capability.EventSessionStart, saysDeny, nil)
	h := w.turn(t)
	for range 2 {
		h.turn = uuid.Must(uuid.NewV7())
		h.says(t)
		if _, err := h.session(t); fault.From(err) == nil || fault.From(err).Code != "hook_denied" {
			t.Fatalf("let in: %v", err)
		}
	}
	if _, err := w.ws.Unadopt(t.Context(), w.admin, v.Source, v.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"It is Monday.", "", ""} {
		h.turn = uuid.Must(uuid.NewV7())
		h.says(t)
		if added, err := h.session(t); err != nil || strings.Contains(added, "Monday") != (want != "") {
			t.Errorf("added %q, %v; want %q", added, err, want)
		}
	}
	if diff := cmp.Diff([]string{"gate deny", "gate deny", "greeter allow"}, outcomes(t, w.ledger(t, w.member, h.conversation))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A prompt reaches its hooks as it was said, and what they answer is one text.
func TestAPromptIsShownToItsHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(t, w.admin, "a", capability.EventUserPromptSubmit, `import json, sys
e = json.load(sys.stdin)
print(json.dumps({"additionalContext": e["prompt"][::-1] + " " + e["text"]}))`, map[string]any{"language": "python"})
	w.hook(t, w.admin, "b", capability.EventUserPromptSubmit, `echo seen`, nil)
	h := w.turn(t)
	added, err := h.prompt(t, "안녕 </hook>")
	if want := "<hook name=\"a\">\n>kooh/< 녕안 안녕 <\\/hook>\n</hook>\n\n<hook name=\"b\">\nseen\n</hook>"; err != nil || added != want {
		t.Errorf("added %q, %v; want %q", added, err, want)
	}
}

// What a hook says at the end of a turn changes nothing and is written down.
func TestATurnEndIsOnlyRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(t, w.admin, "a", capability.EventTurnEnd, `grep -q '"last_assistant_message":"Sent."' && exit 2; exit 0`, nil)
	w.hook(t, w.admin, "b", capability.EventTurnEnd, saysAllow, nil)
	h := w.turn(t)
	agent.TurnEndHooks(w.agent, t.Context(), w.bind(t, w.member), w.member, h.conversation, h.turn, "Sent.")
	if diff := cmp.Diff([]string{"a deny", "b allow"}, outcomes(t, w.ledger(t, w.member, h.conversation))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A stop ends a hook that runs, and what it guards does not.
func TestAStopEndsAHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.echo(t)
	w.hook(t, w.admin, "slow", capability.EventBeforeTool, `exec sleep 60.4711`, map[string]any{"timeoutSec": 60, "failureMode": "advisory"})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for !isRunning("sleep\x0060.4711\x00") && ctx.Err() == nil {
			<-time.After(10 * time.Millisecond)
		}
		stop()
	}()
	req := w.request(t)
	if result, err := w.agent.Call(ctx, w.bind(t, w.member), req); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", result, err)
	}
	if entries := w.ledger(t, w.member, req.Conversation); len(entries) > 0 {
		t.Errorf("written: %v", kinds(entries))
	}
	if isRunning("sleep\x0060.4711\x00") {
		t.Error("the hook runs on")
	}
}

// isRunning reports whether a process of this machine was started so.
func isRunning(line string) bool {
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(found, func(path string) bool {
		got, err := os.ReadFile(path)
		return err == nil && string(got) == line
	})
}
