package views

import (
	"strconv"

	"capstore/internal/capability"
	"capstore/views/ui"
)

// LineChange is how a text differs by its lines, or a part of that.
type LineChange struct {
	Key   string // of the change, for links to its other parts
	ID    string // of the box that holds it
	Hunks []ui.DiffHunk
	// Replaced says that the lines say nothing; Hunks is empty then unless
	// they were asked for.
	Replaced       bool
	Added, Removed int // lines, in all
	From           int // changed lines before those given
	Rest           int // changed lines after those given
	Next           int // where those begin; 0 where nothing was given
	OldLines       int // in all
	Opened         []ui.DiffRun
}

// Lines is the kernel's difference of a text, by the key of its change.
func Lines(key, id string, d capability.TextDiff) *LineChange {
	return &LineChange{
		Key: key, ID: id, Hunks: DiffHunks(d), Replaced: d.Replaced, Added: d.Added, Removed: d.Removed,
		From: d.From, Next: d.Next(), Rest: d.Changed() - d.From - d.Given, OldLines: d.OldLines,
	}
}

// DiffHunks is the kernel's line diff as the component draws it.
func DiffHunks(d capability.TextDiff) []ui.DiffHunk {
	hunks := make([]ui.DiffHunk, 0, len(d.Hunks))
	for _, h := range d.Hunks {
		hunk := ui.DiffHunk{OldStart: h.OldStart, NewStart: h.NewStart}
		for _, l := range h.Lines {
			line := ui.DiffLine{
				Op: ui.DiffOp(l.Op), Text: l.Text, NoBreak: l.NoBreak, SkippedBefore: l.SkippedBefore, SkippedAfter: l.SkippedAfter,
			}
			if l.End == capability.EndCRLF {
				line.End = "CRLF"
			}
			for _, m := range l.Marks {
				line.Marks = append(line.Marks, ui.DiffSpan(m))
			}
			hunk.Lines = append(hunk.Lines, line)
		}
		hunks = append(hunks, hunk)
	}
	return hunks
}

func lineNumber(n int) string { return strconv.Itoa(n) }
