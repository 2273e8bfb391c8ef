package agent_test

import (
	"strings"
	"testing"

	"capstore/internal/agent"
)

// A result with a NUL, half a character or backslashes ends like another one,
// is kept as it came and is counted.
func TestResultsWithEscapesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.admin, "odd", `print(r'{"a":"\u0000 \ud800 \\u0000 \" \\"}')`, nil)
	entries := w.say(t, w.member, agent.Ask{Tool: "code__odd"})
	got := last[agent.ToolResult](t, entries, agent.EntryToolResult)
	if got.IsError || !strings.Contains(string(got.Structured), `\u0000`) {
		t.Errorf("%+v", got)
	}
	var tool string
	if err := w.db.QueryRow(t.Context(), `SELECT tool FROM call_figures WHERE NOT failed`).Scan(&tool); err != nil || tool != "code__odd" {
		t.Errorf("counted: %q, %v", tool, err)
	}
}
