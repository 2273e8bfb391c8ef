package catalog

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever slip the hand makes, the word and what was typed share a key, and
// no further words are taken for it.
func TestOneSlipIsFound(t *testing.T) {
	t.Parallel()
	letters := rapid.RuneFrom([]rune("abcde가나é"))
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(letters, shortestTypo, longestTypo-1).Draw(t, "word")
		at, letter := rapid.IntRange(0, len(word)-2).Draw(t, "at"), letters.Draw(t, "letter")
		typed := slices.Clone(word)
		switch rapid.IntRange(0, 3).Draw(t, "slip") {
		case 0:
			typed = slices.Delete(typed, at, at+1)
		case 1:
			typed = slices.Insert(typed, at, letter)
		case 2:
			typed[at] = letter
		default:
			typed[at], typed[at+1] = typed[at+1], typed[at]
		}
		if slices.Equal(typed, word) {
			return
		}
		a, b := string(word), string(typed)
		if !oneSlip(a, b) || !oneSlip(b, a) {
			t.Fatalf("%q and %q are not one slip apart", a, b)
		}
		if !slices.ContainsFunc(slips(a), func(key string) bool { return slices.Contains(slips(b), key) }) {
			t.Fatalf("%q and %q share no key", a, b)
		}
	})
}

func TestMoreThanOneSlip(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"mail", "mail"}, {"mail", "mxxl"}, {"mail", "amli"}, {"mail", "mailed"}, {"invoice", "invioec"}, {"", "ab"}} {
		if oneSlip(pair[0], pair[1]) {
			t.Errorf("%q and %q are one slip apart", pair[0], pair[1])
		}
	}
	for _, word := range []string{"ab", "v2api", "2024", "abcdefghijklmnopqrstuvwxyz"} {
		if keys := slips(word); keys != nil {
			t.Errorf("%q may be mistyped: %q", word, keys)
		}
	}
}
