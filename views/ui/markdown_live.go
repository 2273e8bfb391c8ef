package ui

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// LiveMarkdown renders one of the MarkdownBlocks of a text that is still being
// written. A fence that has not ended is plain, since colours would change with
// every word.
func LiveMarkdown(block string) templ.Component {
	if mark := openFence(block); mark != "" {
		_, code, _ := strings.Cut(block, "\n")
		return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, `<div class="prose"><pre class="chroma" tabindex="0"><code>`+highlight(code, "", false)+`</code></pre></div>`)
			return err
		})
	}
	return Markdown(MarkdownArgs{Text: block, Level: 3})
}

// MarkdownBlocks cuts a text at the empty lines between its parts, so that of a
// text which grows only the last blocks change: those of its first lines, but
// for the last, are the first ones of the whole. Joined they are the text.
func MarkdownBlocks(text string) []string {
	var blocks []string
	var block strings.Builder
	fence, blank := "", false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		// An indented line or another item may belong to what stands above.
		starts := blank && fence == "" && trimmed != "" && line[0] != ' ' && line[0] != '\t' && !listItem.MatchString(line)
		if starts && block.Len() > 0 {
			blocks = append(blocks, block.String())
			block.Reset()
		}
		fence = fenceAfter(fence, trimmed)
		blank = trimmed == ""
		block.WriteString(line)
	}
	if block.Len() > 0 {
		blocks = append(blocks, block.String())
	}
	return blocks
}

var (
	listItem  = regexp.MustCompile(`^([-*+]|\d{1,9}[.)])(\s|$)`)
	fenceMark = regexp.MustCompile("^(`{3,}|~{3,})")
)

// fenceAfter is the mark of the fence that is open after the line, "" for none.
func fenceAfter(open, line string) string {
	mark := fenceMark.FindString(line)
	switch {
	case open == "":
		return mark
	case mark != "" && mark[0] == open[0] && len(mark) >= len(open) && mark == line:
		return ""
	}
	return open
}

// openFence is the mark of the fence that the block begins with and does not
// end, "" for none.
func openFence(block string) string {
	fence, first := "", true
	for line := range strings.Lines(block) {
		fence = fenceAfter(fence, strings.TrimSpace(line))
		if first && fence == "" {
			return ""
		}
		first = false
	}
	return fence
}
