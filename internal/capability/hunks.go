package capability

import (
	"slices"
	"unicode"
)

const (
	maxShownLine = 2000 // bytes of a line that are given
	lineLead     = 80   // bytes of a long line that are given before what differs
)

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

// Line is one line of a hunk, without its end.
type Line struct {
	Op   LineOp `json:"op"`
	Text string `json:"text"`
	// SkippedBefore and SkippedAfter are the bytes of an overlong line that
	// are left out of Text.
	SkippedBefore int `json:"skippedBefore,omitempty"`
	SkippedAfter  int `json:"skippedAfter,omitempty"`
	// Marks are the parts that differ from the line that stands against this
	// one; none where the lines have little in common.
	Marks []Span `json:"marks,omitempty"`
	// NoBreak marks a last line that does not end.
	NoBreak bool `json:"noBreak,omitempty"`
	// End is "crlf" where only some lines of the text end so.
	End LineEnd `json:"end,omitempty"`
}

// Span is a part of a line, in bytes, never within a character.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// hunks lays the blocks out with what is unchanged around them, as far as it
// is context or opened. Bounds is where the old text before and after them is
// no more theirs.
func (t *textDiffer) hunks(blocks []edit, bounds edit, open []LineRange) []Hunk {
	out, at, shift := []Hunk(nil), bounds.oldStart, 0
	for i, b := range blocks {
		shift = b.newStart - b.oldStart
		for _, r := range shown(at, b.oldStart, i > 0, true, open) {
			out = t.same(out, r, shift)
		}
		out = t.replace(out, b)
		at, shift = b.oldEnd, b.newEnd-b.oldEnd
	}
	for _, r := range shown(at, bounds.oldEnd, true, false, open) {
		out = t.same(out, r, shift)
	}
	return out
}

// shown is which of the unchanged lines [start, end) are given, as runs that
// do not touch.
func shown(start, end int, after, before bool, open []LineRange) [][2]int {
	var runs [][2]int
	add := func(from, to int) {
		if from, to = max(from, start), min(to, end); from < to {
			runs = append(runs, [2]int{from, to})
		}
	}
	if after {
		add(start, start+diffContext)
	}
	for _, r := range open {
		add(r.First-1, min(r.Last, r.First-1+maxOpened))
	}
	if before {
		add(end-diffContext, end)
	}
	slices.SortFunc(runs, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, r := range runs {
		if n := len(out); n > 0 && r[0] <= out[n-1][1]+1 { // to fold one line would take one
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}

// hunkAt returns the hunks with a last one that goes on at the given lines.
func hunkAt(hunks []Hunk, old, new int) []Hunk {
	if n := len(hunks); n > 0 && hunks[n-1].OldStart+hunks[n-1].OldLines == old+1 && hunks[n-1].NewStart+hunks[n-1].NewLines == new+1 {
		return hunks
	}
	return append(hunks, Hunk{OldStart: old + 1, NewStart: new + 1})
}

func (t *textDiffer) same(hunks []Hunk, run [2]int, shift int) []Hunk {
	hunks = hunkAt(hunks, run[0], run[0]+shift)
	h := &hunks[len(hunks)-1]
	for i := run[0]; i < run[1]; i++ {
		line := t.line(LineSame, t.old, i)
		line.cut(0)
		h.Lines = append(h.Lines, line)
	}
	h.OldLines += run[1] - run[0]
	h.NewLines += run[1] - run[0]
	return hunks
}

func (t *textDiffer) replace(hunks []Hunk, b edit) []Hunk {
	hunks = hunkAt(hunks, b.oldStart, b.newStart)
	h := &hunks[len(hunks)-1]
	start, removed, added := len(h.Lines), b.oldEnd-b.oldStart, b.newEnd-b.newStart
	for i := b.oldStart; i < b.oldEnd; i++ {
		h.Lines = append(h.Lines, t.line(LineRemoved, t.old, i))
	}
	for i := b.newStart; i < b.newEnd; i++ {
		h.Lines = append(h.Lines, t.line(LineAdded, t.new, i))
	}
	for i := range min(removed, added) {
		t.mark(&h.Lines[start+i], &h.Lines[start+removed+i])
	}
	for i := start; i < len(h.Lines); i++ {
		h.Lines[i].cut(0)
	}
	h.OldLines += removed
	h.NewLines += added
	return hunks
}

func (t *textDiffer) line(op LineOp, of textLines, i int) Line {
	out := Line{Op: op, Text: of.lines[i], NoBreak: of.ending(i) == 0}
	if t.exact && of.ending(i) == '\r' {
		out.End = EndCRLF
	}
	return out
}

// cut leaves out what is before the byte from and what is too long after it.
func (l *Line) cut(from int) {
	for from > 0 && within(l.Text, from) {
		from--
	}
	to := min(len(l.Text), from+maxShownLine)
	for to > from && within(l.Text, to) {
		to--
	}
	if from == 0 && to == len(l.Text) {
		return
	}
	l.SkippedBefore, l.SkippedAfter = l.SkippedBefore+from, l.SkippedAfter+len(l.Text)-to
	l.Text = l.Text[from:to]
	var marks []Span
	for _, m := range l.Marks {
		if m = (Span{max(m.Start, from) - from, min(m.End, to) - from}); m.Start < m.End {
			marks = append(marks, m)
		}
	}
	l.Marks = marks
}

// mark finds the words that differ between two lines. Lines that share less
// than a third are left unmarked: specks of colour would not help anybody.
func (t *textDiffer) mark(removed, added *Line) {
	if max(len(removed.Text), len(added.Text)) > maxShownLine {
		t.markLong(removed, added)
		return
	}
	if t.words <= 0 {
		return
	}
	a, b := words(removed.Text), words(added.Text)
	t.work.Bytes += len(removed.Text) + len(added.Text)
	x, y := numberWords(a, b)
	edits := t.editsOf(x, y, t.words)
	t.words, t.work.Steps = t.words-t.steps, t.work.Steps+t.steps
	var before, after []Span
	lost, at, to := 0, offsets(a), offsets(b)
	for _, e := range edits {
		lost += max(at[e.oldEnd]-at[e.oldStart], to[e.newEnd]-to[e.newStart])
		before = appendSpan(before, at[e.oldStart], at[e.oldEnd])
		after = appendSpan(after, to[e.newStart], to[e.newEnd])
	}
	if 3*lost <= 2*max(len(removed.Text), len(added.Text)) {
		removed.Marks, added.Marks = before, after
	}
}

// markLong marks all from the first to the last difference, and leaves out
// what the lines begin with in common.
func (t *textDiffer) markLong(removed, added *Line) {
	start, end := t.alike(removed.Text, added.Text)
	related := 3*(start+end) >= max(len(removed.Text), len(added.Text))
	for _, l := range []*Line{removed, added} {
		if related {
			l.Marks = appendSpan(nil, start, len(l.Text)-end)
		}
		l.cut(max(0, start-lineLead))
	}
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
