package ui

import (
	"context"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// invisible reports whether a rune is drawn as nothing, or reorders what
// stands around it, so that text could hide behind it.
func invisible(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == ' ', r == 0x3000:
		return false
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zs, r):
		return true
	case r == 0x2028, r == 0x2029, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
		return true // separators and the Hangul fillers
	}
	return unicode.Is(unicode.Variation_Selector, r)
}

// longRun is from how many spaces on a run of them is marked: what follows it
// may stand out of sight.
const longRun = 40

// writeVisible writes text escaped, with every invisible rune marked by its
// number and every long run of spaces by its length. What is marked stays, set
// apart, so that a copy is exact.
func writeVisible(b *strings.Builder, text string) {
	from := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		mark := ""
		if run := spacesAt(text[at:]); run >= longRun {
			mark, size = fmt.Sprintf("%d×U+0020", run), run
		} else if run > 0 {
			size = run
		} else if invisible(r) {
			mark = fmt.Sprintf("U+%04X", r)
		}
		if mark != "" {
			b.WriteString(html.EscapeString(text[from:at]))
			b.WriteString(`<bdi class="invisible-mark" data-code="` + mark + `">` + html.EscapeString(text[at:at+size]) + "</bdi>")
			from = at + size
		}
		at += size
	}
	b.WriteString(html.EscapeString(text[from:]))
}

// spacesAt is how many spaces the text begins with.
func spacesAt(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// Visible shows text that others wrote, in one run, with its invisible
// characters marked.
func Visible(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		writeVisible(&b, strings.ToValidUTF8(text, "�"))
		_, err := io.WriteString(w, b.String())
		return err
	})
}
