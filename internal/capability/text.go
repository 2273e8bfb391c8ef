package capability

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// deceptive reports whether the rune hides or reorders what a person reads:
// bidi controls, zero-width spaces, line separators and the tag characters
// that smuggle text past the eye. The joiners stay, since Persian and emoji
// need them.
func deceptive(r rune) bool {
	switch {
	case r == 0x061C, r == 0x200B, r == 0x200E, r == 0x200F, r == 0x2028, r == 0x2029, r == 0xFEFF:
		return true
	case 0x202A <= r && r <= 0x202E, 0x2060 <= r && r <= 0x206F, 0xE0000 <= r && r <= 0xE007F:
		return true
	}
	return false
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
