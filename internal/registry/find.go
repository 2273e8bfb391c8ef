package registry

import (
	"cmp"
	"encoding/json"

	"capstore/internal/capability"
)

// Found is the answer of find_tools. Every tool in it can be called in the
// same turn.
type Found struct {
	Tools []FoundTool `json:"tools"`
	// Unavailable are servers that might have it and cannot be used now; told
	// when nothing fits well.
	Unavailable []Unavailable `json:"unavailable,omitempty"`
	// Unasked are servers whose tools nobody has asked for yet.
	Unasked []string `json:"unasked,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// FoundTool is one tool with its schema. Weak says that it most likely does
// something else. A tool without a schema is one whose server was not asked
// yet: it is called by its name all the same.
type FoundTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Server      string          `json:"server,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Weak        bool            `json:"weak,omitempty"`
}

// Unavailable is a server, or another source of tools, that cannot be used.
type Unavailable struct {
	Name     string   `json:"name"`
	Standing Standing `json:"standing"`
	Reason   string   `json:"reason,omitempty"`
	Detail   string   `json:"detail,omitempty"`
}

const (
	usualFound = 5
	weakFound  = 3 // of tools that most likely do something else, and only where nothing better is
)

// Find searches the admitted tools, loads what it returns for the rest of the
// turn, and says what might have had it where nothing fits. limit 0 means 5.
func (s *Surface) Find(query string, limit int) Found { return s.FindAmong(s.set, query, limit) }

// FindAmong is Find for a turn that has gone on for a while: what the set as it
// is now has no more is not found, since its call would be refused.
func (s *Surface) FindAmong(now *Set, query string, limit int) Found {
	limit = min(cmp.Or(max(limit, 0), usualFound), maxFound)
	hits := s.index().Search(query, limit, func(i int) bool {
		_, tool, ok := now.Tool(s.tools[i].Name)
		return ok && tool.Callable()
	})
	sure := 0
	for _, h := range hits {
		if h.Confident {
			sure++
		}
	}
	if sure == 0 {
		hits = hits[:min(len(hits), weakFound)]
	}
	out := Found{Tools: []FoundTool{}}
	for _, h := range hits {
		if sure > 0 && !h.Confident {
			continue
		}
		o := &s.tools[h.Doc]
		f := FoundTool{
			Name: o.Name, Title: o.Title, Description: cmp.Or(o.Description, o.entry.Row.Description), InputSchema: o.Schema, Weak: !h.Confident,
		}
		if o.entry.Kind == EntryMCP {
			f.Server = o.entry.Row.Name
		}
		out.Tools = append(out.Tools, f)
		s.Promote(o.Name)
	}
	if sure == 0 {
		s.explain(&out, now)
	}
	return out
}

// has reports whether anything of the key can be called.
func (s *Set) has(key capability.Key) bool {
	i, ok := s.keys[key]
	return ok && s.Entries[i].Standing.Callable()
}

// explain says what may be behind an empty answer.
func (s *Surface) explain(out *Found, now *Set) {
	out.Note = "Nothing here clearly does that."
	for i := range s.set.Entries {
		e := &s.set.Entries[i]
		if e.Kind != EntryMCP && e.Kind != EntryTool {
			continue
		}
		switch {
		case e.Standing != Usable && !(e.Standing == Off && e.Kind != EntryMCP):
			out.Unavailable = append(out.Unavailable, Unavailable{e.Row.Name, e.Standing, e.Reason(), oneLine(e.Trouble, 2*maxSentence)})
		case e.Kind == EntryMCP && now.has(e.Row.Key) && !e.Asked:
			out.Unasked = append(out.Unasked, e.Row.Name)
		}
	}
	if len(out.Unasked) > 0 {
		out.Note += " Servers that were not asked for their tools yet can be, with " + Broker + "."
	}
}

// Bare finds the one tool of a server whose own name was called without its
// server's: the name that was meant, or false where several servers have it or
// something else is called so.
func (s *Set) Bare(name string) (string, bool) {
	if _, ok := s.tools[name]; ok {
		return "", false
	}
	if _, ok := s.skills[name]; ok {
		return "", false
	}
	if _, ok := s.Builtin(name); ok {
		return "", false
	}
	found := ""
	for i := range s.Entries {
		e := &s.Entries[i]
		for j := range e.Tools {
			t := &e.Tools[j]
			if e.Kind != EntryMCP || t.Raw != name || s.tools[t.Name] != (place{i, j}) {
				continue
			}
			if found != "" {
				return "", false
			}
			found = t.Name
		}
	}
	return found, found != ""
}
