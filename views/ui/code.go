package ui

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/a-h/templ"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// maxHighlight is the size past which source is shown without colours, which
// nobody reads to the end and which would take long.
const maxHighlight = 128 << 10

// CodeArgs describes a box of source code.
type CodeArgs struct {
	Text     string
	Language string // as chroma names it, such as python; empty for plain text
	Name     string // of the file or part, at the head and for screen readers
	ID       string // made from Name unless told
	Numbers  bool   // line numbers
	Whole    bool   // does not scroll by itself, however long it is
}

func (a CodeArgs) id() string {
	if a.ID != "" {
		return a.ID
	}
	return "code-" + slug(a.Name)
}

func (a CodeArgs) boxAttrs() templ.Attributes {
	return Merge(
		templ.Attributes{"class": "code-scroll", "role": "region", "aria-label": a.Name, "tabindex": "0"},
		when(!a.Whole, templ.Attributes{"data-tall": true}))
}

// highlighted is the source in chroma's classes, its invisible characters marked.
func (a CodeArgs) highlighted() templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, highlight(a.Text, a.Language, a.Numbers))
		return err
	})
}

// highlight returns the escaped HTML of source. Lines are numbered from 1.
func highlight(source, language string, numbers bool) string {
	source = strings.ToValidUTF8(source, "�")
	var b strings.Builder
	for i, line := range lines(source, language) {
		if numbers {
			fmt.Fprintf(&b, `<span class="ln" aria-hidden="true">%d</span>`, i+1)
		}
		for _, token := range line {
			class := chroma.StandardTypes[token.Type]
			if class == "" || token.Type == chroma.Text {
				writeVisible(&b, token.Value)
				continue
			}
			b.WriteString(`<span class="` + class + `">`)
			writeVisible(&b, token.Value)
			b.WriteString(`</span>`)
		}
	}
	return b.String()
}

// lines splits source into lines of tokens; one token a line where there is no
// lexer for the language or the source is too long.
func lines(source, language string) [][]chroma.Token {
	lexer := lexers.Get(language)
	if language != "" && lexer != nil && len(source) <= maxHighlight {
		// Text is kept as it is: chroma would change line ends and add one.
		tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, source)
		if err == nil {
			return chroma.SplitTokensIntoLines(tokens.Tokens())
		}
	}
	var plain [][]chroma.Token
	for line := range strings.SplitAfterSeq(source, "\n") {
		if line != "" {
			plain = append(plain, []chroma.Token{{Type: chroma.Text, Value: line}})
		}
	}
	return plain
}
