package agent

import (
	"cmp"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/registry"
)

// What a Completion is of.
const (
	KindOfCommand = "command"
	KindOfSkill   = "skill"
	KindOfTool    = "tool"
)

// Completion is one line of what a slash can begin.
type Completion struct {
	Kind        string // KindOfCommand, KindOfSkill or KindOfTool
	Insert      string // the text that takes the place of what was typed
	Label       string // what it is called: /weekly, /skill:review, /tool code__sum
	Hint        string // of a command's arguments, "" for none
	Description string
}

// maxCompletions bounds what Complete offers.
const maxCompletions = 30

// Complete offers what the typed beginning of a message can become: commands,
// /skill:name and /tool name. Those come first that begin as it does, then those
// of which a word does, then those that hold it, and last those that hold its
// letters in order. Once a command's arguments are being typed it alone is
// offered, for its hint. What does not begin with a slash has none.
func Complete(snap *registry.Snapshot, prefix string) []Completion {
	typed, ok := strings.CutPrefix(strings.TrimLeft(prefix, " \t\r\n"), "/")
	if !ok {
		return nil
	}
	kind, query := "", typed
	if rest, ok := strings.CutPrefix(typed, slashSkill+":"); ok {
		kind, query = KindOfSkill, rest
	} else if rest, ok := strings.CutPrefix(typed, slashTool+" "); ok {
		kind, query = KindOfTool, strings.TrimLeft(rest, " ")
	}
	if name, _, arguments := strings.Cut(query, " "); arguments {
		return exactly(snap, kind, name)
	}
	return ranked(snap, kind, strings.ToLower(query))
}

// candidate is a completion with the name by which it is looked for.
type candidate struct {
	Completion
	name string
	raw  string // a tool's own name at its origin
}

// completable lists all that a slash can begin in the snapshot, by kind and
// name.
func completable(snap *registry.Snapshot) []candidate {
	var out []candidate
	for _, e := range snap.Entries {
		if !e.Standing.Callable() || e.Kind == registry.EntryHook {
			continue
		}
		switch e.Kind {
		case registry.EntryCommand:
			out = append(out, commandCandidate(e))
		case registry.EntrySkill:
			label := "/" + slashSkill + ":" + e.Row.Name
			out = append(out, candidate{Completion{Kind: KindOfSkill, Insert: label, Label: label, Description: e.Row.Description}, e.Row.Name, ""})
		default:
			out = append(out, toolCandidates(snap, e)...)
		}
	}
	order := map[string]int{KindOfCommand: 0, KindOfSkill: 1, KindOfTool: 2}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Or(order[a.Kind]-order[b.Kind], cmp.Compare(a.name, b.name)) })
	return out
}

func commandCandidate(e registry.Entry) candidate {
	name := capability.CommandName(e.Row.Name)
	c := candidate{Completion{Kind: KindOfCommand, Insert: "/" + name + " ", Label: "/" + name, Description: e.Row.Description}, name, e.Row.Name}
	if spec, ok := e.Row.Spec.(*capability.CommandSpec); ok {
		c.Hint = spec.ArgumentHint
	}
	return c
}

func toolCandidates(snap *registry.Snapshot, e registry.Entry) []candidate {
	var out []candidate
	for _, t := range e.Tools {
		if _, _, callable := snap.Tool(t.Name); !callable || !t.Callable() {
			continue
		}
		label := "/" + slashTool + " " + t.Name
		description := cmp.Or(t.Description, e.Row.Description)
		out = append(out, candidate{Completion{Kind: KindOfTool, Insert: label + " ", Label: label, Description: description}, t.Name, t.Raw})
	}
	return out
}

func exactly(snap *registry.Snapshot, kind, name string) []Completion {
	for _, c := range completable(snap) {
		if c.name == name && (c.Kind == kind || kind == "" && c.Kind == KindOfCommand) {
			return []Completion{c.Completion}
		}
	}
	return nil
}

func ranked(snap *registry.Snapshot, kind, query string) []Completion {
	type scored struct {
		Completion
		rank int
	}
	var found []scored
	for _, c := range completable(snap) {
		if kind != "" && c.Kind != kind {
			continue
		}
		rank := min(closeness(c.name, query), closeness(c.raw, query))
		if kind == "" && strings.HasPrefix(strings.ToLower(c.Label), "/"+query) {
			rank = min(rank, 1) // /t, /sk: it goes on with the host's own word
		}
		if rank < unlike {
			found = append(found, scored{c.Completion, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return a.rank - b.rank })
	out := make([]Completion, 0, maxCompletions)
	for _, f := range found[:min(len(found), maxCompletions)] {
		out = append(out, f.Completion)
	}
	return out
}

// unlike is the closeness of what has nothing of a query.
const unlike = 4

// closeness says how much a name is like the beginning of one: 0 begins with
// it, 1 has a word that does, 2 holds it, 3 holds its letters in order.
func closeness(name, query string) int {
	if name == "" {
		return unlike
	}
	name = strings.ToLower(name)
	at := strings.Index(name, query)
	switch {
	case at == 0:
		return 0
	case at > 0 && hasWord(name, query):
		return 1
	case at > 0:
		return 2
	}
	rest := name
	for _, r := range query {
		_, after, ok := strings.Cut(rest, string(r))
		if !ok {
			return unlike
		}
		rest = after
	}
	return 3
}

func hasWord(name, query string) bool {
	for i := 1; i+len(query) <= len(name); i++ {
		if strings.ContainsRune("_-:. /", rune(name[i-1])) && strings.HasPrefix(name[i:], query) {
			return true
		}
	}
	return false
}
