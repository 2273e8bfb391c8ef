// Package registry stands between what a workspace adopted and what a turn
// may call. A snapshot is the immutable answer for one member at one moment:
// a turn binds it from start to end.
package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

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

// Standing says whether an entry can be used, and roughly why not; the row's
// reason says it exactly.
type Standing string

const (
	Usable     Standing = "usable"
	NeedsSetup Standing = "needs_setup"
	Off        Standing = "off"
	Shadowed   Standing = "shadowed"
	Held       Standing = "held"
)

// Entry is one capability as the runtime sees it.
type Entry struct {
	Kind     EntryKind
	Standing Standing
	Row      workspace.Row
	// Tools are the functions that the entry puts before a model. An MCP
	// server whose catalogue nobody has asked for yet has the declared ones,
	// without a schema.
	Tools []Tool
	// Trouble is why the server could not be asked the last time; "" when it
	// could, or was not yet.
	Trouble string
	// Notes are what was odd about the server's list and tolerated, for people.
	Notes []string
}

// Tool is one function under the name that the model sees.
type Tool struct {
	Name        string // runtime name, unique in the snapshot
	Raw         string // the name at its origin
	Description string
	Schema      json.RawMessage // as its author wrote it; nil while it is not known
	Write       bool
	Allowed     bool   // false for a write that nobody opted into
	Refused     string // why a tool of the server cannot be used; "" for the others
}

// Snapshot is an immutable set of entries. Epoch orders the snapshots of one
// world; Digest is equal exactly when what a turn could see is equal.
type Snapshot struct {
	Epoch   int64
	Digest  string
	Mode    capability.PermissionMode
	Entries []Entry

	tools  map[string]place
	skills map[string]int
}

type place struct{ entry, tool int }

// NewSnapshot sorts the entries and indexes their callable names. The entries
// must not be changed afterwards.
func NewSnapshot(epoch int64, mode capability.PermissionMode, entries []Entry) *Snapshot {
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return strings.Compare(string(a.Row.Key), string(b.Row.Key))
	})
	s := &Snapshot{Epoch: epoch, Mode: mode, Entries: entries, tools: map[string]place{}, skills: map[string]int{}}
	for i, e := range entries {
		if e.Standing != Usable {
			continue
		}
		if e.Kind == EntrySkill {
			s.skills[e.Row.Name] = i
			continue
		}
		for j, t := range e.Tools {
			if _, taken := s.tools[t.Name]; !taken && t.Refused == "" {
				s.tools[t.Name] = place{i, j}
			}
		}
	}
	s.Digest = digest(mode, entries)
	return s
}

// digest covers identity, usability, content, domains and the consumer's
// configuration: a change of none of these is no change of the world.
func digest(mode capability.PermissionMode, entries []Entry) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	_ = enc.Encode(mode) // encoding plain data cannot fail
	for _, e := range entries {
		grant := e.Row.Grant
		grant.AdoptedBy, grant.AdoptedAt = "", time.Time{}
		_ = enc.Encode([]any{e.Kind, e.Standing, e.Row.Key, e.Row.Reason, e.Row.Version, e.Row.Digest, grant, e.Tools, e.Trouble})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Tool finds a callable function by its runtime name. Names are looked up,
// never taken apart.
func (s *Snapshot) Tool(name string) (Entry, Tool, bool) {
	p, ok := s.tools[name]
	if !ok {
		return Entry{}, Tool{}, false
	}
	return s.Entries[p.entry], s.Entries[p.entry].Tools[p.tool], true
}

// Withheld finds the entry that has a function of the name which cannot be
// called now: switched off, shadowed, blocked, gone or in need of setup.
func (s *Snapshot) Withheld(name string) (Entry, bool) {
	i := slices.IndexFunc(s.Entries, func(e Entry) bool {
		return e.Standing != Usable && slices.ContainsFunc(e.Tools, func(t Tool) bool { return t.Name == name })
	})
	if i < 0 {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Skill finds a usable skill by its name.
func (s *Snapshot) Skill(name string) (Entry, bool) {
	i, ok := s.skills[name]
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Find returns the entry of the key, usable or not.
func (s *Snapshot) Find(key capability.Key) (Entry, bool) {
	i := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.Row.Key == key })
	if i < 0 {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// ToolNames lists every callable function, sorted.
func (s *Snapshot) ToolNames() []string { return slices.Sorted(maps.Keys(s.tools)) }

// SkillNames lists every usable skill, sorted.
func (s *Snapshot) SkillNames() []string { return slices.Sorted(maps.Keys(s.skills)) }
