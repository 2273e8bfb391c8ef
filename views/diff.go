package views

import (
	"capstore/internal/capability"
	"capstore/views/ui"
)

// DiffHunks is the kernel's line diff as the component draws it.
func DiffHunks(d capability.TextDiff) []ui.DiffHunk {
	hunks := make([]ui.DiffHunk, 0, len(d.Hunks))
	for _, h := range d.Hunks {
		hunk := ui.DiffHunk{OldStart: h.OldStart, NewStart: h.NewStart}
		for _, l := range h.Lines {
			line := ui.DiffLine{Op: ui.DiffOp(l.Op), Text: l.Text, NoBreak: l.NoBreak}
			for _, m := range l.Marks {
				line.Marks = append(line.Marks, ui.DiffSpan(m))
			}
			hunk.Lines = append(hunk.Lines, line)
		}
		hunks = append(hunks, hunk)
	}
	return hunks
}
