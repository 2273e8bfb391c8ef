package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capstore/internal/capability"
)

// SurfaceOptions bound what a turn has loaded at once.
type SurfaceOptions struct {
	// Budget is how many tokens the loaded definitions may take, roughly; 0
	// means 8,000: room for a workspace's own tools in a small model's context.
	Budget int
}

const defaultBudget = 8_000

// Surface is what one turn has before it of the tools that it may call: every
// admitted tool is callable; those that are loaded stand in the request with
// their schemas, the others by name in the catalogue. It belongs to one turn
// and is not safe for concurrent use.
type Surface struct {
	*admission
	reading   []Domain
	loaded    []bool
	predicted []bool // loaded by the reading, before anything was promoted
	counted   map[int32]bool
}

// Surface chooses what a turn that comes in by the door has loaded: the
// built-ins; what serves a domain that the message asks for; what declares no
// domain. Above the budget the rest is deferred, undeclared ones last. Nothing
// is decided by it but that.
func (s *Set) Surface(on capability.Surface, message string, o SurfaceOptions) *Surface {
	a := s.admit(on)
	out := &Surface{admission: a, reading: Reading(message), loaded: make([]bool, len(a.tools))}
	out.choose(cmp.Or(o.Budget, defaultBudget))
	out.predicted = slices.Clone(out.loaded)
	return out
}

func (s *Surface) choose(budget int) {
	left := budget
	load := func(wanted func(*offered) bool) {
		for i := range s.tools {
			o := &s.tools[i]
			if s.loaded[i] || !o.known || !wanted(o) || !s.all && o.tokens > left {
				continue
			}
			s.loaded[i] = true
			left -= o.tokens
		}
	}
	undeclared := func(o *offered) bool { return len(o.entry.Serves) == 0 }
	serving := func(o *offered) bool {
		return len(s.reading) == 0 || slices.ContainsFunc(o.entry.Serves, func(d string) bool { return slices.Contains(s.reading, d) })
	}
	if s.all {
		load(func(*offered) bool { return true })
		return
	}
	load(undeclared)
	load(serving)
}

// Reading is the domains that the message was read to ask for; none means
// that it narrowed nothing.
func (s *Surface) Reading() []Domain { return s.reading }

// Always are the built-ins, which every request has.
func (s *Surface) Always() []*Tool { return s.always }

// Loaded are the tools whose definitions stand in the request beside the
// built-ins, by name.
func (s *Surface) Loaded() []*Tool { return s.which(true) }

// Deferred are the other tools whose definitions are known, by name: what a
// provider with deferral of its own is given as such.
func (s *Surface) Deferred() []*Tool { return s.which(false) }

func (s *Surface) which(loaded bool) []*Tool {
	out := make([]*Tool, 0, len(s.tools))
	for i := range s.tools {
		if s.loaded[i] == loaded && s.tools[i].known {
			out = append(out, s.tools[i].Tool)
		}
	}
	return out
}

// IsLoaded reports whether the tool stands in the request.
func (s *Surface) IsLoaded(name string) bool {
	i, ok := s.byName[name]
	return ok && s.loaded[i]
}

// Admits reports whether a call of the name may come in by this door at all:
// a tool, a built-in, or a skill by its name.
func (s *Surface) Admits(name string) bool {
	if _, ok := s.byName[name]; ok {
		return true
	}
	return slices.ContainsFunc(s.always, func(t *Tool) bool { return t.Name == name }) ||
		slices.ContainsFunc(s.skills, func(e *Entry) bool { return e.Row.Name == name })
}

// Catalogue lists every admitted tool by name and first sentence, for the part
// of the prompt that stays; "" when all of them are loaded anyway.
func (s *Surface) Catalogue() string { return s.catalogue() }

// Skills lists the admitted skills by name and what they are for, for the part
// of the prompt that stays; "" when there are none.
func (s *Surface) Skills() string {
	var b strings.Builder
	for _, e := range s.skills {
		fmt.Fprintf(&b, "- %s: %s\n", oneLine(e.Row.Name, maxName), oneLine(e.Row.Description, 2*maxSentence))
	}
	return b.String()
}

// Servers lists the servers whose tools nobody has asked for yet, with what
// their authors say that they provide; they are reached through the broker.
func (s *Surface) Servers() string {
	var b strings.Builder
	for i := range s.set.Entries {
		e := &s.set.Entries[i]
		if e.Kind != EntryMCP || !e.Standing.Callable() || e.Asked {
			continue
		}
		b.WriteString("- " + oneLine(e.Row.Name, maxName))
		if text := firstSentence(e.Row.Description); text != "" {
			b.WriteString(": " + text)
		}
		var raws []string
		for _, t := range e.Tools {
			raws = append(raws, oneLine(t.Raw, maxName))
		}
		if len(raws) > 0 {
			b.WriteString(" (" + strings.Join(raws, ", ") + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Promote loads the tools for the rest of the turn. Names that are not
// admitted, or whose definitions are not known, are passed over.
func (s *Surface) Promote(names ...string) {
	for _, name := range names {
		if i, ok := s.byName[name]; ok && s.tools[i].known {
			s.loaded[i] = true
		}
	}
}

// Misread reports, once per tool and turn, that a tool is being used which the
// reading had not foreseen: to be counted, since the domains that it declares
// may be wrong.
func (s *Surface) Misread(name string) bool {
	i, ok := s.byName[name]
	if !ok || s.predicted[i] || !s.tools[i].known || s.counted[i] {
		return false
	}
	if s.counted == nil {
		s.counted = map[int32]bool{}
	}
	s.counted[i] = true
	return true
}

// outline names the servers and how much each has, where even the names of the
// tools would be too many.
func (a *admission) outline() string {
	counts, rest := map[string]int{}, 0
	for i := range a.tools {
		if e := a.tools[i].entry; e.Kind == EntryMCP {
			counts[oneLine(e.Row.Name, maxName)]++
		} else {
			rest++
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if b.Len() > maxCatalogue {
			break
		}
		fmt.Fprintf(&b, "- %s: %d tools\n", name, counts[name])
	}
	if rest > 0 {
		fmt.Fprintf(&b, "- %d other tools\n", rest)
	}
	return b.String()
}
