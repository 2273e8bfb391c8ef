package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/netguard"
	"capstore/internal/workspace"
)

// Hooks have their say about what a model wants: one rewrites, one that crashes
// and is fail-closed denies, and the model is told why. A message that one
// refuses reaches no model, then or later.
func TestHooksAroundAModel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.code(t, w.member, "echo", echo, nil)
		w.code(t, w.member, "guarded", echo, nil)
		w.hook(t, w.admin, "rewriter", capability.EventBeforeTool,
			`echo '{"decision":"rewrite","arguments":{"n":18446744073709551617}}'`, map[string]any{"matcher": "code__echo"})
		w.hook(t, w.admin, "crasher", capability.EventBeforeTool, `exit 3`, map[string]any{"matcher": "code__guarded", "failureMode": "fail-closed"})
		w.hook(t, w.admin, "censor", capability.EventUserPromptSubmit,
			`grep -q codeword && echo '{"decision":"deny","reason":"No codewords."}'; exit 0`, nil)
		s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
			if len(r.Last().Results) == 0 && strings.Contains(r.Last().Text(), "go") {
				return modeltest.Call("1", "code__echo", `{"n":1}`).Call("2", "code__guarded", `{}`)
			}
			return modeltest.Say("Done.")
		})
		w.think(t, p, s)
		conv := w.conversation(t)
		<-w.begin(t, conv, "the codeword is swordfish")
		if got := last[agent.Failure](t, w.ledger(t, w.member, conv), agent.EntryError); got.Code != "hook_denied" || !strings.Contains(got.Message, "No codewords.") {
			t.Errorf("the message: %+v", got)
		}
		<-w.begin(t, conv, "go")
		got := map[string]agent.ToolResult{}
		for _, r := range results(t, w.ledger(t, w.member, conv)) {
			got[r.Name] = r
		}
		if r := got["code__echo"]; r.IsError || string(r.Structured) != `{"n":18446744073709551617}` {
			t.Errorf("rewritten: %+v", r)
		}
		if r := got["code__guarded"]; !r.IsError || r.Code != "hook_denied" {
			t.Errorf("crashed: %+v", r)
		}
		for i, r := range s.Requests() {
			if strings.Contains(string(r.Raw), "swordfish") {
				t.Errorf("request %d tells what a hook refused", i+1)
			}
		}
	})
}

// operations is a control plane of two operations.
type operations struct {
	mu     sync.Mutex
	called []string
}

func (o *operations) Tools(role capability.Role, _ capability.Scope) []agent.ControlTool {
	tools := []agent.ControlTool{{Name: "capstore__look", Description: "Looks at the workspace.", Schema: json.RawMessage(`{"type":"object"}`), ReadOnly: true}}
	if role == capability.RoleAdmin || role == capability.RoleMember {
		tools = append(tools, agent.ControlTool{Name: "capstore__wipe", Description: "Deletes something of the workspace.", Schema: json.RawMessage(`{"type":"object","required":["id"]}`), Guarded: true})
	}
	return tools
}

func (o *operations) Invoke(_ context.Context, actor capability.Actor, name string, arguments json.RawMessage) (json.RawMessage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.called = append(o.called, name+" "+string(arguments))
	if strings.Contains(string(arguments), "missing") {
		return nil, fault.Missing()
	}
	return json.RawMessage(`{"by":"` + string(actor.Role) + `"}`), nil
}

// The control plane is called like any other tool: checked, asked for,
// recorded, and told what went wrong.
func TestTheControlPlaneAsTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	guard, err := netguard.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	control := &operations{}
	server := agent.New(agent.Parts{
		DB: w.db, Catalog: w.store, Workspace: w.ws, Secrets: w.sec, Guard: guard, Control: control, Log: slog.New(slog.DiscardHandler),
	})
	if err := server.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	<-server.Started()
	t.Cleanup(server.Stop)
	w.config(t, func(c *capability.AgentConfig) { c.PermissionMode = capability.ModeAuto })
	s := modeltest.New(t,
		modeltest.Call("1", "capstore__look", `{}`).Call("2", "capstore__wipe", `{}`).Call("3", "capstore__look", `{"id":"missing"}`),
		modeltest.Call("4", "capstore__wipe", `{"id":"x"}`),
		modeltest.Say("Done."))
	w.think(t, workspace.ProviderAnthropic, s)
	conv := w.conversation(t)
	_, done, err := server.Begin(t.Context(), w.member, conv, agent.Ask{Text: "manage the workspace"})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	asked := last[agent.ApprovalAsked](t, w.ledger(t, w.member, conv), agent.EntryApprovalAsked)
	if asked.Tool != "capstore__wipe" || w.state(t, conv) != agent.TurnWaiting {
		t.Fatalf("a guarded operation did not wait: %+v", results(t, w.ledger(t, w.member, conv)))
	}
	entries := w.answer(t, server, w.approval(t, asked.Approval), agent.Word{Answer: capability.AnswerOnce})
	codes := map[string]string{}
	for _, r := range results(t, entries) {
		codes[r.Ref] = r.Code
	}
	if diff := cmp.Diff(map[string]string{"1/1": "", "1/2": "invalid", "1/3": "not_found", "2/4": ""}, codes); diff != "" {
		t.Error(diff)
	}
	slices.Sort(control.called)
	if diff := cmp.Diff([]string{`capstore__look {"id":"missing"}`, "capstore__look {}", `capstore__wipe {"id":"x"}`}, control.called); diff != "" {
		t.Error(diff)
	}
	offered := s.Requests()[0].ToolNames()
	if !slices.Contains(offered, "capstore__look") || !slices.Contains(offered, "capstore__wipe") {
		t.Errorf("offered %v", offered)
	}
}
