package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// request is a call of the echo by hand, in a turn of its own.
func (w *world) request(t testing.TB) agent.Request {
	t.Helper()
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	return agent.Request{
		Actor: w.member, Conversation: conv.ID, Turn: uuid.Must(uuid.NewV7()), Name: "code__echo", Ref: "a",
		Arguments: json.RawMessage(`{"n":1}`), Caller: agent.CallerDirect, Mode: capability.ModeAsk,
	}
}

// direct makes that call with other arguments against a snapshot.
func (w *world) direct(t testing.TB, snap *registry.Snapshot, arguments string) (agent.ToolResult, []agent.Entry) {
	t.Helper()
	req := w.request(t)
	req.Arguments = json.RawMessage(arguments)
	result, err := w.agent.Call(t.Context(), snap, req)
	if err != nil {
		t.Fatal(err)
	}
	return result, w.ledger(t, w.member, req.Conversation)
}

const (
	saysAllow = `echo '{"decision":"allow"}'`
	saysDeny  = `echo '{"decision":"deny","reason":"not today"}'`
)

func TestSeveralHooks(t *testing.T) {
	t.Parallel()
	add := func(n string) string { return `printf '{"decision":"rewrite","arguments":{"n":%s}}' ` + n }
	for name, tt := range map[string]struct {
		hooks []string // a, b, …
		mode  capability.FailureMode
		said  []string
		got   string // what the tool was given, "" where it did not run
	}{
		"the second denies":     {[]string{saysAllow, "exit 2"}, "", []string{"a allow", "b deny"}, ""},
		"the first denies":      {[]string{"exit 2", saysAllow}, "", []string{"a deny"}, ""},
		"both allow":            {[]string{saysAllow, saysAllow}, "", []string{"a allow", "b allow"}, `{"n":1}`},
		"a rewrite is seen":     {[]string{add("9007199254740993"), `grep -q '"tool_input":{"n":9007199254740993}' && exit 0; exit 2`}, "", []string{"a rewrite", "b allow"}, `{"n":9007199254740993}`},
		"the last rewrite runs": {[]string{add("2"), add("3")}, "", []string{"a rewrite", "b rewrite"}, `{"n":3}`},
		"rewritten and denied":  {[]string{add("2"), saysDeny}, "", []string{"a rewrite", "b deny"}, ""},
		"against the schema":    {[]string{add(`'"x"'`)}, "", []string{"a deny hook_rewrote_badly"}, ""},
		"an unknown argument":   {[]string{`echo '{"updatedInput":{"m":1}}'`}, capability.Advisory, []string{"a allow hook_rewrote_badly"}, `{"n":1}`},
		"badly after well":      {[]string{add("2"), add(`'"x"'`)}, capability.Advisory, []string{"a rewrite", "b allow hook_rewrote_badly"}, `{"n":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.echo(t)
			for i, code := range tt.hooks {
				w.hook(t, w.admin, string(rune('a'+i)), capability.EventBeforeTool, code, map[string]any{"failureMode": tt.mode, "matcher": "code__*"})
			}
			w.hook(t, w.admin, "elsewhere", capability.EventBeforeTool, "exit 2", map[string]any{"matcher": "mcp__*"})
			result, entries := w.direct(t, w.bind(t, w.member), `{"n":1}`)
			if diff := cmp.Diff(tt.said, outcomes(t, entries)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.got == "" {
				if ran(entries) || result.Code != "hook_denied" {
					t.Errorf("it ran: %t, %s %s", ran(entries), result.Code, result.Message)
				}
				return
			}
			call := last[agent.ToolCall](t, entries, agent.EntryToolCall)
			if string(call.Arguments) != tt.got || string(result.Structured) != `{"got": `+strings.ReplaceAll(tt.got, ":", ": ")+`}` {
				t.Errorf("it was called with %s and gave %s", call.Arguments, result.Structured)
			}
		})
	}
}

// A hook written for another agent finds the names that it knows, in any of the
// languages.
func TestHooksReadTheFieldsNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.echo(t)
	w.hook(t, w.admin, "python", capability.EventBeforeTool, `import json, sys
e = json.load(sys.stdin)
assert e["hook_event_name"] == "PreToolUse" and e["session_id"] == e["conversation"] and e["permission_mode"] == "default", e
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
    "updatedInput": {"n": e["tool_input"]["n"] + 1}}}))`, map[string]any{"language": "python"})
	w.hook(t, w.admin, "node", capability.EventAfterTool, `const e = JSON.parse(require('fs').readFileSync(0, 'utf8'))
