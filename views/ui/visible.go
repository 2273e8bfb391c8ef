package ui

import (
	"context"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"

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

// writeVisible writes text escaped, with every invisible rune marked by its
// number. The rune itself stays, isolated, so that a copy is exact.
func writeVisible(b *strings.Builder, text string) {
	from := 0
	for at, r := range text {
		if !invisible(r) {
			continue
		}
		b.WriteString(html.EscapeString(text[from:at]))
		fmt.Fprintf(b, `<bdi class="invisible-mark" data-code="U+%04X">`, r)
		b.WriteString(html.EscapeString(string(r)))
		b.WriteString("</bdi>")
		from = at + len(string(r))
	}
	b.WriteString(html.EscapeString(text[from:]))
}

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
