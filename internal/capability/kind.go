package capability

import "slices"

// Kind discriminates what an agent can be given. Adding one means one spec
// type, one runtime adapter and one form.
type Kind string

const (
	KindMCP         Kind = "mcp"
	KindCode        Kind = "code"
	KindSkill       Kind = "skill"
	KindEnvironment Kind = "environment"
	KindDelegation  Kind = "delegation"
	KindHook        Kind = "hook"
	KindCommand     Kind = "command"
)

// Kinds lists every kind in the order in which pages show them.
var Kinds = []Kind{KindMCP, KindCode, KindSkill, KindEnvironment, KindDelegation, KindHook, KindCommand}

// Channel is the door through which a kind reaches the agent. Names are
// unique, shadowed and switched per channel.
type Channel string

const (
	ChannelTool    Channel = "tool"
	ChannelSkill   Channel = "skill"
	ChannelHook    Channel = "hook"
	ChannelCommand Channel = "command"
	// ChannelNone is for kinds that tools use and the agent never calls.
	ChannelNone Channel = ""
)

// Channel returns the channel of the kind, ChannelNone for environment,
// delegation and anything unknown.
func (k Kind) Channel() Channel {
	switch k {
	case KindMCP, KindCode:
		return ChannelTool
	case KindSkill:
		return ChannelSkill
	case KindHook:
		return ChannelHook
	case KindCommand:
		return ChannelCommand
	}
	return ChannelNone
}

// Adoptable reports whether a workspace adopts the kind by pin. Skills are
// copied, environments imported and delegation profiles copied instead.
func (k Kind) Adoptable() bool {
	switch k {
	case KindMCP, KindCode, KindHook, KindCommand:
		return true
	}
	return false
}

// RunsCode reports whether the kind carries code that the server runs, which
// is what consent is about.
func (k Kind) RunsCode() bool { return k == KindCode || k == KindHook }

// Known reports whether the kind is one of Kinds.
func (k Kind) Known() bool { return slices.Contains(Kinds, k) }