if (e.hook_event_name !== 'PostToolUse' || e.tool_name !== 'code__echo') process.exit(1)
console.log(JSON.stringify({hookSpecificOutput: {additionalContext: 'n was ' + e.tool_response.structuredContent.got.n + '</hook>'}}))`,
		map[string]any{"language": "node", "failureMode": "fail-closed"})
	result, entries := w.direct(t, w.bind(t, w.member), `{"n":1}`)
	if diff := cmp.Diff([]string{"python rewrite", "node allow"}, outcomes(t, entries)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := string(result.Content[len(result.Content)-1])
	if !strings.Contains(text, "n was 2") || strings.Count(text, `\u003c/hook`) != 1 {
		t.Errorf("the model is told %s", text)
	}
}

// What an after hook refuses stays in the ledger, and the model gets the reason.
func TestAResultIsWithheld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.echo(t)
	w.hook(t, w.admin, "dlp", capability.EventAfterTool, `grep -q 4711 && { echo "a customer number" >&2; exit 2; }; exit 0`, nil)
	snap := w.bind(t, w.member)
	for arguments, want := range map[string]string{`{"n":4711}`: "The hook dlp refused this: a customer number", `{"n":1}`: ""} {
		seen, entries := w.direct(t, snap, arguments)
		kept := last[agent.ToolResult](t, entries, agent.EntryToolResult)
		if kept.Withheld != want || kept.IsError || len(kept.Structured) == 0 {
			t.Errorf("%s: kept %+v", arguments, kept)
		}
		if want != "" && (seen.Message != want || seen.Code != "hook_denied" || len(seen.Content)+len(seen.Structured) > 0) {
			t.Errorf("%s: seen %+v", arguments, seen)
		}
	}
}

// A hook that lost its right between the beginning of the turn and the call
// does not run; one that fails closed denies.
func TestAHookThatLostItsRight(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		revoke func(t *testing.T, w *world, id string)
		code   string
	}{
		"given up": {func(t *testing.T, w *world, id string) {
			if _, err := w.ws.Unadopt(t.Context(), w.admin, "acme", id); err != nil {
				t.Fatal(err)
			}
		}, workspace.RevokedAdoption},
		"blocked": {func(t *testing.T, w *world, id string) {
			w.exec(t, `UPDATE capability_versions SET blocked_at = now(), blocked_reason = 'leaks'
				WHERE capability_pk = (SELECT pk FROM capabilities WHERE source = 'acme' AND id = $1)`, id)
		}, workspace.RevokedBlocked},
		"deleted": {func(t *testing.T, w *world, id string) {
			w.exec(t, `UPDATE capabilities SET tombstoned_at = now() WHERE source = 'acme' AND id = $1`, id)
		}, workspace.RevokedGone},
	} {
		for mode, ranAs := range map[capability.FailureMode]string{capability.Advisory: "allow ", capability.FailClosed: "deny "} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.echo(t)
				v := w.hook(t, w.admin, "guard", capability.EventBeforeTool, saysAllow, map[string]any{"failureMode": mode})
				snap := w.bind(t, w.member)
				tt.revoke(t, w, v.ID)
				_, entries := w.direct(t, snap, `{"n":1}`)
				if diff := cmp.Diff([]string{"guard " + ranAs + tt.code}, outcomes(t, entries)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if ran(entries) != (mode == capability.Advisory) {
					t.Errorf("the call ran: %t", ran(entries))
				}
			})
		}
	}
}

// A hook that the member's agent has and cannot run denies what it watches
// where it fails closed, and is left out where it is advisory.
func TestAHookThatCannotRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		breakIt func(t *testing.T, w *world, id string)
		closed  []string
	}{
		"blocked": {func(t *testing.T, w *world, id string) {
			w.exec(t, `UPDATE capability_versions SET blocked_at = now(), blocked_reason = 'leaks'
				WHERE capability_pk = (SELECT pk FROM capabilities WHERE source = 'acme' AND id = $1)`, id)
		}, []string{"guard deny hook_cannot_run"}},
		"deleted": {func(t *testing.T, w *world, id string) {
			w.exec(t, `UPDATE capabilities SET tombstoned_at = now() WHERE source = 'acme' AND id = $1`, id)
		}, []string{"guard deny hook_cannot_run"}},
		"denied by a policy": {func(t *testing.T, w *world, id string) {
			_, err := w.ws.Change(t.Context(), w.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
				c.Policy = append(c.Policy, capability.PolicyRule{Effect: capability.PolicyDeny, Match: "capability:acme/" + id})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"guard deny hook_cannot_run"}},
		"switched off": {func(t *testing.T, w *world, id string) {
			off := false
			if _, err := w.ws.SetSwitch(t.Context(), w.member, capability.CapabilityKey("acme", id), &off); err != nil && !fault.Is(err, fault.Denied) {
				t.Fatal(err)
			}
		}, []string{"guard allow"}}, // he may not
	} {
		for _, mode := range []capability.FailureMode{capability.Advisory, capability.FailClosed} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.echo(t)
				v := w.hook(t, w.admin, "guard", capability.EventBeforeTool, saysAllow, map[string]any{"failureMode": mode})
				tt.breakIt(t, w, v.ID)
				_, entries := w.direct(t, w.bind(t, w.member), `{"n":1}`)
				want := tt.closed
				if mode == capability.Advisory {
					want = nil
				}
				if diff := cmp.Diff(want, outcomes(t, entries)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Without a sandbox no hook runs, and nothing that one guards does.
func TestHooksWithoutASandbox(t *testing.T) {
	w := newWorld(t)
	w.skill(t, w.admin, "review", "Read it.")
	w.hook(t, w.admin, "guard", capability.EventBeforeTool, saysAllow, nil)
	t.Setenv("PATH", t.TempDir())
	runner, err := sandbox.NewRunner(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.agent = agent.New(agent.Parts{DB: w.db, Catalog: w.store, Workspace: w.ws, Secrets: w.sec, Sandbox: runner, Log: slog.New(slog.DiscardHandler)})
	if err := w.agent.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	<-w.agent.Started()
	t.Cleanup(w.agent.Stop)
	entries := w.say(t, w.member, agent.Ask{Text: "/skill:review"})
	if diff := cmp.Diff([]string{"guard deny sandbox_unavailable"}, outcomes(t, entries)); diff != "" || ran(entries) {
		t.Errorf("ran %t (-want +got):\n%s", ran(entries), diff)
	}
}
