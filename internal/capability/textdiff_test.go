package capability_test

import (
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// render writes hunks as a patch does, with the marked parts in brackets.
func render(d capability.TextDiff) string {
	var b strings.Builder
	for _, h := range d.Hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, l := range h.Lines {
			text := l.Text
			for i := len(l.Marks) - 1; i >= 0; i-- {
				m := l.Marks[i]
				text = text[:m.Start] + "[" + text[m.Start:m.End] + "]" + text[m.End:]
			}
			if l.NoBreak {
				text += "⏎"
			}
			if l.End != "" {
				text += string("«" + l.End + "»")
			}
			b.WriteString(map[capability.LineOp]string{capability.LineSame: " ", capability.LineAdded: "+", capability.LineRemoved: "-"}[l.Op] + text + "\n")
		}
	}
	return b.String()
}

// numbered is n lines, some of them others.
func numbered(n int, swap map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := swap[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestLinesReadAsAPatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, after, want string }{
		"equal":             {"a\nb\n", "a\nb\n", ""},
		"both empty":        {"", "", ""},
		"from nothing":      {"", "a\n", "@@ -1,0 +1,1 @@\n+a\n"},
		"to nothing":        {"a\n", "", "@@ -1,1 +1,0 @@\n-a\n"},
		"a word":            {"the quick brown fox\n", "the quick red fox\n", "@@ -1,1 +1,1 @@\n-the quick [brown] fox\n+the quick [red] fox\n"},
		"한국어":               {"서울 날씨를 본다\n", "부산 날씨를 본다\n", "@@ -1,1 +1,1 @@\n-[서울] 날씨를 본다\n+[부산] 날씨를 본다\n"},
		"nothing in common": {"alpha beta\n", "gamma(delta)\n", "@@ -1,1 +1,1 @@\n-alpha beta\n+gamma(delta)\n"},
		"last break":        {"a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b⏎\n+b\n"},
		"one end of some":   {"a\r\nb\nc\n", "a\r\nb\r\nc\n", "@@ -1,3 +1,3 @@\n a«crlf»\n-b\n+b«crlf»\n c\n"},
		"a return alone":    {"a\rb\nc\n", "a\rx\nc\n", "@@ -1,2 +1,2 @@\n-a\r[b]\n+a\r[x]\n c\n"},
		"context and two hunks": {numbered(30, nil), numbered(30, map[int]string{5: "", 25: "line 25\nnew\n"}),
			"@@ -2,7 +2,6 @@\n line 2\n line 3\n line 4\n-line 5\n line 6\n line 7\n line 8\n@@ -23,6 +22,7 @@\n line 23\n line 24\n line 25\n+new\n line 26\n line 27\n line 28\n"},
		"a block moved": {"1\n2\n3\nx\ny\n", "x\ny\n1\n2\n3\n", "@@ -1,5 +1,5 @@\n+x\n+y\n 1\n 2\n 3\n-x\n-y\n"},
	} {
		got := capability.Lines(tc.before, tc.after)
		if diff := cmp.Diff(tc.want, render(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEndsOfLinesAreSaidOnce(t *testing.T) {
	t.Parallel()
	unix := numbered(9, nil)
	for name, tc := range map[string]struct {
		before, after string
		ends          *capability.LineEnds
		changed       int
	}{
		"all in line feeds": {unix, unix + "x\n", nil, 1},
		"to crlf":           {unix, strings.ReplaceAll(unix, "\n", "\r\n"), &capability.LineEnds{Before: "lf", After: "crlf"}, 0},
		"from returns":      {strings.ReplaceAll(unix, "\n", "\r"), unix, &capability.LineEnds{Before: "cr", After: "lf"}, 0},
		"from a mixture":    {"a\r\nb\n", "a\nb\n", &capability.LineEnds{Before: "mixed", After: "lf"}, 0},
		"and a line":        {unix, strings.ReplaceAll(numbered(9, map[int]string{4: "four\n"}), "\n", "\r\n"), &capability.LineEnds{Before: "lf", After: "crlf"}, 2},
		"both in crlf":      {"a\r\nb\r\n", "a\r\nc\r\n", &capability.LineEnds{Before: "crlf", After: "crlf"}, 2},
		"no end at all":     {"a", "b\r\n", &capability.LineEnds{Before: "crlf", After: "crlf"}, 2},
	} {
		got := capability.Lines(tc.before, tc.after)
		if diff := cmp.Diff(tc.ends, got.Ends); diff != "" || got.Changed() != tc.changed {
			t.Errorf("%s: %d lines changed, %s", name, got.Changed(), diff)
		}
	}
}

// ended is the text as the diff sees it: where the ends of lines differ, they
// are all line feeds.
func ended(s string, d capability.TextDiff) string {
	if !d.EndsDiffer() {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if !strings.Contains(s, "\n") {
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	return s
}

// lineEnd is what follows a line in its text.
func lineEnd(l capability.Line, d capability.TextDiff) string {
	switch {
	case l.NoBreak:
		return ""
	case l.End == capability.EndCRLF, !d.EndsDiffer() && d.Ends != nil && d.Ends.Before == capability.EndCRLF:
		return "\r\n"
	case !d.EndsDiffer() && d.Ends != nil && d.Ends.Before == capability.EndCR:
		return "\r"
	}
	return "\n"
}

// apply replays a diff on the old text: it must give the new one.
func apply(t interface{ Fatalf(string, ...any) }, before string, d capability.TextDiff) string {
	var b strings.Builder
	rest, oldLine, newLine := ended(before, d), 1, 1
	sep := "\n"
	if lineEnd(capability.Line{}, d) == "\r" {
		sep = "\r"
	}
	take := func() string {
		at := strings.Index(rest, sep)
		if at < 0 {
			at = len(rest) - 1
		}
		line := rest[:at+1]
		rest, oldLine = rest[at+1:], oldLine+1
		return line
	}
	for _, h := range d.Hunks {
		for oldLine < h.OldStart {
			b.WriteString(take())
			newLine++
		}
		if newLine != h.NewStart || oldLine != h.OldStart {
			t.Fatalf("a hunk says it starts at %d and %d, it does at %d and %d", h.OldStart, h.NewStart, oldLine, newLine)
		}
		for _, l := range h.Lines {
			text := l.Text + lineEnd(l, d)
			if l.Op != capability.LineAdded {
				if old := take(); old != text {
					t.Fatalf("old line %d is %.2000q, the diff says %.2000q", oldLine-1, old, text)
				}
			}
			if l.Op != capability.LineRemoved {
				b.WriteString(text)
				newLine++
			}
		}
	}
	return b.String() + rest
}

var genText = rapid.Custom(func(t *rapid.T) string {
	line := rapid.SampledFrom([]string{"a", "b", "c d", "c e", "", "é f", "}", "x\r", "y\rz"})
	lines := rapid.SliceOfN(line, 0, rapid.SampledFrom([]int{5, 40, 400}).Draw(t, "most")).Draw(t, "lines")
	sep := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"}).Draw(t, "sep")
	return strings.Join(lines, sep) + rapid.SampledFrom([]string{"", sep}).Draw(t, "end")
})

func checkDiff(t interface{ Fatalf(string, ...any) }, before, after string) {
	d := capability.LinesWithin(before, after, capability.Window{})
	whole := d
	for next := d.Next(); next != 0; next = d.Next() {
		d = capability.LinesWithin(before, after, capability.Window{From: next})
		if d.From != next || d.Given == 0 {
			t.Fatalf("asked for what follows %d, got %d lines from %d", next, d.Given, d.From)
		}
		whole.Hunks = join(whole.Hunks, d.Hunks)
		whole.Given += d.Given
	}
	if whole.Given != whole.Changed() {
		t.Fatalf("%d changed lines were given of %d", whole.Given, whole.Changed())
	}
	if cut(whole) {
		return // what is left out cannot be put back
	}
	if got, want := apply(t, before, whole), ended(after, d); got != want {
		t.Fatalf("%.2000q and the diff give %.2000q, not %.2000q", before, got, want)
	}
	if (len(d.Hunks) == 0) != (ended(before, d) == ended(after, d)) {
		t.Fatalf("%d hunks for %q and %q", len(d.Hunks), before, after)
	}
	for _, h := range whole.Hunks {
		for _, l := range h.Lines {
			for _, m := range l.Marks {
				if m.Start < 0 || m.Start >= m.End || m.End > len(l.Text) {
					t.Fatalf("mark %v of %q", m, l.Text)
				}
			}
		}
	}
}

// cut reports whether a line is not there whole.
func cut(d capability.TextDiff) bool {
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			if l.SkippedBefore+l.SkippedAfter > 0 {
				return true
			}
		}
	}
	return false
}

// join puts the parts of a difference together: the unchanged lines after one
// part may be those before the next.
func join(hunks, more []capability.Hunk) []capability.Hunk {
	if len(hunks) == 0 || len(more) == 0 {
		return append(hunks, more...)
	}
	last, first := &hunks[len(hunks)-1], more[0]
	over := last.OldStart + last.OldLines - first.OldStart
	if over > 0 {
		last.Lines, last.OldLines, last.NewLines = last.Lines[:len(last.Lines)-over], last.OldLines-over, last.NewLines-over
	}
	return append(hunks, more...)
}

func TestADiffLeadsFromOldToNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := genText.Draw(t, "before")
		checkDiff(t, before, genText.Draw(t, "after"))
		if d := capability.Lines(before, before); len(d.Hunks) > 0 || d.Changed() > 0 || d.EndsDiffer() {
			t.Fatalf("%q differs from itself: %+v", before, d)
		}
	})
}

func TestManySmallEditsAreAllFound(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%10 == 5 {
			fmt.Fprintf(&after, "edit %d\n", i)
		} else {
			fmt.Fprintf(&after, "line %d\n", i)
		}
	}
	d := capability.Lines(before.String(), after.String())
	if d.Replaced || d.Added != 300 || d.Removed != 300 || len(d.Hunks) != 300 {
		t.Errorf("replaced %v, +%d -%d in %d hunks", d.Replaced, d.Added, d.Removed, len(d.Hunks))
	}
	checkDiff(t, before.String(), after.String())
}

