package capability

import "strings"

// LineEnd is how the lines of a text end.
type LineEnd string

const (
	EndLF    LineEnd = "lf"
	EndCRLF  LineEnd = "crlf"
	EndCR    LineEnd = "cr"
	EndMixed LineEnd = "mixed" // some in crlf, some in lf
)

// textLines is a text taken apart.
type textLines struct {
	lines   []string // without their ends
	crlf    []bool   // of a mixed text only, by line
	ends    LineEnd  // "" where no line ends
	noBreak bool     // the last line does not end
}

// linesOf splits at line feeds. A carriage return before one belongs to the
// end of the line; alone it is one only where there is no line feed at all, as
// in files of old machines, and else a character of its line.
func linesOf(s string) textLines {
	if s == "" {
		return textLines{}
	}
	sep, ends := "\n", EndLF
	if !strings.Contains(s, "\n") && strings.Contains(s, "\r") {
		sep, ends = "\r", EndCR
	}
	t := textLines{lines: strings.Split(s, sep), ends: ends}
	last := len(t.lines) - 1
	if t.noBreak = t.lines[last] != ""; !t.noBreak {
		t.lines = t.lines[:last]
	}
	if last == 0 {
		t.ends = ""
	}
	if ends == EndLF && strings.Contains(s, "\r\n") {
		t.returns(last)
	}
	return t
}

// returns takes the carriage returns off the lines that end, of which there
// are n.
func (t *textLines) returns(n int) {
	t.crlf = make([]bool, len(t.lines))
	found := 0
	for i := range n {
		if line, ok := strings.CutSuffix(t.lines[i], "\r"); ok {
			t.lines[i], t.crlf[i] = line, true
			found++
		}
	}
	if t.ends = EndMixed; found == n {
		t.ends, t.crlf = EndCRLF, nil
	}
}

// ending tells a line's end apart from that of others: 0 for none.
func (t textLines) ending(i int) byte {
	switch {
	case t.noBreak && i == len(t.lines)-1:
		return 0
	case t.crlf != nil && t.crlf[i]:
		return '\r'
	}
	return '\n'
}

// numbered gives every different line a number, the same in both texts. With
// exact ends a line is another when it ends otherwise.
func numbered(old, new textLines, exact bool) (a, b []int32) {
	type key struct {
		text string
		end  byte
	}
	numbers := make(map[key]int32, len(old.lines))
	number := func(t textLines) []int32 {
		out := make([]int32, len(t.lines))
		for i, line := range t.lines {
			k := key{line, t.ending(i)}
			if !exact && k.end != 0 {
				k.end = '\n'
			}
			n, known := numbers[k]
			if !known {
				n = int32(len(numbers))
				numbers[k] = n
			}
			out[i] = n
		}
		return out
	}
	return number(old), number(new)
}
