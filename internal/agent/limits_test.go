package agent_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/capability"
)

// A run calls what its limits let through, by tool and by arguments, and
// whatever is outside never starts.
func TestRunLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	snap := w.bind(t, w.member)
	docs := []capability.ArgumentCondition{{Path: "/path", Op: capability.OpMatches, Value: json.RawMessage(`"docs/*"`)}}
	only := func(allow ...agent.Allowance) agent.RunLimit { return agent.RunLimit{Allow: allow} }
	for name, tc := range map[string]struct {
		limits    []agent.RunLimit
		arguments string
		code      string
	}{
		"none":                   {nil, `{}`, ""},
		"its tool":               {[]agent.RunLimit{only(agent.Allowance{Tool: "code__*"})}, `{}`, ""},
		"another tool":           {[]agent.RunLimit{only(agent.Allowance{Tool: "mcp__*"})}, `{}`, "outside_limits"},
		"nothing":                {[]agent.RunLimit{only()}, `{}`, "outside_limits"},
		"its path":               {[]agent.RunLimit{only(agent.Allowance{Tool: "*", Arguments: docs})}, `{"path":"docs/a.md"}`, ""},
		"another path":           {[]agent.RunLimit{only(agent.Allowance{Tool: "*", Arguments: docs})}, `{"path":"src/a.go"}`, "outside_limits"},
		"no path":                {[]agent.RunLimit{only(agent.Allowance{Tool: "*", Arguments: docs})}, `{}`, "outside_limits"},
		"a path of another type": {[]agent.RunLimit{only(agent.Allowance{Tool: "*", Arguments: docs})}, `{"path":1}`, "outside_limits"},
		"one of two allowances":  {[]agent.RunLimit{only(agent.Allowance{Tool: "mcp__*"}, agent.Allowance{Tool: "code__echo"})}, `{}`, ""},
		"one of two limits":      {[]agent.RunLimit{only(agent.Allowance{Tool: "*"}), only(agent.Allowance{Tool: "mcp__*"})}, `{}`, "outside_limits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := w.call(t, "code__echo", tc.arguments)
			req.Limits = tc.limits
			got, err := w.agent.Call(t.Context(), snap, req)
			if err != nil || got.Code != tc.code {
				t.Errorf("%+v, %v, want %q", got, err, tc.code)
			}
			for _, e := range w.ledger(t, w.member, req.Conversation) {
				if e.Kind == agent.EntryToolCall && tc.code != "" {
					t.Errorf("it started: %s", e.Payload)
				}
			}
		})
	}
}
