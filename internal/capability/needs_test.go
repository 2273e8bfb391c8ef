package capability_test

import (
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

func TestRequirements(t *testing.T) {
	t.Parallel()
	rows := []capability.Carried{
		{Key: "capability:acme/review", Enabled: true, Requires: []string{"acme/git", "mcp__ci__run", "web_search"}},
		{Key: "capability:acme/git", Enabled: true, Provides: []string{"mcp__git__log"}},
		{Key: "mcp:ci", Enabled: true, Provides: []string{"mcp__ci__run"}},
		{Key: "mcp:ci2", Enabled: true, Provides: []string{"mcp__ci__run"}},
		{Key: "default:web_search", Provides: []string{"web_search"}},
		{Key: "skill:off", Requires: []string{"acme/none"}},
		{Key: "skill:log", Enabled: true, Requires: []string{"mcp__git__log"}},
	}
	if diff := cmp.Diff(map[capability.Key][]string{"capability:acme/review": {"web_search"}}, capability.Unmet(rows)); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[capability.Key][]capability.Key{
		"capability:acme/git":    {"capability:acme/review", "skill:log"},
		"mcp:ci":                 nil, // the other server provides it as well
		"default:web_search":     nil, // off already
		"capability:acme/review": nil,
	} {
		if diff := cmp.Diff(want, capability.LeansOn(rows, key)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}
