package registry

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"capstore/internal/capability"
)

// Snapshot is an immutable set of entries under its number. Epoch orders the
// snapshots of one world; Digest is equal exactly when what a turn could see
// is equal.
type Snapshot struct {
	*Set
	Epoch int64

	refs atomic.Int64 // the world that it is current in, and each binding
}

// Set is what a snapshot holds. Members of a workspace whose agents carry the
// same share one.
type Set struct {
	Digest  string
	Mode    capability.PermissionMode
	Config  capability.AgentConfig // as it was; do not change it
	Entries []Entry                // by kind, then key

	full   string // digest of everything, what no turn sees included
	aside  string // digest of what only people are told
	tools  map[string]place
	skills map[string]int
	keys   map[capability.Key]int

	admitted sync.Map // capability.Surface → *admission
}

type place struct{ entry, tool int }

// newSet sorts the entries and indexes their callable names. The entries must
// not be changed afterwards.
func newSet(config capability.AgentConfig, aside string, entries []Entry) *Set {
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return strings.Compare(string(a.Row.Key), string(b.Row.Key))
	})
	s := &Set{
		Mode: config.PermissionMode, Config: config, Entries: entries, aside: aside,
		tools: map[string]place{}, skills: map[string]int{}, keys: make(map[capability.Key]int, len(entries)),
	}
	for i := range entries {
		s.index(i)
	}
	s.Digest, s.full = digests(config, aside, entries)
	return s
}

func (s *Set) index(i int) {
	e := &s.Entries[i]
	s.keys[e.Row.Key] = i
	switch {
	case !e.Standing.Callable() || e.guide:
	case e.Kind == EntrySkill:
		s.skills[e.Row.Name] = i
	default:
		for j, t := range e.Tools {
			if _, taken := s.tools[t.Name]; !taken && t.Refused == "" {
				s.tools[t.Name] = place{i, j}
			}
		}
	}
}

// Tool finds a callable function by its runtime name. Names are looked up,
// never taken apart.
func (s *Set) Tool(name string) (Entry, Tool, bool) {
	p, ok := s.tools[name]
	if !ok {
		return Entry{}, Tool{}, false
	}
	return s.Entries[p.entry], s.Entries[p.entry].Tools[p.tool], true
}

// Builtin finds one of the built-in ways to find and to read the rest, which
// are no tools that the door finds by name.
func (s *Set) Builtin(name string) (Tool, bool) {
	i, ok := s.keys[capability.BuiltinKey(name)]
	if !ok || !s.Entries[i].guide {
		return Tool{}, false
	}
	return s.Entries[i].Tools[0], true
}

// Withheld finds the entry that has a function of the name which cannot be
// called now: switched off, shadowed, blocked, gone or in need of setup.
func (s *Set) Withheld(name string) (Entry, bool) {
	i := slices.IndexFunc(s.Entries, func(e Entry) bool {
		return !e.Standing.Callable() && slices.ContainsFunc(e.Tools, func(t Tool) bool { return t.Name == name })
	})
	if i < 0 {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// HeldTool finds the entry that has a tool of the name whose definition waits
// to be accepted.
func (s *Set) HeldTool(name string) (Entry, bool) {
	i := slices.IndexFunc(s.Entries, func(e Entry) bool {
		return slices.ContainsFunc(e.Tools, func(t Tool) bool { return t.Held && t.Name == name })
	})
	if i < 0 {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Skill finds a usable skill by its name.
func (s *Set) Skill(name string) (Entry, bool) {
	i, ok := s.skills[name]
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Find returns the entry of the key, usable or not.
func (s *Set) Find(key capability.Key) (Entry, bool) {
	i, ok := s.keys[key]
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// ToolNames lists every callable function, sorted.
func (s *Set) ToolNames() []string { return slices.Sorted(maps.Keys(s.tools)) }

// SkillNames lists every usable skill, sorted.
func (s *Set) SkillNames() []string { return slices.Sorted(maps.Keys(s.skills)) }
