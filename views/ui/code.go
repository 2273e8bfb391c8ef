package ui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// Bounds on colouring. The lexers are regular expressions, some of which take
// time in the square of a line: 120 kB of "a" took JavaScript's 58 s.
const (
	maxHighlight = 64 << 10               // bytes of source
	maxCodeLine  = 2000                   // bytes of a line
	colourTime   = 200 * time.Millisecond // past it the rest stays plain
)

// CodeArgs describes a box of source code.
type CodeArgs struct {
	Text     string
	Language string // as chroma names it, such as python; empty for plain text
	Name     string // of the file or part, at the head and for screen readers
	ID       string // made from Name unless told
	Numbers  bool   // line numbers
	Whole    bool   // does not scroll by itself, however long it is
	Wrap     bool   // breaks long lines, so that nothing stands out of sight at the side
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
		when(!a.Whole, templ.Attributes{"data-tall": true}),
		when(a.Wrap, templ.Attributes{"data-wrap": true}))
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
	tokens := []chroma.Token{{Type: chroma.Text, Value: source}}
	if lexer := lexers.Get(language); language != "" && lexer != nil && colourable(source) {
		tokens = coloured(lexer, source)
	}
	return chroma.SplitTokensIntoLines(tokens)
}

func colourable(source string) bool {
	if len(source) > maxHighlight {
		return false
	}
	for line := range strings.Lines(source) {
		if len(line) > maxCodeLine {
			return false
		}
	}
	return true
}

// coloured returns the tokens of source, the last of which is plain text where
// the time ran out.
func coloured(lexer chroma.Lexer, source string) (tokens []chroma.Token) {
	plain := func(rest string) chroma.Token { return chroma.Token{Type: chroma.Text, Value: rest} }
	// Text is kept as it is: by default chroma changes line ends and adds one.
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, source)
	if err != nil {
		return []chroma.Token{plain(source)}
	}
	defer func() { // a lexer reports its own faults by a panic
		if recover() != nil {
			tokens = []chroma.Token{plain(source)}
		}
	}()
	done, end := 0, clock().Add(colourTime)
	for token := range next.Stdlib() {
		if clock().After(end) {
			return append(tokens, plain(source[done:]))
		}
		// Some lexers read one line break more than there is.
		token.Value = token.Value[:min(len(token.Value), len(source)-done)]
		tokens = append(tokens, token)
		done += len(token.Value)
	}
	return tokens
}
