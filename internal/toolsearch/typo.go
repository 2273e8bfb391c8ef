package toolsearch

import (
	"cmp"
	"slices"
)

// spelling finds the words of tools' names that a mistyped word may have
// meant.
type spelling struct {
	byLength [maxWord + 1][]spelt
}

type spelt struct {
	word string
	mask uint32 // the letters in it
}

func newSpelling(tools []*analysis) spelling {
	var s spelling
	seen := map[string]bool{}
	add := func(w string) {
		if len(w) >= 4 && plainLetters(w) && !seen[w] {
			seen[w] = true
			s.byLength[len(w)] = append(s.byLength[len(w)], spelt{w, letters(w)})
		}
	}
	for _, a := range tools {
		for _, w := range a.words {
			add(w)
		}
	}
	for i := range s.byLength {
		slices.SortFunc(s.byLength[i], func(a, b spelt) int { return cmp.Compare(a.word, b.word) })
	}
	return s
}

func letters(w string) uint32 {
	var m uint32
	for i := range len(w) {
		m |= 1 << (w[i] - 'a')
	}
	return m
}

// near lists the words within the distance that the length of w allows, the
// nearest alone: one slip from five letters, two from eight.
func (s *spelling) near(w string) []string {
	if len(w) < 4 || !plainLetters(w) {
		return nil
	}
	allowed := 1
	if len(w) >= 8 {
		allowed = 2
	}
	var best []string
	mask := letters(w)
	for n := max(4, len(w)-allowed); n <= min(maxWord, len(w)+allowed); n++ {
		for _, c := range s.byLength[n] {
			if differ(c.mask, mask) > 2*allowed || !sameStart(w, c.word) {
				continue
			}
			d := distance(w, c.word, allowed)
			switch {
			case d > allowed:
			case d < allowed:
				allowed, best = d, append(best[:0], c.word)
			default:
				best = append(best, c.word)
			}
		}
	}
	return best
}

// sameStart reports whether two words begin alike, or with their first two
// letters swapped. Few people miss the first letter, and many short words
// differ in nothing else.
func sameStart(a, b string) bool {
	return a[0] == b[0] || a[0] == b[1] && a[1] == b[0]
}

func differ(a, b uint32) int {
	n := 0
	for x := a ^ b; x != 0; x &= x - 1 {
		n++
	}
	return n
}

// distance counts the slips between two words: a letter too many, too few or
// another, or two neighbours swapped. It gives up beyond most.
func distance(a, b string, most int) int {
	var rows [3][maxWord + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			d := min(last[j]+1, row[j-1]+1)
			same := last[j-1]
			if a[i-1] != b[j-1] {
				same++
			}
			d = min(d, same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
