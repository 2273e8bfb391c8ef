package ui

import (
	"bytes"
	"context"
	"html"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown is the size past which a text is shown as it was written.
const maxMarkdown = 256 << 10

// MarkdownArgs describes a text that somebody else wrote.
type MarkdownArgs struct {
	Text string
	// Level is the heading level that a # becomes: 2 unless told, as the page
	// has its own h1.
	Level int
	// Resolve turns a relative reference, such as assets/logo.png, into an
	// address of this site, or "" when there is none. Nil resolves nothing.
	Resolve func(ref string) string
}

// Markdown renders a text of others: no raw HTML, nothing loaded from
// elsewhere, links that pass no credit. What is longer than a page can be is
// shown as it was written.
func Markdown(a MarkdownArgs) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `<div class="prose">`+renderMarkdown(a)+`</div>`)
		return err
	})
}

func renderMarkdown(a MarkdownArgs) string {
	source := []byte(visibleMarkdown(a.Text))
	if len(source) > maxMarkdown || tooNested(source) {
		return `<pre class="chroma" tabindex="0">` + highlight(a.Text, "", false) + `</pre>`
	}
	if a.Level == 0 {
		a.Level = 2
	}
	doc := markdown.Parser().Parse(gmtext.NewReader(source))
	rewrite(doc, source, a)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return html.EscapeString(a.Text) // only a failing writer gets here
	}
	return policy.Sanitize(b.String())
}

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Strikethrough, extension.Linkify, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(
		util.Prioritized(codeRenderer{}, 100), util.Prioritized(imageRenderer{}, 100), util.Prioritized(taskRenderer{}, 100))),
)

// policy is the second wall: what goldmark may have let through is cut here.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "em", "strong", "del",
		"hr", "br", "pre", "code", "table", "thead", "tbody", "tr", "span", "bdi", "sup")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[a-z0-9 -]{1,60}$`)).OnElements("pre", "code", "span", "bdi", "a")
	p.AllowAttrs("data-code").Matching(regexp.MustCompile(`^U\+[0-9A-F]{4,6}$`)).OnElements("bdi")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^col$`)).OnElements("th")
	p.AllowElements("th", "td")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	p.AllowAttrs("alt", "title").OnElements("img")
	p.AllowAttrs("loading").Matching(regexp.MustCompile(`^lazy$`)).OnElements("img")
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^/[^/\\]`)).OnElements("img")
	p.AllowAttrs("href", "title").OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile(`^nofollow noopener$`)).OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	return p
}

// rewrite shifts headings, and gives every link and image the address that it
// may lead to, or leaves only its words.
func rewrite(doc ast.Node, source []byte, a MarkdownArgs) {
	var links []*ast.Link
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+a.Level-1, 6)
			n.RemoveAttributes()
		case *ast.Link:
			n.RemoveAttributes()
			n.SetAttributeString("rel", []byte(linkRel))
			n.Destination = []byte(address(string(n.Destination), a.Resolve))
			if len(n.Destination) == 0 {
				links = append(links, n)
			}
		case *ast.AutoLink:
			n.SetAttributeString("rel", []byte(linkRel))
		case *ast.Image:
			n.Destination = []byte(address(string(n.Destination), a.Resolve))
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		unwrap(link)
	}
}

const linkRel = "nofollow noopener"

// unwrap puts the children of a node in its place.
func unwrap(n ast.Node) {
	parent := n.Parent()
	for child := n.FirstChild(); child != nil; child = n.FirstChild() {
		parent.InsertBefore(parent, n, child)
	}
	parent.RemoveChild(parent, n)
}

// address returns where a reference may lead: an absolute web or mail address,
// or what resolve makes of a relative one; "" for anything else.
func address(ref string, resolve func(string) string) string {
	u, err := url.Parse(ref)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "http" && u.Host != "", u.Scheme == "https" && u.Host != "", u.Scheme == "mailto":
		return ref
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(ref, "/") || u.Path == "" || resolve == nil:
		return ""
	}
	return resolve(u.Path)
}

// visibleMarkdown spells out characters that would reorder or hide text. The
// joiners and selectors that emoji and scripts are written with stay.
func visibleMarkdown(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0x200C, r == 0x200D, r == 0x00A0, r == 0xFE0E, r == 0xFE0F, r == '\r':
			return r
		case invisible(r):
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

// tooNested reports whether a line opens more quotes, lists, links or emphasis
// than prose has; the parser's time grows with the square of them.
func tooNested(source []byte) bool {
	for line := range bytes.Lines(source) {
		opening := line[:len(line)-len(bytes.TrimLeft(line, ">-+* \t"))]
		markers := len(opening) - bytes.Count(opening, []byte(" ")) - bytes.Count(opening, []byte("\t"))
		if markers > 100 && bytes.ContainsAny(opening, "> \t") {
			return true
		}
		if bytes.Count(line, []byte("[")) > 1000 || bytes.Count(line, []byte("*"))+bytes.Count(line, []byte("_")) > 5000 {
			return true
		}
	}
	return false
}
