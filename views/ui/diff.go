package ui

import (
	"context"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
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
	NoBreak bool   // a last line that does not end in a line break
	End     string // how the line ends, where that is worth a mark
	// SkippedBefore and SkippedAfter are bytes of a long line that are not in
	// Text.
	SkippedBefore, SkippedAfter int
}

// DiffHunk is a run of changed lines with some unchanged ones around. Starts
// count from 1.
type DiffHunk struct {
	OldStart int
	NewStart int
	Lines    []DiffLine
}

// DiffArgs describes the difference of two texts, or a part of it.
type DiffArgs struct {
	Name  string // of what differs, for screen readers
	ID    string // of the box; needed with links
	Hunks []DiffHunk
	Split bool // old and new side by side
	// OldLines is the length of the old text: what follows the last hunk is
	// folded too. 0 says nothing of it.
	OldLines int
	// Before and After lead to the changed lines that are not among these.
	Before, After *DiffLink
	// Opened are folded runs that the hunks hold already, Open are the
	// attributes of the link that opens one; nil for no links.
	Opened []DiffRun
	Open   func(DiffRun) templ.Attributes
}

// DiffRun is a run of unchanged lines, by their numbers in the old text.
type DiffRun struct{ First, Last int }

// DiffLink leads to a number of changed lines.
type DiffLink struct {
	Lines int
	Attrs templ.Attributes // href and what htmx needs
}

// diffRow is a line, or a pair of lines side by side, ready to draw.
type diffRow struct {
	folded   DiffRun // unchanged lines left out; no lines then
	old, new *DiffLine
	oldNo    int
	newNo    int
}

// rows lays the hunks out: one line a row, or with Split removed lines facing
// the added ones that follow them.
func (a DiffArgs) rows() []diffRow {
	var rows []diffRow
	next := 1 // line of the old text that the last hunk ended before
	fold := func(until int) {
		if until > next {
			rows = append(rows, diffRow{folded: DiffRun{next, until - 1}})
		}
	}
	for i, hunk := range a.Hunks {
		if i > 0 || a.Before == nil {
			fold(hunk.OldStart)
		}
		body, oldNo := hunk.rows()
		if a.Split {
			body = pair(body)
		}
		rows, next = append(rows, body...), oldNo
	}
	if a.After == nil && len(rows) > 0 {
		fold(a.OldLines + 1)
	}
	return rows
}

// runAttrs name the opened run that the row belongs to, so that the answer to
// its link can be told from the rest.
func (a DiffArgs) runAttrs(r diffRow) templ.Attributes {
	at := max(r.oldNo, r.folded.First)
	for _, run := range a.Opened {
		if run.First <= at && at <= run.Last && (r.old == nil || r.old.Op == DiffSame) {
			return templ.Attributes{"data-run": strconv.Itoa(run.First)}
		}
	}
	return nil
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
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if l == nil {
			return nil
		}
		_, err := io.WriteString(w, skipped(ctx, l.SkippedBefore)+markedLine(*l)+skipped(ctx, l.SkippedAfter))
		return err
	})
}

// skipped says how much of a line is not shown.
func skipped(ctx context.Context, bytes int) string {
	if bytes == 0 {
		return ""
	}
	return `<span class="diff-skip">` + html.EscapeString(i18n.T(ctx, "diff.skipped", "size", i18n.From(ctx).Bytes(int64(bytes)))) + "</span>"
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
	end := l.End
	if l.NoBreak {
		end = "⌀↵"
	}
	if end != "" {
		b.WriteString(`<span class="invisible-mark" data-code="` + html.EscapeString(end) + `"></span>`)
	}
	return b.String()
}
