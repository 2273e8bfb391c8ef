package registry

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"capstore/internal/capability"
	"capstore/internal/toolsearch"
)

// admission is what one door lets through of a set, made once for both. It is
// a ceiling: everything later chooses among it and adds nothing.
type admission struct {
	set    *Set
	always []*Tool
	tools  []offered // by name
	byName map[string]int32
	skills []*Entry // by name
	tokens int
	all    bool // small, or not to be sliced: everything is loaded

	catalogue func() string
	index     func() *toolsearch.Index
}

// offered is an admitted tool. Its loading is a matter of the turn.
type offered struct {
	*Tool
	entry  *Entry
	tokens int
	known  bool // its schema is
}

const (
	// sliceFrom is the number of tools from which on a turn has only part of
	// them loaded.
	sliceFrom = 20
	// perToken is roughly how many bytes of a definition make a token.
	perToken = 4
)

func (s *Set) admit(on capability.Surface) *admission {
	if a, ok := s.admitted.Load(on); ok {
		return a.(*admission)
	}
	a, _ := s.admitted.LoadOrStore(on, newAdmission(s, on))
	return a.(*admission)
}

func newAdmission(s *Set, on capability.Surface) *admission {
	a := &admission{set: s, tools: make([]offered, 0, len(s.tools)), byName: make(map[string]int32, len(s.tools))}
	rule, ruled := s.Config.Channels[on]
	ruled = ruled && (len(rule.Allow) > 0 || len(rule.Deny) > 0)
	admits := func(name string) bool { return !ruled || s.Config.Admits(on, name) }
	for i := range s.Entries {
		switch e := &s.Entries[i]; {
		case !e.Standing.Callable():
		case e.Always:
			a.always = append(a.always, &e.Tools[0])
		case e.Kind == EntrySkill:
			if admits(capability.SkillName(e.Row.Name)) {
				a.skills = append(a.skills, e)
			}
		case e.Kind == EntryTool || e.Kind == EntryMCP:
			a.take(i, e, admits)
		}
	}
	if ruled {
		a.renameSkills()
	}
	slices.SortFunc(a.tools, func(x, y offered) int { return strings.Compare(x.Name, y.Name) })
	for i := range a.tools {
		a.byName[a.tools[i].Name] = int32(i)
	}
	slices.SortFunc(a.skills, func(x, y *Entry) int {
		return cmp.Or(strings.Compare(x.Row.Name, y.Row.Name), strings.Compare(string(x.Row.Key), string(y.Row.Key)))
	})
	a.all = s.Config.Slice == capability.SliceOff || len(a.tools) < sliceFrom
	a.catalogue, a.index = sync.OnceValue(a.listing), sync.OnceValue(a.searchable)
	return a
}

// renameSkills has the built-ins name only the skills that this door lets
// through.
func (a *admission) renameSkills() {
	var kept []Entry
	for i := range a.set.Entries {
		if e := &a.set.Entries[i]; e.Kind == EntryMCP || slices.Contains(a.skills, e) {
			kept = append(kept, *e)
		}
	}
	a.always = slices.DeleteFunc(a.always, func(t *Tool) bool { _, guide := a.set.Builtin(t.Name); return guide })
	for _, e := range orientation(kept) {
		a.always = append(a.always, &e.Tools[0])
	}
}

// take adds the entry's functions that a model may call here.
func (a *admission) take(i int, e *Entry, admits func(string) bool) {
	for j := range e.Tools {
		t := &e.Tools[j]
		if !t.Callable() || a.set.tools[t.Name] != (place{i, j}) || !admits(t.Name) {
			continue
		}
		o := offered{Tool: t, entry: e, known: t.Schema != nil || e.Kind != EntryMCP}
		o.tokens = (len(t.Name)+len(t.Description)+len(t.Schema))/perToken + 16
		a.tokens += o.tokens
		a.tools = append(a.tools, o)
	}
}

// searchable is the admitted tools as they are searched.
func (a *admission) searchable() *toolsearch.Index {
	docs := make([]toolsearch.Doc, len(a.tools))
	for i := range a.tools {
		o := &a.tools[i]
		docs[i] = toolsearch.Doc{
			ID: string(o.entry.Row.Key), Name: o.Name, Raw: o.Raw, Title: o.Title, Description: cmp.Or(o.Description, o.entry.Row.Description),
			Tags: o.entry.Row.Tags, Domains: o.entry.Serves, Params: toolsearch.ParamsOf(o.Schema),
		}
		if o.entry.Kind == EntryMCP {
			docs[i].Server = o.entry.Row.Name
		}
	}
	return toolsearch.Build(docs)
}

const (
	// maxCatalogue bounds the catalogue in the prompt. Beyond it the tools are
	// listed by name alone, and beyond that by server.
	maxCatalogue = 48 << 10
)

// listing is the catalogue: every admitted tool with its first sentence, in
// the order of names. It depends on nothing but what is admitted, so that it
// stays the same byte for byte while that does.
func (a *admission) listing() string {
	if a.all {
		return ""
	}
	var full, names strings.Builder
	for i := range a.tools {
		o := &a.tools[i]
		if !o.known {
			continue // its server stands among the servers
		}
		names.WriteString("- " + o.Name + "\n")
		full.WriteString("- " + o.Name)
		if text := firstSentence(cmp.Or(o.Description, o.Title, o.entry.Row.Description)); text != "" {
			full.WriteString(": " + text)
		}
		full.WriteByte('\n')
	}
	switch {
	case full.Len() <= maxCatalogue:
		return full.String()
	case names.Len() <= maxCatalogue:
		return names.String()
	}
	return a.outline()
}
