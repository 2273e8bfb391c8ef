package capability_test

import (
	"testing"

	"capstore/internal/capability"
)

func TestWhatEachKindIs(t *testing.T) {
	t.Parallel()
	type facts struct {
		channel         capability.Channel
		adoptable, runs bool
	}
	want := map[capability.Kind]facts{
		capability.KindMCP:         {capability.ChannelTool, true, false},
		capability.KindCode:        {capability.ChannelTool, true, true},
		capability.KindSkill:       {capability.ChannelSkill, false, false},
		capability.KindEnvironment: {capability.ChannelNone, false, false},
		capability.KindDelegation:  {capability.ChannelNone, false, false},
		capability.KindHook:        {capability.ChannelHook, true, true},
		capability.KindCommand:     {capability.ChannelCommand, true, false},
		"plugin":                   {capability.ChannelNone, false, false},
	}
	for kind, w := range want {
		if got := (facts{kind.Channel(), kind.Adoptable(), kind.RunsCode()}); got != w {
			t.Errorf("%s: %+v", kind, got)
		}
		if kind.Known() != (kind != "plugin") {
			t.Errorf("%s: known %v", kind, kind.Known())
		}
	}
	if len(want)-1 != len(capability.Kinds) {
		t.Error("a kind is missing from this table")
	}
}

func TestHooksWatchByGlob(t *testing.T) {
	t.Parallel()
	for matcher, want := range map[string]bool{"": true, "*": true, "mcp__crm__*": true, "mcp__crm__list": true, "code__*": false, "MCP__*": false} {
		if got := (&capability.HookSpec{Matcher: matcher}).Matches("mcp__crm__list"); got != want {
			t.Errorf("%q: %v", matcher, got)
		}
	}
}

func TestNothingChangedHasNoEffect(t *testing.T) {
	t.Parallel()
	for _, kind := range capability.Kinds {
		if got := capability.Effects(sample(t, kind), sample(t, kind)); len(got) > 0 {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}
