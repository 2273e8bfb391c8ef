package toolsearch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxWord  = 40   // bytes of a word that count
	maxQuery = 4096 // bytes of a query that are read
)

// word is one word of a text, folded so that case, width and accents make no
// difference.
type word struct {
	text    string
	capital bool // written with one
	proper  bool // written with one though not the first of its text
	number  bool // begins with a digit
}

// splitWords cuts text at whatever is neither letter nor digit and at the
// humps of camelCase. Runs of Han or kana, which are written without spaces,
// become pairs of neighbours.
func splitWords(text string) []word {
	var out []word
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !wordRune(r) {
			i += size
			continue
		}
		end := wordEnd(text, i)
		out = appendWord(out, text[i:end], unicode.IsUpper(r))
		i = end
	}
	return out
}

// wordEnd says where the word that begins at start ends. "HTTPServer" is HTTP
// and Server, "getURL" get and URL, "k8s" one word.
func wordEnd(text string, start int) int {
	var before, two rune
	for i, r := range text[start:] {
		if !wordRune(r) || hump(before, r) {
			return start + i
		}
		if unicode.IsUpper(two) && unicode.IsUpper(before) && unicode.IsLower(r) && !plural(text[start+i:]) {
			return start + i - utf8.RuneLen(before)
		}
		two, before = before, r
	}
	return len(text)
}

func hump(before, r rune) bool { return unicode.IsLower(before) && unicode.IsUpper(r) }

// plural reports whether an abbreviation goes on with nothing but an s, as in
// APIs.
func plural(rest string) bool {
	if !strings.HasPrefix(rest, "s") {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest[1:])
	return rest[1:] == "" || !unicode.IsLower(r)
}

func appendWord(out []word, raw string, upper bool) []word {
	text := fold(raw)
	if text == "" {
		return out
	}
	first, _ := utf8.DecodeRuneInString(text)
	if isUnspaced(first) {
		return appendPairs(out, text)
	}
	return append(out, word{text: cut(text, maxWord), capital: upper, proper: upper && len(out) > 0, number: unicode.IsDigit(first)})
}

func appendPairs(out []word, text string) []word {
	runes := []rune(text)
	if len(runes) <= 2 {
		return append(out, word{text: text})
	}
	for i := range len(runes) - 1 {
		out = append(out, word{text: string(runes[i : i+2])})
	}
	return out
}

// cut shortens s to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	s = norm.NFKD.String(strings.ReplaceAll(strings.ToLower(s), "ß", "ss"))
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(s)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isUnspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

func isKorean(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.Hangul, r)
}

// squash is what two spellings of one name have in common: its letters and
// digits in lower case.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if wordRune(r) {
			return r
		}
		return -1
	}, fold(s))
}