// letters is n bytes of one-letter lines, the same for a seed.
func letters(seed uint32, n int) string {
	var b strings.Builder
	for x := seed; b.Len() < n; {
		x = x*1664525 + 1013904223
		b.WriteByte("abcdefgh"[x>>29])
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDiffsOfHugeTextsAreBounded(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("word ", 1<<20/5)
	many := numbered(80_000, nil)
	for name, tc := range map[string]struct {
		before, after string
		replaced      bool
		given         int
	}{
		"unrelated short lines":    {letters(1, 1<<20), letters(2, 1<<20), false, 2000},
		"unrelated lines":          {many, strings.ReplaceAll(strings.ToUpper(many), "LINE", "Zeile"), false, 2000},
		"nothing in common":        {many, strings.Repeat("quite another text\n", 55_000), true, 0},
		"one line, edited":         {line, line[:1<<19] + "x" + line[1<<19:], false, 2},
		"one line, another":        {line, strings.Repeat("other, ", 1<<20/7), true, 0},
		"one line of many, edited": {many, strings.Replace(many, "line 40000", "line forty", 1), false, 2},
		"short lines, all changed": {numbered(100_000, nil), strings.ReplaceAll(numbered(100_000, nil), "\n", ".\n"), false, 2000},
		"empty to a mebibyte":      {"", letters(3, 1<<20), false, 2000},
		"turned round":             {many, reversed(many), true, 0},
	} {
		d := capability.Lines(tc.before, tc.after)
		// Blocks are given whole, so that up to one of them may be missing.
		if d.Replaced != tc.replaced || d.Given > tc.given || d.Given < tc.given-tc.given/10 {
			t.Errorf("%s: replaced %v, %d lines given of %d", name, d.Replaced, d.Given, d.Changed())
		}
		lines := strings.Count(tc.before+tc.after, "\n") + 2
		if limit := 3<<19 + 3*32*lines; d.Work.Steps > limit {
			t.Errorf("%s: %d steps, at most %d were agreed", name, d.Work.Steps, limit)
		}
		if limit := 3 * (len(tc.before) + len(tc.after)); d.Work.Bytes > limit {
			t.Errorf("%s: %d bytes read, at most %d were agreed", name, d.Work.Bytes, limit)
		}
		if shown := len(render(d)); shown > 1<<20 {
			t.Errorf("%s: %d bytes are shown", name, shown)
		}
	}
}

func reversed(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return strings.Join(lines, "")
}

// What is too long to be given at once is given on request, also where its
// lines say nothing.
func TestTheRestOfALongDiffIsThere(t *testing.T) {
	t.Parallel()
	many := numbered(9000, nil)
	checkDiff(t, many, strings.ReplaceAll(many, "line", "row"))
	checkDiff(t, many, "")
	checkDiff(t, numbered(9000, nil), strings.Repeat("quite another text\n", 5000))
}

func TestALongLineIsCutAroundWhatDiffers(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("날씨 ", 20_000)
	d := capability.Lines(line+"\n", line[:70_000]+"비"+line[70_000:]+"\n")
	lines := d.Hunks[0].Lines
	if len(lines) != 2 || len(lines[1].Text) > 2000 || !strings.Contains(lines[1].Text, "비") {
		t.Fatalf("%d lines, the last of %d bytes", len(lines), len(lines[1].Text))
	}
	added := lines[1]
	if got := added.SkippedBefore + len(added.Text) + added.SkippedAfter; got != len(line)+3 {
		t.Errorf("%d bytes are told of, the line has %d", got, len(line)+3)
	}
	if len(added.Marks) != 1 || added.Text[added.Marks[0].Start:added.Marks[0].End] != "비" {
		t.Errorf("marked %v of %.200q", added.Marks, added.Text)
	}
}

func TestFoldedLinesAreOpened(t *testing.T) {
	t.Parallel()
	before := numbered(100, nil)
	after := numbered(100, map[int]string{10: "ten\n", 90: "ninety\n"})
	for name, tc := range map[string]struct {
		open []capability.LineRange
		want []string // the old lines of each hunk
	}{
		"all folded":       {nil, []string{"7-13", "87-93"}},
		"the run between":  {[]capability.LineRange{{14, 86}}, []string{"7-93"}},
		"a part of it":     {[]capability.LineRange{{40, 42}}, []string{"7-13", "40-42", "87-93"}},
		"what comes first": {[]capability.LineRange{{1, 6}}, []string{"1-13", "87-93"}},
		"what comes last":  {[]capability.LineRange{{94, 100}}, []string{"7-13", "87-100"}},
		"what is not":      {[]capability.LineRange{{-5, 0}, {101, 900}, {30, 20}}, []string{"7-13", "87-93"}},
	} {
		d := capability.LinesWithin(before, after, capability.Window{Open: tc.open})
		var got []string
		for _, h := range d.Hunks {
			got = append(got, fmt.Sprintf("%d-%d", h.OldStart, h.OldStart+h.OldLines-1))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := apply(t, before, d); got != after {
			t.Errorf("%s: the diff gives another text", name)
		}
	}
	long := capability.LinesWithin(numbered(5000, nil), numbered(5000, map[int]string{1: ""}), capability.Window{Open: []capability.LineRange{{5, 5000}}})
	if got := long.Hunks[0].OldLines; got != 1004 {
		t.Errorf("%d lines of a long run are opened at once", got)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "b\nc")
	f.Add("", "\n")
	f.Add("서울 날씨\r\n", "부산 날씨\n")
	f.Add("\xff\xfe a", "\xff b")
	f.Fuzz(func(t *testing.T, before, after string) {
		checkDiff(t, before, after)
		base := capability.Content{Name: before, Description: after, Spec: &capability.SkillSpec{Instructions: before, Files: []capability.File{{Path: before, Content: after}}}}
		next := capability.Content{Name: after, Description: after, Spec: &capability.SkillSpec{Instructions: after, Files: []capability.File{{Path: after, Content: before}}}}
		d := capability.Diff(base, next)
		if len(d.Changes) == 0 && base.Digest() != next.Digest() {
			t.Fatalf("contents differ without a change")
		}
		capability.Effects(base, next)
	})
}
