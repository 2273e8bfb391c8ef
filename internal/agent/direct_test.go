package agent_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

func TestWhatAMessageMeans(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	w.skill(t, w.member, "close-month", "# Closing\nOne step after the other.", capability.File{Path: "list.md", Content: "- first"})
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	for text, code := range map[string]string{
		"":                                    "invalid",
		"   \n":                               "invalid",
		"/nonsense":                           "unknown_command",
		"/toll echo":                          "unknown_command",
		"/tool":                               "invalid",
		`/tool code__echo {"a":1,"a":2}`:      "duplicate_key",
		"/tool code__echo {":                  "",
		strings.Repeat("x", 64<<10) + " more": "invalid",
	} {
		if _, _, err := w.agent.Begin(t.Context(), w.member, conv.ID, agent.Ask{Text: text}); err == nil || code != "" && !fault.HasCode(err, code) {
			t.Errorf("%.40q: %v, want %s", text, err, code)
		}
	}
	if entries := w.ledger(t, w.member, conv.ID); len(entries) != 0 {
		t.Errorf("refused messages left %v behind", kinds(entries))
	}

	ran := last[agent.ToolResult](t, w.say(t, w.member, agent.Ask{Text: `/tool code__echo {"a": 1}`}), agent.EntryToolResult)
	if ran.IsError || string(ran.Structured) != `{"a":1}` {
		t.Errorf("/tool gave %+v", ran)
	}
	loaded := last[agent.ToolResult](t, w.say(t, w.member, agent.Ask{Text: "/skill:close-month"}), agent.EntryToolResult)
	if loaded.IsError || !strings.Contains(string(loaded.Content[0]), "One step after the other") || !strings.Contains(string(loaded.Content[0]), "list.md") {
		t.Errorf("/skill: gave %+v", loaded)
	}
	file := last[agent.ToolResult](t, w.say(t, w.member, agent.Ask{Text: `/tool read_skill_file {"name":"close-month","path":"list.md"}`}), agent.EntryToolResult)
	if !strings.Contains(string(file.Content[0]), "- first") {
		t.Errorf("read_skill_file gave %+v", file)
	}
	answer := last[agent.ModelOutput](t, w.say(t, w.member, agent.Ask{Text: "please close the month and echo it"}), agent.EntryModelOutput)
	if len(answer.Suggestions) != 2 || answer.Suggestions[0].Name != "close-month" {
		t.Errorf("suggestions %+v", answer.Suggestions)
	}
}

func TestAConversationIsItsMembersOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	for name, actor := range map[string]capability.Actor{"an admin": w.admin, "a viewer": w.viewer, "a stranger": w.other, "nobody": {}} {
		if _, err := w.agent.Conversation(t.Context(), actor, conv.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := w.agent.Begin(t.Context(), actor, conv.ID, agent.Ask{Text: "hello"}); err == nil {
			t.Errorf("%s speaks in it", name)
		}
		if err := w.agent.DeleteConversation(t.Context(), actor, conv.ID); err == nil {
			t.Errorf("%s deletes it", name)
		}
	}
	if err := w.agent.DeleteConversation(t.Context(), w.member, conv.ID); err != nil {
		t.Error(err)
	}
	if _, err := w.agent.Conversation(t.Context(), w.member, conv.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("after deletion: %v", err)
	}
}

func TestOneTurnAtATimeAndStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "wait", "import time\ntime.sleep(300)\nprint('{}')\n", func(spec map[string]any) { spec["timeoutSec"] = 300 })
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	_, done, err := w.agent.Begin(t.Context(), w.member, conv.ID, agent.Ask{Tool: "code__wait"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.agent.Begin(t.Context(), w.member, conv.ID, agent.Ask{Text: "more"}); !fault.HasCode(err, "turn_running") {
		t.Errorf("a second message at the same time: %v", err)
	}
	var stops sync.WaitGroup
	for range 3 { // the button, pressed more than once
		stops.Go(func() {
			if err := w.agent.StopTurn(t.Context(), w.member, conv.ID); err != nil {
				t.Error(err)
			}
		})
	}
	stops.Wait()
	<-done
	entries := w.ledger(t, w.member, conv.ID)
	if entries[len(entries)-1].Kind != agent.EntryStop {
		t.Errorf("the turn ended with %v", kinds(entries))
	}
	if w.agent.Running(conv.ID) {
		t.Error("still running")
	}
}

// The world's second service has no sandbox, so that its code tools panic.
func TestAPanicEndsOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "sum", "print('{}')\n", nil)
	broken := agent.New(agent.Parts{DB: w.db, Catalog: w.store, Workspace: w.ws, Secrets: w.sec, Log: slog.New(slog.DiscardHandler)})
	if err := broken.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broken.Stop)
	<-broken.Started()
	conv, err := broken.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	_, done, err := broken.Begin(t.Context(), w.member, conv.ID, agent.Ask{Tool: "code__sum"})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	entries := w.ledger(t, w.member, conv.ID)
	last := entries[len(entries)-1]
	if last.Kind != agent.EntryToolResult || !strings.Contains(string(last.Payload), `"internal"`) {
		t.Errorf("the call ended with %s %s", last.Kind, last.Payload)
	}
}

func TestCallsOfADeadServerAreSettledOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	call := uuid.Must(uuid.NewV7())
	w.exec(t, `INSERT INTO running_calls (call, conversation, turn, tool, ends_by) VALUES ($1, $2, $1, 'code__x', now() + interval '1 hour')`, call, conv.ID)
	if n, err := w.agent.Settle(t.Context(), false); err != nil || n != 0 {
		t.Errorf("beside other servers a call within its time is theirs: %d, %v", n, err)
	}
	var settled int
	var mu sync.Mutex
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			n, err := w.agent.Settle(t.Context(), true)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			settled += n
			mu.Unlock()
		})
	}
	both.Wait()
	entries := w.ledger(t, w.member, conv.ID)
	if settled != 1 || len(entries) != 1 {
		t.Fatalf("settled %d times, ledger %v", settled, kinds(entries))
	}
	if got := last[agent.ToolResult](t, entries, agent.EntryToolResult); got.Code != "interrupted" {
		t.Errorf("%+v", got)
	}
}
