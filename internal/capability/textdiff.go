package capability

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Bounds on the work and the answer of Lines. Past them a text is said to be
// replaced as a whole: nobody reads thousands of changed lines.
const (
	diffContext     = 3
	maxChangedLines = 4000
	maxChangedBytes = 512 << 10
	maxMarkedLine   = 2000 // bytes
	maxRefinements  = 60
)

// TextDiff is the difference of two texts by lines.
type TextDiff struct {
	Hunks []Hunk `json:"hunks,omitempty"`
	// Replaced says that too much differs to be worth showing by lines; Hunks
	// is empty then.
	Replaced bool `json:"replaced,omitempty"`
	Added    int  `json:"added"`   // lines
	Removed  int  `json:"removed"` // lines
}

// Hunk is a run of changed lines with a few unchanged ones around. Starts
// count from 1, as editors do.
type Hunk struct {
	OldStart int    `json:"oldStart"`
	OldLines int    `json:"oldLines"`
	NewStart int    `json:"newStart"`
	NewLines int    `json:"newLines"`
	Lines    []Line `json:"lines"`
}

// LineOp is what a line of a hunk is.
type LineOp string

const (
	LineSame    LineOp = "same"
	LineAdded   LineOp = "added"
	LineRemoved LineOp = "removed"
)

// Line is one line of a hunk, without its line feed.
type Line struct {
	Op   LineOp `json:"op"`
	Text string `json:"text"`
	// Marks are the parts that differ from the line that stands against this
	// one; none where the lines have little in common.
	Marks []Span `json:"marks,omitempty"`
	// NoBreak marks a last line that does not end in a line feed.
	NoBreak bool `json:"noBreak,omitempty"`
}

// Span is a part of a line, in bytes, never within a character.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Lines compares two texts. Work and answer are bounded whatever the texts
// are: much alike ones are compared exactly, others approximately, and what
// would be too long to read is said to be replaced.
func Lines(before, after string) TextDiff {
	t := texts{splitLines(before), splitLines(after)}
	edits := t.edits()
	out, size := TextDiff{}, 0
	for _, e := range edits {
		out.Removed += e.End - e.Start
		out.Added += e.ReplEnd - e.ReplStart
		size += lengths(t.old[e.Start:e.End]) + lengths(t.new[e.ReplStart:e.ReplEnd])
	}
	if out.Removed+out.Added > maxChangedLines || size > maxChangedBytes {
		out.Replaced = true
		return out
	}
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].Start-edits[n-1].End <= 2*diffContext {
			n++
		}
		out.Hunks = append(out.Hunks, t.hunk(edits[:n]))
		edits = edits[n:]
	}
	return out
}

// splitLines keeps the line feeds, so that a missing last one is a change.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	return lines[:len(lines)-btoi(strings.HasSuffix(s, "\n") || s == "")]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func lengths(lines []string) (n int) {
	for _, l := range lines {
		n += len(l)
	}
	return n
}

type texts struct{ old, new []string }

// edits compares exactly up to about a hundred differences. Past those the
// library gives up on what lies between; asking again for just that part
// makes it go on, as often as the bound allows.
func (t texts) edits() []lcs.Diff {
	edits, done := lcs.DiffLines(t.old, t.new), 0
	for range maxRefinements {
		i := done
		for i < len(edits) && !coarse(edits[i]) {
			i++
		}
		if i == len(edits) {
			break
		}
		e := edits[i]
		inner := lcs.DiffLines(t.old[e.Start:e.End], t.new[e.ReplStart:e.ReplEnd])
		if len(inner) == 1 && inner[0].End-inner[0].Start == e.End-e.Start {
			done = i + 1
			continue
		}
		for j := range inner {
			inner[j].Start, inner[j].End = inner[j].Start+e.Start, inner[j].End+e.Start
			inner[j].ReplStart, inner[j].ReplEnd = inner[j].ReplStart+e.ReplStart, inner[j].ReplEnd+e.ReplStart
		}
		edits = append(edits[:i:i], append(inner, edits[i+1:]...)...)
	}
	return edits
}

// coarse reports whether an edit may hide common lines within.
func coarse(e lcs.Diff) bool {
	return e.End-e.Start > 1 && e.ReplEnd-e.ReplStart > 1 && e.End-e.Start+e.ReplEnd-e.ReplStart > 50
}

func (t texts) hunk(edits []lcs.Diff) Hunk {
	first, last := edits[0], edits[len(edits)-1]
	from := max(0, first.Start-diffContext)
	to := min(len(t.old), last.End+diffContext)
	h := Hunk{OldStart: from + 1, NewStart: first.ReplStart - (first.Start - from) + 1}
	at := from
	for _, e := range edits {
		h.same(t.old[at:e.Start])
		h.replace(t.old[e.Start:e.End], t.new[e.ReplStart:e.ReplEnd])
		at = e.End
	}
	h.same(t.old[at:to])
	return h
}

func (h *Hunk) same(lines []string) {
	for _, l := range lines {
		h.Lines = append(h.Lines, line(LineSame, l))
	}
	h.OldLines += len(lines)
	h.NewLines += len(lines)
}

func (h *Hunk) replace(removed, added []string) {
	start := len(h.Lines)
	for _, l := range removed {
		h.Lines = append(h.Lines, line(LineRemoved, l))
	}
	for _, l := range added {
		h.Lines = append(h.Lines, line(LineAdded, l))
	}
	h.OldLines += len(removed)
	h.NewLines += len(added)
	for i := range min(len(removed), len(added)) {
		mark(&h.Lines[start+i], &h.Lines[start+len(removed)+i])
	}
}

func line(op LineOp, s string) Line {
	text := strings.TrimSuffix(s, "\n")
	return Line{Op: op, Text: text, NoBreak: text == s}
}

// mark finds the words that differ between two lines. Lines that share less
// than a third are left unmarked: specks of colour would not help anybody.
func mark(removed, added *Line) {
	if len(removed.Text)+len(added.Text) > 2*maxMarkedLine {
		return
	}
	a, b := words(removed.Text), words(added.Text)
	edits := lcs.DiffLines(a, b)
	var before, after []Span
	lost, at, to := 0, offsets(a), offsets(b)
	for _, e := range edits {
		lost += max(at[e.End]-at[e.Start], to[e.ReplEnd]-to[e.ReplStart])
		before = appendSpan(before, at[e.Start], at[e.End])
		after = appendSpan(after, to[e.ReplStart], to[e.ReplEnd])
	}
	if 3*lost > 2*max(len(removed.Text), len(added.Text)) {
		return
	}
	removed.Marks, added.Marks = before, after
}

func appendSpan(spans []Span, start, end int) []Span {
	if start == end {
		return spans
	}
	return append(spans, Span{start, end})
}

// words splits a line into runs of letters and digits, runs of space, and
// single other characters.
func words(s string) []string {
	var out []string
	start, last := 0, -1
	for i, r := range s {
		class := wordClass(r)
		if i > 0 && (class != last || class == 2) {
			out = append(out, s[start:i])
			start = i
		}
		last = class
	}
	if s != "" {
		out = append(out, s[start:])
	}
	return out
}

func wordClass(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return 1
	}
	return 2
}

// offsets gives where each word begins, and where the last one ends.
func offsets(words []string) []int {
	out := make([]int, len(words)+1)
	for i, w := range words {
		out[i+1] = out[i] + len(w)
	}
	return out
}
