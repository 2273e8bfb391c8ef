package jsonx

import (
	"slices"
	"strings"
)

// Nearest returns the name that s is most likely a slip of, or "" when none is
// close: equal but for case and separators, or within one edit for every four
// letters, two at least.
func Nearest(s string, names []string) string {
	best, cost := "", max(2, len(s)/4)+1
	for _, n := range slices.Sorted(slices.Values(names)) { // a tie goes to the first by name
		if plain(n) == plain(s) {
			return n
		}
		if len(n) > 64 || len(s) > 64 || len(n) < 3 {
			continue
		}
		if d := distance([]rune(strings.ToLower(s)), []rune(strings.ToLower(n))); d < cost && d < len(n)-1 {
			best, cost = n, d
		}
	}
	return best
}

func plain(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// distance is Levenshtein's, with one row.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			up := row[j+1]
			change := diagonal
			if x != y {
				change++
			}
			row[j+1] = min(up+1, row[j]+1, change)
			diagonal = up
		}
	}
	return row[len(b)]
}
