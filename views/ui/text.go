package ui

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// slug turns a label into something that an id may hold.
func slug(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, label)
}

// initials returns up to two letters that stand for a name.
func initials(name string) string {
	var letters []rune
	for _, word := range strings.Fields(name) {
		if r, _ := utf8.DecodeRuneInString(word); unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters = append(letters, unicode.ToUpper(r))
		}
	}
	switch len(letters) {
	case 0:
		return "?"
	case 1:
		return string(letters)
	}
	return string([]rune{letters[0], letters[len(letters)-1]})
}

// shorten keeps the first n characters of a digest or id.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

func copyAttrs(a CopyArgs) templ.Attributes {
	if a.From != "" {
		return templ.Attributes{"data-copy-from": a.From}
	}
	return templ.Attributes{"data-copy": a.Text}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
