package capability

import "unicode/utf8"

// Bounds on the answer of one comparison of texts.
const (
	// MaxChangedLines is how many changed lines are given at once.
	MaxChangedLines = 2000
	diffContext     = 3
	maxBlock        = 100       // lines removed in a row before their successors follow
	maxShownBytes   = 512 << 10 // of the changed lines given at once
	maxOpened       = 1000      // unchanged lines shown on request
)

// TextDiff is the difference of two texts by lines, or a part of it.
type TextDiff struct {
	Hunks []Hunk `json:"hunks,omitempty"`
	// Replaced says that the two have so little in common that their lines say
	// nothing; Hunks is empty then unless they were asked for.
	Replaced bool `json:"replaced,omitempty"`
	Added    int  `json:"added"`   // lines, in all
	Removed  int  `json:"removed"` // lines, in all
	// From is how many changed lines come before the first one given, Given
	// how many are given.
	From  int `json:"from,omitempty"`
	Given int `json:"given"`
	// OldLines and NewLines are the lengths of the whole texts.
	OldLines int `json:"oldLines"`
	NewLines int `json:"newLines"`
	// Ends is there where a text has other ends of lines than line feeds.
	// Where they differ on the two sides, lines are compared without them.
	Ends *LineEnds `json:"lineEnds,omitempty"`
	// Work is what it cost to find out.
	Work Work `json:"-"`
}

// LineEnds is how the lines of two texts end; "" where there is one line only.
type LineEnds struct {
	Before LineEnd `json:"before,omitempty"`
	After  LineEnd `json:"after,omitempty"`
}

// Changed is how many lines were added and removed.
func (d TextDiff) Changed() int { return d.Added + d.Removed }

// Next is the Window.From that goes on where this part ends; 0 at the end.
func (d TextDiff) Next() int {
	if at := d.From + d.Given; at < d.Changed() && at > 0 {
		return at
	}
	return 0
}

// EndsDiffer reports whether the lines of the two texts end otherwise.
func (d TextDiff) EndsDiffer() bool { return d.Ends != nil && d.Ends.Before != d.Ends.After }

// Window is the part of a long difference that is wanted.
type Window struct {
	From int // changed lines to leave out
	// Open are unchanged lines to give too, by their numbers in the old text.
	Open []LineRange
}

// LineRange is a run of lines, counted from 1, both ends within.
type LineRange struct{ First, Last int }

// Lines compares two texts and gives the first MaxChangedLines changed lines.
// Work and answer are bounded whatever the texts are.
func Lines(before, after string) TextDiff {
	return new(textDiffer).lines(before, after, Window{}, MaxChangedLines, false)
}

// LinesWithin is Lines for another part of the difference. It gives lines also
// where Lines calls the text replaced.
func LinesWithin(before, after string, w Window) TextDiff {
	return new(textDiffer).lines(before, after, w, MaxChangedLines, true)
}

// textDiffer compares texts, one pair after the other.
type textDiffer struct {
	comparer
	old, new textLines
	exact    bool // the ends of lines count
	words    int  // steps left to find differing words with
	work     Work
}

// lines compares. Insist is for lines that say nothing.
func (t *textDiffer) lines(before, after string, w Window, limit int, insist bool) TextDiff {
	t.old, t.new = linesOf(before), linesOf(after)
	t.work = Work{Bytes: len(before) + len(after)}
	out := TextDiff{OldLines: len(t.old.lines), NewLines: len(t.new.lines), Ends: endsOf(t.old, t.new)}
	t.exact = !out.EndsDiffer()
	a, b := numbered(t.old, t.new, t.exact)
	edits := t.editsOf(a, b, stepsAtLeast+stepsByElement*(len(a)+len(b)))
	t.words, t.work.Steps = t.limit, t.steps
	for _, e := range edits {
		out.Removed += e.oldEnd - e.oldStart
		out.Added += e.newEnd - e.newStart
	}
	if out.Replaced = t.sayNothing(edits); !out.Replaced || insist {
		t.fill(&out, blocksOf(edits), w, limit)
	}
	out.Work = t.work
	return out
}

// endsOf is nil where every line ends in a line feed.
func endsOf(old, new textLines) *LineEnds {
	ends := LineEnds{old.ends, new.ends}
	if ends.Before == "" {
		ends.Before = ends.After
	}
	if ends.After == "" {
		ends.After = ends.Before
	}
	if ends.Before == ends.After && (ends.Before == EndLF || ends.Before == "") {
		return nil
	}
	return &ends
}

