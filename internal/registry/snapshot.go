// Package registry stands between what a workspace adopted and what a turn
// may call. A snapshot is the immutable answer for one member at one moment:
// a turn binds it from start to end.
package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"capstore/internal/capability"
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

// Standing says whether an entry can be used, and why not.
type Standing string

const (
	Usable     Standing = "usable"
	NeedsSetup Standing = "needs_setup"
	Off        Standing = "off"
	Shadowed   Standing = "shadowed"
	Held       Standing = "held"
	Failing    Standing = "failing" // still callable
)

// Callable reports whether calls of the entry may be tried.
func (s Standing) Callable() bool { return s == Usable || s == Failing }

// Entry is one capability as the runtime sees it.
type Entry struct {
	Kind EntryKind
	Key  string // what switches, grants and revocations go by
	Name string // the capability's own
	// Description is the author's; a skill's says when to use it.
	Description string
	Origin      string // adopted, raw, published, personal, library or builtin
	Source      string
	ID          string
	Version     string
	Digest      string // of the pinned content
	Foreign     bool   // published by another workspace
	Serves      []string
	Standing    Standing
	Reason      string // closed code; "" when usable
	// Tools are the functions that the entry puts before a model. An MCP
	// server whose catalogue nobody has asked for yet has only declared ones.
	Tools []Tool
	// Bindings say which secret each declared name reads.
	Bindings map[string]string
	// Adoption is the consumer's side; nil for what is not adopted.
	Adoption *capability.Adoption
	// Spec is the pinned content's; nil where the entry is not backed by one.
	Spec capability.Spec
}

// Tool is one function under the name that the model sees.
type Tool struct {
	Name        string // runtime name, unique in the snapshot
	Raw         string // the name at its origin
	Description string
	Schema      json.RawMessage // nil while it is not known
	Write       bool
}

// Snapshot is an immutable set of entries. Epoch orders the snapshots of one
// world; Digest is equal exactly when what a turn could see is equal.
type Snapshot struct {
	Epoch   int64
	Digest  string
	Entries []Entry

	tools  map[string]place
	skills map[string]int
}

type place struct{ entry, tool int }

// NewSnapshot sorts the entries and indexes their callable names. The entries
// must not be changed afterwards.
func NewSnapshot(epoch int64, entries []Entry) *Snapshot {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	s := &Snapshot{Epoch: epoch, Entries: entries, tools: map[string]place{}, skills: map[string]int{}}
	for i, e := range entries {
		if !e.Standing.Callable() {
			continue
		}
		if e.Kind == EntrySkill {
			s.skills[e.Name] = i
		}
		for j, t := range e.Tools {
			if _, taken := s.tools[t.Name]; !taken {
				s.tools[t.Name] = place{i, j}
			}
		}
	}
	s.Digest = digest(entries)
	return s
}

// digest covers identity, usability, content, domains and the consumer's
// configuration: a change of none of these is no change of the world.
func digest(entries []Entry) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, e := range entries {
		// Encoding plain data cannot fail.
		_ = enc.Encode([]any{e.Kind, e.Key, e.Name, e.Origin, e.Version, e.Digest, e.Serves, e.Standing, e.Reason, e.Bindings, e.Adoption, e.Tools})
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

// Skill finds a usable skill by its name.
func (s *Snapshot) Skill(name string) (Entry, bool) {
	i, ok := s.skills[name]
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// ToolNames lists every callable function, sorted.
func (s *Snapshot) ToolNames() []string {
	names := make([]string, 0, len(s.tools))
	for name := range s.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// SkillNames lists every usable skill, sorted.
func (s *Snapshot) SkillNames() []string {
	names := make([]string, 0, len(s.skills))
	for name := range s.skills {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
