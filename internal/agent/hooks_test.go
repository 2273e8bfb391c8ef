package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// hook publishes a Bash hook in the actor's workspace and adopts it there.
func (w *world) hook(t testing.TB, by capability.Actor, name string, event capability.Event, code string, change map[string]any) catalog.VersionInfo {
	t.Helper()
	spec := map[string]any{"type": "hook", "event": event, "language": "bash", "code": code}
	for k, v := range change {
		spec[k] = v
	}
	v := w.publish(t, by, name, spec)
	w.adopt(t, by, v, nil)
	return v
}

// echo is a tool that answers with its arguments.
func (w *world) echo(t testing.TB) {
	t.Helper()
	w.code(t, w.admin, "echo", "import json,sys\nprint(json.dumps({'got': json.loads(sys.stdin.read())}))", func(spec map[string]any) {
		spec["parametersSchema"] = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	})
}

func (w *world) callEcho(t testing.TB) []agent.Entry {
	t.Helper()
	return w.say(t, w.member, agent.Ask{Tool: "code__echo", Arguments: json.RawMessage(`{"n":9007199254740993}`)})
}

// outcomes are what hooks said, as "name decision".
func outcomes(t testing.TB, entries []agent.Entry) []string {
	t.Helper()
	var out []string
	for _, e := range entries {
		if e.Kind == agent.EntryHookOutcome {
			var o agent.HookOutcome
			if err := json.Unmarshal(e.Payload, &o); err != nil {
				t.Fatal(err)
			}
			said := o.Hook + " " + string(o.Decision)
			if o.Failure != nil {
				said += " " + o.Failure.Code
			}
			out = append(out, said)
		}
	}
	return out
}

func ran(entries []agent.Entry) bool { return slices.Contains(kinds(entries), agent.EntryToolCall) }

// Every way in which a hook ends, in each failure mode, before and after a
// call: whether the call runs, and whether the model sees its result.
func TestHowAHookEnds(t *testing.T) {
	t.Parallel()
	const open, closed = "allow exit_nonzero", "deny exit_nonzero"
	for name, tt := range map[string]struct {
		code string
		// said is the decision with its failure, of an advisory hook and of one
		// that fails closed.
		advisory, closed string
	}{
		"silent":           {`cat >/dev/null`, "allow", "allow"},
		"allow":            {`echo '{"decision":"allow"}'`, "allow", "allow"},
		"deny":             {`echo '{"decision":"deny","reason":"no"}'`, "deny", "deny"},
		"nested, capitals": {`echo '{"hookSpecificOutput":{"permissionDecision":"DENY"}}'`, "deny", "deny"},
		"greeting first":   {`echo Welcome; echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`, "deny", "deny"},
		"text after":       {`echo '{"decision":"block"}'; echo bye`, "deny", "deny"},
		"exit 2, silent":   {`exit 2`, "deny", "deny"},
		"exit 2 and words": {`echo no >&2; exit 2`, "deny", "deny"},
		"exit 2 and allow": {`echo '{"decision":"allow"}'; exit 2`, "deny", "deny"},
		"exit 1":           {`exit 1`, open, closed},
		"exit 1 and allow": {`echo '{"decision":"allow"}'; exit 1`, open, closed},
		"exit 1 and deny":  {`echo '{"decision":"deny"}'; exit 1`, closed, closed},
		"exit 127":         {`no-such-program`, open, closed},
		"signal 9":         {`kill -9 $$`, open, closed},
		"too slow":         {`sleep 10`, "allow timeout", "deny timeout"},
		"50 MB":            {`yes 0123456789012345678901234567890123456789 | head -c 50000000`, "allow output_too_large", "deny output_too_large"},
		"broken JSON":      {`echo '{"decision":"deny"'`, "allow hook_unreadable", "deny hook_unreadable"},
		"unknown word":     {`echo '{"decision":"maybe"}'`, "allow hook_unreadable", "deny hook_unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.echo(t)
			for mode, want := range map[capability.FailureMode]string{capability.Advisory: tt.advisory, capability.FailClosed: tt.closed} {
				for _, event := range []capability.Event{capability.EventBeforeTool, capability.EventAfterTool} {
					v := w.hook(t, w.admin, strings.ReplaceAll(fmt.Sprintf("%s-%s", mode, event), "_", "-"), event, tt.code, map[string]any{"failureMode": mode, "timeoutSec": 1})
					entries := w.callEcho(t)
					if diff := cmp.Diff([]string{v.ID + " " + want}, outcomes(t, entries)); diff != "" {
						t.Errorf("%s %s (-want +got):\n%s", mode, event, diff)
					}
					denies := strings.HasPrefix(want, "deny")
					if before := event == capability.EventBeforeTool; ran(entries) != (!before || !denies) {
						t.Errorf("%s %s: the call ran: %t", mode, event, ran(entries))
					} else if !before && (last[agent.ToolResult](t, entries, agent.EntryToolResult).Withheld != "") != denies {
						t.Errorf("%s %s: withheld %q", mode, event, last[agent.ToolResult](t, entries, agent.EntryToolResult).Withheld)
					}
					if _, err := w.ws.Unadopt(t.Context(), w.admin, v.Source, v.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
