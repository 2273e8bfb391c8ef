package ui

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeRenderer colours fenced and indented code.
type codeRenderer struct{}

func (r codeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, r.render)
	reg.Register(ast.KindCodeBlock, r.render)
}

func (codeRenderer) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var code bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		code.Write(line.Value(source))
	}
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(source))
	}
	_, err := w.WriteString(`<pre class="chroma" tabindex="0"><code>` + highlight(code.String(), language, false) + "</code></pre>\n")
	return ast.WalkSkipChildren, err
}

// imageRenderer shows images of this site and links to those of others, which
// load nothing until the reader goes there.
type imageRenderer struct{}

func (r imageRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindImage, r.render)
}

func (imageRenderer) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	image := n.(*ast.Image)
	alt, to := html.EscapeString(plain(image, source)), string(image.Destination)
	_, inLink := image.Parent().(*ast.Link)
	var out string
	switch {
	case strings.HasPrefix(to, "/"):
		out = `<img src="` + html.EscapeString(to) + `" alt="` + alt + `" loading="lazy">`
	case to == "" || inLink:
		out = alt
	default:
		host := to
		if u, err := url.Parse(to); err == nil {
			host = u.Host
		}
		out = `<a class="remote-image" rel="` + linkRel + `" href="` + html.EscapeString(to) + `">` + alt + ` (` + html.EscapeString(host) + `)</a>`
	}
	_, err := w.WriteString(out)
	return ast.WalkSkipChildren, err
}

// taskRenderer draws the box of a task as a character, which is read out where
// a form's box without a label would not be.
type taskRenderer struct{}

func (r taskRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(extast.KindTaskCheckBox, r.render)
}

func (taskRenderer) render(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	box := "☐"
	if n.(*extast.TaskCheckBox).IsChecked {
		box = "☑"
	}
	_, err := w.WriteString(`<span class="task-box">` + box + "</span> ")
	return ast.WalkContinue, err
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(child ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := child.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
