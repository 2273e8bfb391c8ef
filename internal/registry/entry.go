package registry

import (
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// EntryKind is what an entry is to the runtime. Environments and delegation
// profiles are no entries: tools use them.
type EntryKind string

const (
	EntryTool    EntryKind = "tool"
	EntrySkill   EntryKind = "skill"
	EntryMCP     EntryKind = "mcp"
	EntryHook    EntryKind = "hook"
	EntryCommand EntryKind = "command"
)

// Origin says where an entry comes from.
type Origin string

const (
	OriginBuiltin Origin = "builtin" // ships with capstore
	OriginAdopted Origin = "adopted" // pinned by the workspace
	OriginMember  Origin = "member"  // the member's own, or switched on by him
	OriginRaw     Origin = "raw"     // a hand-wired server
	OriginLibrary Origin = "library" // a skill of the workspace
	OriginPlugin  Origin = "plugin"  // a part of a plugin, whoever switched it on
)

// Standing says whether an entry can be used, and roughly why not; the reason
// beside it says it exactly.
type Standing string

const (
	Usable     Standing = "usable"
	Failing    Standing = "failing" // callable, and the last demand of the server failed
	NeedsSetup Standing = "needs_setup"
	Off        Standing = "off"
	Shadowed   Standing = "shadowed"
	Held       Standing = "held"
)

// Callable reports whether a turn may try to use the entry.
func (s Standing) Callable() bool { return s == Usable || s == Failing }

// Resolution says whether what an entry was declared as is still there.
type Resolution string

const (
	Available Resolution = "available"
	Retired   Resolution = "retired" // revoked: blocked, tombstoned, out of reach, or gone from the world
)

// Entry is one capability as the runtime sees it.
type Entry struct {
	Kind     EntryKind
	Origin   Origin
	Standing Standing
	Row      workspace.Row
	// Serves are the domains that it declares; none means that it is never
	// narrowed away.
	Serves []string
	// Tools are the functions that the entry puts before a model. An MCP
	// server whose catalogue nobody has asked for yet has the declared ones,
	// without a schema.
	Tools []Tool
	// Trouble is why the server could not be asked the last time; "" when it
	// could, or was not yet. TroubleCode is the same as a closed code, and all
	// of it that the digest covers.
	Trouble, TroubleCode string
	// Notes are what was odd about the server's list and tolerated, for people.
	Notes []string
	// Asked says that the server has told what it has.
	Asked bool
	// Always marks the built-in ways to find and read the rest: a turn has
	// them loaded whatever else it has.
	Always bool

	guide bool   // one of the orientation, which calls of its own lead through
	mark  string // digest of all that a turn can see of the entry
}

// Name is the capability's name.
func (e *Entry) Name() string { return e.Row.Name }

// Key is the entry's key in the world.
func (e *Entry) Key() capability.Key { return e.Row.Key }

// Resolution says whether the entry is still there to be used.
func (e *Entry) Resolution() Resolution {
	if e.Row.Held == capability.HeldGone || e.Row.Held == capability.HeldBlocked {
		return Retired
	}
	return Available
}

// Reason is the closed code of why the entry stands as it does.
func (e *Entry) Reason() string {
	if e.Standing == Failing {
		return e.TroubleCode
	}
	return string(e.Row.Reason)
}

// Tool is one function under the name that the model sees.
type Tool struct {
	Name        string // runtime name, unique in the snapshot
	Raw         string // the name at its origin
	Title       string
	Description string
	Schema      json.RawMessage // as its author wrote it; nil while it is not known
	Write       bool
	Guarded     bool   // asks even where writes do not
	Allowed     bool   // false for a write that nobody opted into
	Refused     string // why a tool of the server cannot be used; "" for the others
	Held        bool   // Refused because its definition waits to be accepted
}

// Callable reports whether a call of the function can get through the door.
func (t *Tool) Callable() bool { return t.Allowed && t.Refused == "" }
