package agent

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"capstore/internal/registry"
)

// maxSuggestions is how many tools and skills an answer proposes.
const maxSuggestions = 5

// nameHit is what a word of a skill's name counts against one of its
// description.
const nameHit = 3

// suggest proposes what could be run for the text, without a model: skills that
// are named, the tools that a search is sure of, then skills that are near.
// Where a search is sure of none, tools that share a word come last.
func suggest(snap *registry.Snapshot, on *surface, text string) []Suggestion {
	named, near := skillsFor(snap, words(text))
	sure, weak := toolsFor(snap, on, text)
	out := slices.Concat(named, sure, near, weak)
	return out[:min(len(out), maxSuggestions)]
}

func skillsFor(snap *registry.Snapshot, want []string) (named, near []Suggestion) {
	type scored struct {
		Suggestion
		score int
	}
	var found []scored
	for _, name := range snap.SkillNames() {
		e, _ := snap.Skill(name)
		score := nameHit*shared(want, words(name)) + shared(want, words(e.Row.Description))
		if score > 0 {
			found = append(found, scored{Suggestion{"skill", name, e.Row.Description}, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	for _, f := range found {
		if f.score >= nameHit {
			named = append(named, f.Suggestion)
		} else {
			near = append(near, f.Suggestion)
		}
	}
	return named, near
}

func toolsFor(snap *registry.Snapshot, on *surface, text string) (sure, weak []Suggestion) {
	for _, t := range on.find(snap, text, maxSuggestions).Tools {
		s := Suggestion{"tool", t.Name, cmp.Or(t.Description, t.Title)}
		switch {
		case !t.Weak:
			sure = append(sure, s)
		case shared(words(text), words(t.Name+" "+t.Description)) > 0:
			weak = append(weak, s)
		}
	}
	return sure, weak
}

// words are the letters-and-digits runs of s, folded, two characters or more.
func words(s string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), func(w string) bool { return len(w) < 2 })
}

func shared(want, have []string) int {
	n := 0
	for _, w := range want {
		if slices.ContainsFunc(have, func(h string) bool { return h == w || len(w) > 3 && strings.HasPrefix(h, w) }) {
			n++
		}
	}
	return n
}
