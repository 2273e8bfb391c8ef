package capability

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// deceptive reports whether the rune hides or reorders what a person reads:
// bidi controls, zero-width spaces, blank letters, line separators, and the tag
// characters and variation selectors that smuggle text past the eye. The
// joiners and the emoji selector stay, since Persian and emoji need them.
func deceptive(r rune) bool {
	switch r {
	case 0x00AD, 0x061C, 0x115F, 0x1160, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2800, 0x3164, 0xFEFF, 0xFFA0:
		return true
	}
	return 0x202A <= r && r <= 0x202E || 0x2060 <= r && r <= 0x206F || 0xFFF9 <= r && r <= 0xFFFB ||
		0xE0000 <= r && r <= 0xE0FFF
}

// visible reports whether a person sees anything of the text.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !deceptive(r)
	})
}

// notPlain returns the first rune that plain text may not hold.
func notPlain(s string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) || deceptive(r) {
			return r, true
		}
	}
	return 0, false
}

// PlainText makes one line of plain text out of what an importer found: line
// breaks, tabs and runs of spaces become one space, other control characters
// and those that deceive the eye are dropped. It says nothing about length.
func PlainText(s string) string {
	s = strings.ToValidUTF8(s, "�")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == 0x2028, r == 0x2029:
			return ' '
		case unicode.IsControl(r), deceptive(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens s to at most n runes, for messages.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
