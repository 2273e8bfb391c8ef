package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/pg/pgtest"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// A stop that comes before a hook has seen a result keeps it from the model
// where the hook fails closed, also from that of the next turn.
func TestAResultThatNoHookHasSeen(t *testing.T) {
	t.Parallel()
	s := &Service{db: pgtest.New(t), log: slog.New(slog.DiscardHandler)}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for mode, withheld := range map[capability.FailureMode]bool{capability.Advisory: false, capability.FailClosed: true} {
		row := workspace.Row{Kind: capability.KindHook, Spec: &capability.HookSpec{Event: capability.EventAfterTool, FailureMode: mode}}
		row.Candidate = capability.Candidate{Key: "capability:acme/guard", Channel: capability.ChannelHook, Name: "guard"}
		row.Wanted, row.Enabled = true, true
		snap := &registry.Snapshot{Set: &registry.Set{Entries: []registry.Entry{{Kind: registry.EntryHook, Standing: registry.Usable, Row: row}}}}
		b := &bound{Request: Request{Name: "code__echo"}}
		got := s.hooksAfter(stopped, snap, b, ToolResult{Content: []json.RawMessage{textBlock("secret")}})
		if (got.Withheld != "") != withheld || len(got.Content) != 1 {
			t.Errorf("%s: %+v", mode, got)
		}
		if got := afterTakes(snap, "code__echo"); got != 30*time.Second {
			t.Errorf("its hooks take %s", got)
		}
		if got := s.hooksAfter(stopped, snap, b, ToolResult{IsError: true, Code: "stopped"}); got.Withheld != "" {
			t.Errorf("%s: that it was stopped is withheld: %+v", mode, got)
		}
	}
}

// What a hook adds stands after the result, whatever form that has.
func TestWhatAHookAddsToAResult(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ result, want ToolResult }{
		"content":    {ToolResult{Content: []json.RawMessage{textBlock("a")}, Added: "b"}, ToolResult{Content: []json.RawMessage{textBlock("a"), textBlock("b")}, Added: "b"}},
		"structured": {ToolResult{Structured: json.RawMessage(`{"n":1}`), Added: "b"}, ToolResult{Structured: json.RawMessage(`{"n":1}`), Content: []json.RawMessage{textBlock(`{"n":1}`), textBlock("b")}, Added: "b"}},
		"withheld":   {ToolResult{Name: "x", Content: []json.RawMessage{textBlock("a")}, Added: "b", Withheld: "no"}, ToolResult{Name: "x", IsError: true, Code: "hook_denied", Message: "no"}},
		"neither":    {ToolResult{Content: []json.RawMessage{textBlock("a")}}, ToolResult{Content: []json.RawMessage{textBlock("a")}}},
	} {
		if diff := cmp.Diff(tt.want, tt.result.Seen()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
