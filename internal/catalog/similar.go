package catalog

import (
	"slices"
	"strings"

	"capstore/internal/capability"
)

// skeleton is what is left of a name that one takes in at a glance: look-alike
// letters, case and what stands between the words make no difference.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if notWordRune(r) {
			return -1
		}
		return r
	}, capability.FoldName(name))
}

func skeletonTerm(skeleton string) string { return "~:" + skeleton }

// orderlessTerm is of the words of a name in any order.
func orderlessTerm(words []string) string {
	words = slices.Clone(words)
	slices.Sort(words)
	return "&:" + strings.Join(slices.Compact(words), " ")
}

// alike adds the terms under which a name that would be confused with this one
// finds it.
func (s termSet) alike(name string) {
	if bare := skeleton(name); bare != "" {
		s.add(skeletonTerm(bare), ofFilter)
	}
	if words := splitWords(name); len(words) > 1 {
		s.add(orderlessTerm(words), ofFilter)
	}
}