// blocksOf cuts long edits up, so that what was removed stands near what came
// in its place, and a part of a long difference says something by itself.
func blocksOf(edits []edit) []edit {
	var out []edit
	for _, e := range edits {
		for e.oldEnd-e.oldStart > maxBlock || e.newEnd-e.newStart > maxBlock {
			at := edit{oldEnd: min(e.oldEnd, e.oldStart+maxBlock), newEnd: min(e.newEnd, e.newStart+maxBlock)}
			out = append(out, edit{e.oldStart, at.oldEnd, e.newStart, at.newEnd})
			e.oldStart, e.newStart = at.oldEnd, at.newEnd
		}
		out = append(out, e)
	}
	return out
}

func (e edit) size() int { return e.oldEnd - e.oldStart + e.newEnd - e.newStart }

// fill gives the blocks within the window: those from From on, as many as the
// limits allow.
func (t *textDiffer) fill(out *TextDiff, blocks []edit, w Window, limit int) {
	first := 0
	for first < len(blocks) && out.From+blocks[first].size() <= w.From {
		out.From += blocks[first].size()
		first++
	}
	last, bytes := first, 0
	for last < len(blocks) && out.Given+blocks[last].size() <= limit && bytes < maxShownBytes {
		out.Given += blocks[last].size()
		bytes += t.shownBytes(blocks[last])
		last++
	}
	if first == last {
		return
	}
	bounds := edit{oldEnd: len(t.old.lines)}
	if first > 0 {
		bounds.oldStart = blocks[first-1].oldEnd
	}
	if last < len(blocks) {
		bounds.oldEnd = blocks[last].oldStart
	}
	out.Hunks = t.hunks(blocks[first:last], bounds, w.Open)
}

func (t *textDiffer) shownBytes(e edit) (n int) {
	for _, line := range t.old.lines[e.oldStart:e.oldEnd] {
		n += min(len(line), maxShownLine)
	}
	for _, line := range t.new.lines[e.newStart:e.newEnd] {
		n += min(len(line), maxShownLine)
	}
	return n
}

// Bounds on what is said to be replaced.
const (
	smallText = 64 << 10 // bytes: a reader looks through that much
	sampled   = 64       // pairs of lines
)

// sayNothing reports whether the edits leave less than a tenth of a large text
// alike, also within the lines that face one another.
func (t *textDiffer) sayNothing(edits []edit) bool {
	removed, added := 0, 0
	var pairs [][2]int
	for _, e := range edits {
		removed += sizeOf(t.old.lines[e.oldStart:e.oldEnd])
		added += sizeOf(t.new.lines[e.newStart:e.newEnd])
	}
	if min(removed, added) < smallText {
		return false
	}
	for _, e := range edits {
		for i := range min(e.oldEnd-e.oldStart, e.newEnd-e.newStart) {
			pairs = append(pairs, [2]int{e.oldStart + i, e.newStart + i})
		}
	}
	all := min(sizeOf(t.old.lines), sizeOf(t.new.lines))
	alike, size := 0, 1
	for i := 0; i < len(pairs); i += 1 + len(pairs)/sampled {
		old, new := t.old.lines[pairs[i][0]], t.new.lines[pairs[i][1]]
		start, end := t.alike(old, new)
		alike, size = alike+start+end, size+max(len(old), len(new))
	}
	kept := all - min(removed, added)
	return 10*(kept+min(removed, added)*alike/size) < all
}

func sizeOf(lines []string) (n int) {
	for _, l := range lines {
		n += len(l) + 1
	}
	return n
}

// alike is how many bytes two lines begin and end with in common, as whole
// characters.
func (t *textDiffer) alike(old, new string) (start, end int) {
	n := min(len(old), len(new))
	for start < n && old[start] == new[start] {
		start++
	}
	for start > 0 && (within(old, start) || within(new, start)) {
		start--
	}
	for end < n-start && old[len(old)-1-end] == new[len(new)-1-end] {
		end++
	}
	for end > 0 && (within(old, len(old)-end) || within(new, len(new)-end)) {
		end--
	}
	t.work.Bytes += start + end + 2
	return start, end
}

// within reports whether a character of the text goes on at the byte.
func within(s string, at int) bool { return at < len(s) && !utf8.RuneStart(s[at]) }

// numberWords is numbered for the words of two lines.
func numberWords(old, new []string) (a, b []int32) {
	return numbered(textLines{lines: old}, textLines{lines: new}, false)
}
