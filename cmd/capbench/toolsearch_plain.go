package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"capstore/internal/toolsearch"
)

// plainIndex is the yardstick: BM25 over a tool's joined texts, without
// stemming, stop words or fields.
type plainIndex struct {
	ids     []string
	counts  []map[string]int
	lengths []float64
	average float64
	holders map[string]int
}

func newPlain(docs []toolsearch.Doc) *plainIndex {
	p := &plainIndex{holders: map[string]int{}}
	for _, d := range docs {
		parts := []string{d.Server, d.Raw, d.Title, d.Description}
		for _, a := range d.Params {
			parts = append(parts, a.Name, a.Description)
		}
		counts, words := map[string]int{}, plainWords(strings.Join(parts, " "))
		for _, w := range words {
			if counts[w] == 0 {
				p.holders[w]++
			}
			counts[w]++
		}
		p.ids, p.counts = append(p.ids, d.ID), append(p.counts, counts)
		p.lengths = append(p.lengths, float64(len(words)))
		p.average += float64(len(words)) / float64(len(docs))
	}
	return p
}

// plainWords splits at what is neither letter nor digit, and where a capital
// follows a small letter.
func plainWords(text string) []string {
	var b strings.Builder
	var before rune
	for _, r := range text {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteByte(' ')
		}
		before = r
	}
	return strings.Fields(b.String())
}

func (p *plainIndex) find(q string) ([]ranked, error) {
	const k1, b = 1.2, 0.75
	words, n := plainWords(q), float64(len(p.ids))
	var out []ranked
	for i, counts := range p.counts {
		var sum float64
		for _, w := range words {
			f, df := float64(counts[w]), float64(p.holders[w])
			if f > 0 {
				sum += math.Log(1+(n-df+0.5)/(df+0.5)) * f * (k1 + 1) / (f + k1*(1-b+b*p.lengths[i]/p.average))
			}
		}
		if sum > 0 {
			out = append(out, ranked{id: p.ids[i], score: sum, confident: true})
		}
	}
	slices.SortFunc(out, func(a, b ranked) int { return cmp.Or(-cmp.Compare(a.score, b.score), cmp.Compare(a.id, b.id)) })
	return out[:min(10, len(out))], nil
}
