package ui

import (
	"context"
	"html"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// DiffOp is what a line of a diff is.
type DiffOp string

// The three sorts of line.
const (
	DiffSame    DiffOp = "same"
	DiffAdded   DiffOp = "added"
	DiffRemoved DiffOp = "removed"
)

// DiffSpan is a part of a line, in bytes, that differs from the other side.
type DiffSpan struct{ Start, End int }

// DiffLine is one line without its line break.
type DiffLine struct {
	Op      DiffOp
	Text    string
	Marks   []DiffSpan
	NoBreak bool // a last line that does not end in a line break
}

// DiffHunk is a run of changed lines with some unchanged ones around. Starts
// count from 1.
type DiffHunk struct {
	OldStart int
	NewStart int
	Lines    []DiffLine
}

// DiffArgs describes the difference of two texts.
type DiffArgs struct {
	Name  string // of what differs, for screen readers
	Hunks []DiffHunk
	Split bool // old and new side by side
}

// diffRow is a line, or a pair of lines side by side, ready to draw.
type diffRow struct {
	folded   int // unchanged lines left out before this hunk; no lines then
	old, new *DiffLine
	oldNo    int
	newNo    int
}

// rows lays the hunks out: one line a row, or with Split removed lines facing
// the added ones that follow them.
func (a DiffArgs) rows() []diffRow {
	var rows []diffRow
	next := 1 // line of the old text that the last hunk ended before
	for _, hunk := range a.Hunks {
		if gap := hunk.OldStart - next; gap > 0 {
			rows = append(rows, diffRow{folded: gap})
		}
		body, oldNo := hunk.rows()
		if a.Split {
			body = pair(body)
		}
		rows, next = append(rows, body...), oldNo
	}
	return rows
}

// rows numbers the lines of a hunk and returns the old line it ends before.
func (h DiffHunk) rows() (rows []diffRow, oldNo int) {
	oldNo, newNo := h.OldStart, h.NewStart
	for i := range h.Lines {
		line := &h.Lines[i]
		row := diffRow{}
		if line.Op != DiffAdded {
			row.old, row.oldNo = line, oldNo
			oldNo++
		}
		if line.Op != DiffRemoved {
			row.new, row.newNo = line, newNo
			newNo++
		}
		rows = append(rows, row)
	}
	return rows, oldNo
}

// pair puts each removed line beside the added line that replaces it.
func pair(rows []diffRow) []diffRow {
	var out, removed []diffRow
	flush := func() { out, removed = append(out, removed...), nil }
	filled := 0
	for _, row := range rows {
		switch {
		case row.new == nil:
			if filled > 0 {
				flush()
				filled = 0
			}
			removed = append(removed, row)
		case row.old == nil && filled < len(removed):
			removed[filled].new, removed[filled].newNo = row.new, row.newNo
			filled++
		default:
			flush()
			filled = 0
			out = append(out, row)
		}
	}
	flush()
	return out
}

// line returns the one line of a row that is not split.
func (r diffRow) line() *DiffLine {
	if r.new != nil {
		return r.new
	}
	return r.old
}

func diffClass(l *DiffLine) string {
	switch {
	case l == nil:
		return "diff-none"
	case l.Op == DiffAdded:
		return "diff-add"
	case l.Op == DiffRemoved:
		return "diff-del"
	}
	return ""
}

func diffSign(l *DiffLine) string {
	switch {
	case l != nil && l.Op == DiffAdded:
		return "+"
	case l != nil && l.Op == DiffRemoved:
		return "−"
	}
	return ""
}

// diffText is the escaped text with its differing parts marked.
func diffText(l *DiffLine) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if l == nil {
			return nil
		}
		_, err := io.WriteString(w, markedLine(*l))
		return err
	})
}

func markedLine(l DiffLine) string {
	tag := "ins"
	if l.Op == DiffRemoved {
		tag = "del"
	}
	var b strings.Builder
	at := 0
	for _, m := range l.Marks {
		if m.Start < at || m.End > len(l.Text) || m.End <= m.Start {
			continue
		}
		writeVisible(&b, l.Text[at:m.Start])
		b.WriteString("<" + tag + ">")
		writeVisible(&b, l.Text[m.Start:m.End])
		b.WriteString("</" + tag + ">")
		at = m.End
	}
	writeVisible(&b, l.Text[at:])
	if l.NoBreak {
		b.WriteString(`<span class="invisible-mark" data-code="` + html.EscapeString("⌀↵") + `"></span>`)
	}
	return b.String()
}
