package catalog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	maxWord  = 40 // runes; what is longer is cut
	maxWords = 8  // the words of a query that count
)

// splitWords cuts text into words, folded so that case, width and accents make
// no difference. Runs of Han or kana, which are written without spaces, become
// pairs of neighbours.
func splitWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(foldText(text), notWordRune) {
		out = append(out, unspaced(w)...)
	}
	return out
}

func foldText(s string) string {
	// Folding turns Cherokee round and round; lower case ends that.
	s = norm.NFKD.String(strings.ToLower(cases.Fold().String(norm.NFKD.String(s))))
	s = strings.Map(func(r rune) rune {
		if 0x300 <= r && r <= 0x36F {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(s)
}

func notWordRune(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// unspaced breaks a word that holds Han or kana into its other parts and the
// pairs of those runs. Any other word comes back cut to maxWord.
func unspaced(word string) []string {
	runes := []rune(word)
	if !slices.ContainsFunc(runes, isUnspaced) {
		return []string{string(runes[:min(len(runes), maxWord)])}
	}
	var out []string
	for start := 0; start < len(runes); {
		end := start + 1
		for end < len(runes) && isUnspaced(runes[end]) == isUnspaced(runes[start]) {
			end++
		}
		run := runes[start:end]
		switch {
		case !isUnspaced(run[0]), len(run) <= 2:
			out = append(out, string(run[:min(len(run), maxWord)]))
		default:
			for i := range len(run) - 1 {
				out = append(out, string(run[i:i+2]))
			}
		}
		start = end
	}
	return out
}

func isUnspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// nameWords is splitWords for names and identifiers: the humps of camelCase
// count as words of their own, beside the whole.
func nameWords(text string) []string {
	out := splitWords(text)
	if humps := splitHumps(text); humps != text {
		for _, w := range splitWords(humps) {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func splitHumps(s string) string {
	var b strings.Builder
	var before rune
	for _, r := range s {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// stem brings the forms of an English word together. Words of other scripts,
// and those with digits, stay as they are.
func stem(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, true)
}

func isStopWord(word string) bool { return english.IsStopWord(word) }

// isKorean reports whether the word is written in Hangul. Its words carry
// particles at their end, so they are found by any beginning of theirs.
func isKorean(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Hangul, r)
}

var particles = []string{"으로", "에서", "부터", "까지", "을", "를", "이", "가", "은", "는", "의", "에", "로", "와", "과", "도"}

// bareKorean takes the particle off a Korean word that keeps two syllables
// without it.
func bareKorean(word string) string {
	for _, p := range particles {
		if bare, ok := strings.CutSuffix(word, p); ok && utf8.RuneCountInString(bare) >= 2 {
			return bare
		}
	}
	return word
}

// prefixes lists the beginnings of a word, itself included.
func prefixes(word string) []string {
	var out []string
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRuneInString(word[i:])
		i += size
		out = append(out, word[:i])
	}
	return out
}

// word is a word of a query.
type word struct {
	typed string
	term  string     // that stands for every word that begins so
	held  bool       // by something that the reader sees
	meant []spelling // what it may be mistyped for, the likeliest first
}

// terms are those that find the word, what was typed first.
func (w word) terms() []string {
	out := []string{w.term}
	for _, m := range w.meant {
		if !slices.Contains(out, m.term) {
			out = append(out, m.term)
		}
	}
	return out
}

// queryWords turns what a person typed into the words that must all be there.
// Each stands for every word that begins so, which is what a search while
// typing needs. ok is false when something was typed and none of it is a word.
func queryWords(q string) (out []word, ok bool) {
	words := splitWords(q)
	if content := slices.DeleteFunc(slices.Clone(words), isStopWord); len(content) > 0 {
		words = content
	}
	for _, w := range words {
		bare := w
		if isKorean(w) {
			bare = bareKorean(w)
		}
		t := wordTerm(stem(bare))
		if len(out) < maxWords && !slices.ContainsFunc(out, func(w word) bool { return w.term == t }) {
			out = append(out, word{typed: w, term: t})
		}
	}
	return out, len(out) > 0 || strings.TrimSpace(q) == ""
}
