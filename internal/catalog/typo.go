package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"capstore/db"
)

const (
	// shortestTypo is the length, in letters, from which on a word is taken for
	// a mistyped one; shorter ones are one slip away from too many.
	shortestTypo = 4
	shortestWord = 3  // that others may be mistyped for
	longestTypo  = 24 // whose slips are looked up
	fewHits      = 4  // below which a word may be a mistyped one
	corrections  = 3  // of one word that are tried
)

// slips lists the word and what is left of it without one of its letters. Two
// words that are one slip apart, a letter more, less, other or two of them
// swapped, have one in common. None for a word out of bounds, and none for one
// with a digit: its neighbours are other numbers.
func slips(word string) []string {
	runes := []rune(word)
	if len(runes) < shortestWord || len(runes) > longestTypo || slices.ContainsFunc(runes, unicode.IsDigit) {
		return nil
	}
	out := []string{word}
	for i := range runes {
		if i > 0 && runes[i] == runes[i-1] {
			continue // the same again
		}
		out = append(out, string(slices.Delete(slices.Clone(runes), i, i+1)))
	}
	return out
}

// oneSlip reports whether the words differ by one letter more, less or other,
// or by two neighbours swapped.
func oneSlip(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	for len(x) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(y) == 1:
		return true
	case len(x) == 2 && len(y) == 2:
		return x[0] == y[1] && x[1] == y[0]
	}
	return false
}

// spelling is a word as one types it, with the term that finds it.
type spelling struct{ word, term string }

// spellings lists the words of the capability that one may mistype.
func (m subjectMatter) spellings() []spelling {
	tools, domains, _ := discoverable(m.content.Spec)
	texts := slices.Concat([]string{m.content.Name, m.id, m.source, m.content.Description}, m.tags, tools, domains)
	seen := map[string]bool{}
	var out []spelling
	for _, text := range texts {
		for _, w := range append(splitWords(text), splitWords(splitHumps(text))...) {
			if !seen[w] && !isStopWord(w) && len(slips(w)) > 0 {
				seen[w] = true
				out = append(out, spelling{w, wordTerm(stem(w))})
			}
		}
	}
	return out
}

// corrected is the query with the likeliest word in place of each that nothing
// holds, "" when there is none.
func corrected(words []word) string {
	out, any := make([]string, len(words)), false
	for i, w := range words {
		out[i] = w.typed
		if !w.held && len(w.meant) > 0 {
			out[i], any = w.meant[0].word, true
		}
	}
	if !any {
		return ""
	}
	return strings.Join(out, " ")
}

// wordRows lists the rows of the words, in the order in which every writer
// makes them.
func wordRows(words []db.MissingWordsRow) db.PutWordsParams {
	var rows []wordRow
	for _, w := range words {
		for _, key := range slips(w.Word) {
			rows = append(rows, wordRow{key, spelling{w.Word, w.Term}})
		}
	}
	slices.SortFunc(rows, func(a, b wordRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.word, b.word)) })
	var p db.PutWordsParams
	for _, r := range rows {
		p.Keys, p.Words, p.Terms = append(p.Keys, r.key), append(p.Words, r.word), append(p.Terms, r.term)
	}
	return p
}

type wordRow struct {
	key string
	spelling
}
