package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sketch writes rows as "old|new" lines, for reading in a test.
func sketch(rows []diffRow) string {
	var b strings.Builder
	side := func(l *DiffLine, no int) string {
		if l == nil {
			return ""
		}
		return lineNo(no) + l.Text
	}
	for _, r := range rows {
		if r.folded.Last > 0 {
			b.WriteString("… " + lineNo(r.folded.len()) + "\n")
			continue
		}
		b.WriteString(side(r.old, r.oldNo) + "|" + side(r.new, r.newNo) + "\n")
	}
	return b.String()
}

func TestDiffRows(t *testing.T) {
	t.Parallel()
	same, added, removed := func(s string) DiffLine { return DiffLine{Op: DiffSame, Text: s} },
		func(s string) DiffLine { return DiffLine{Op: DiffAdded, Text: s} },
		func(s string) DiffLine { return DiffLine{Op: DiffRemoved, Text: s} }
	hunks := []DiffHunk{
		{OldStart: 3, NewStart: 3, Lines: []DiffLine{same("a"), removed("b"), removed("c"), added("B"), same("d")}},
		{OldStart: 9, NewStart: 8, Lines: []DiffLine{removed("x"), added("X"), added("Y"), removed("z"), same("e")}},
	}
	for _, tc := range []struct {
		name string
		args DiffArgs
		want string
	}{
		{"one column", DiffArgs{}, "… 2\n3a|3a\n4b|\n5c|\n|4B\n6d|5d\n… 2\n9x|\n|8X\n|9Y\n10z|\n11e|10e\n"},
		{"more lines after", DiffArgs{OldLines: 14}, "… 2\n3a|3a\n4b|\n5c|\n|4B\n6d|5d\n… 2\n9x|\n|8X\n|9Y\n10z|\n11e|10e\n… 3\n"},
		{"one part of several", DiffArgs{OldLines: 14, Before: &DiffLink{}, After: &DiffLink{}}, "3a|3a\n4b|\n5c|\n|4B\n6d|5d\n… 2\n9x|\n|8X\n|9Y\n10z|\n11e|10e\n"},
		{"side by side", DiffArgs{Split: true}, "… 2\n3a|3a\n4b|4B\n5c|\n6d|5d\n… 2\n9x|8X\n|9Y\n10z|\n11e|10e\n"},
	} {
		tc.args.Hunks = hunks
		got := sketch(tc.args.rows())
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestMarkedLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		line DiffLine
		want string
	}{
		{"added part", DiffLine{Op: DiffAdded, Text: "a<b>c", Marks: []DiffSpan{{1, 4}}}, "a<ins>&lt;b&gt;</ins>c"},
		{"removed part", DiffLine{Op: DiffRemoved, Text: "ab", Marks: []DiffSpan{{0, 1}}}, "<del>a</del>b"},
		{"marks that make no sense", DiffLine{Op: DiffAdded, Text: "ab", Marks: []DiffSpan{{1, 9}, {2, 1}, {-1, 1}}}, "ab"},
		{"hidden character", DiffLine{Op: DiffSame, Text: "a\u200bb"}, `a<bdi class="invisible-mark" data-code="U+200B">` + "\u200b</bdi>b"},
		{"another end", DiffLine{Op: DiffAdded, Text: "a", End: "CRLF"}, `a<span class="invisible-mark" data-code="CRLF"></span>`},
		{"no line break", DiffLine{Op: DiffSame, Text: "a", NoBreak: true}, `a<span class="invisible-mark" data-code="⌀↵"></span>`},
	} {
		if diff := cmp.Diff(tc.want, markedLine(tc.line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
