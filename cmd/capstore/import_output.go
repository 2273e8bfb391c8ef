package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
)

// importOutput is where an import reports to: a person or a program.
type importOutput interface {
	notes(under string, notes []interchange.Note)
	item(o intake.Outcome)
	progress(done, of int)
	end(c intake.Counts, stopped bool)
}

func newImportOutput(env *environment, asJSON, preview bool) importOutput {
	bar := newBar(env.stderr)
	if asJSON {
		return &jsonOutput{bar: bar, w: bufio.NewWriter(env.stdout)}
	}
	return &textOutput{bar: bar, w: env.stdout, preview: preview}
}

// jsonOutput writes items as they come, so that memory holds none of them, and
// the numbers after them.
type jsonOutput struct {
	*bar
	w     *bufio.Writer
	n     int
	about []interchange.Note
}

func (j *jsonOutput) notes(under string, notes []interchange.Note) {
	for _, n := range notes {
		n.Path = joined(under, n.Path)
		j.about = append(j.about, n)
	}
}

func (j *jsonOutput) item(o intake.Outcome) {
	open := ",\n    "
	if j.n == 0 {
		open = "{\n  \"items\": [\n    "
	}
	j.n++
	fmt.Fprint(j.w, open, asJSON(intake.Line(o)))
}

func (j *jsonOutput) end(c intake.Counts, _ bool) {
	j.clear()
	if j.n == 0 {
		fmt.Fprint(j.w, "{\n  \"items\": [")
	}
	if j.about == nil {
		j.about = []interchange.Note{}
	}
	fmt.Fprintf(j.w, "\n  ],\n  \"notes\": %s,\n  \"found\": %d,\n  \"made\": %d,\n  \"repaired\": %d,\n  \"unchanged\": %d,\n  \"refused\": %d,\n  \"ignored\": %d\n}\n",
		asJSON(j.about), c.Found, c.Made, c.Repaired, c.Unchanged, c.Refused, c.Ignored)
	_ = j.w.Flush() // a reader who has left has his reasons
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(raw)
}

// textOutput keeps what a person must look at for the end.
type textOutput struct {
	*bar
	w                          io.Writer
	preview                    bool
	made, refused, mended, bad []string
	wants                      bool
}

// shownMade is how many of the made are named; the store has the others.
const shownMade = 20

func (t *textOutput) notes(under string, notes []interchange.Note) {
	for _, n := range notes {
		t.bad = append(t.bad, joined(under, n.Path)+": "+n.Message)
	}
}

func (t *textOutput) item(o intake.Outcome) {
	switch o.Status {
	case intake.Refused:
		t.refused = append(t.refused, o.Item.Path+"\n      "+strings.Join(reasons(o.Fault), "\n      "))
		t.wants = t.wants || len(o.Item.Wants) > 0
		return
	case intake.Ignored:
		return
	case intake.Made:
		line := fmt.Sprintf("%s@%s", o.ID, o.Version)
		if o.Follows != "" {
			line += " after " + o.Follows
		}
		if len(t.made) <= shownMade {
			t.made = append(t.made, line)
		}
	}
	if o.Item.Repaired {
		t.mended = append(t.mended, o.Item.Path+noteText(o.Item.Notes))
	}
}

func noteText(notes []interchange.Note) string {
	var out strings.Builder
	for _, n := range notes {
		out.WriteString("\n      " + n.Message)
	}
	return out.String()
}

func (t *textOutput) end(c intake.Counts, stopped bool) {
	t.clear()
	if len(t.made) > shownMade {
		t.made = append(t.made[:shownMade], "and "+grouped(c.Made-shownMade)+" more")
	}
	made := "Made"
	if t.preview {
		made = "Would be made"
	}
	t.list(made, t.made)
	t.list("Left out", t.bad)
	t.list("Repaired", t.mended)
	t.list("Refused", t.refused)
	fmt.Fprintf(t.w, "%s found: %s %s, %s unchanged, %s refused, %s ignored; %s repaired.\n",
		grouped(c.Found), grouped(c.Made), strings.ToLower(made), grouped(c.Unchanged), grouped(c.Refused), grouped(c.Ignored), grouped(c.Repaired))
	if t.wants {
		fmt.Fprintln(t.w, "Some lack an image or an address: the import page asks for it.")
	}
	if stopped {
		fmt.Fprintln(t.w, "Stopped before the end. What was made stays; the same command goes on from there.")
	}
}

func (t *textOutput) list(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(t.w, title+":")
	for _, line := range lines {
		fmt.Fprintln(t.w, "   ", line)
	}
}

// bar shows how far an import is, where a person can see it.
type bar struct {
	w     io.Writer // nil where nobody looks
	start time.Time
	width int
}

// newBar shows on a terminal only: a log is no place for it.
func newBar(w io.Writer) *bar {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &bar{w: w, start: time.Now()}
		}
	}
	return &bar{}
}

func (b *bar) progress(done, of int) {
	if b.w == nil || of == 0 {
		return
	}
	line := barLine(done, of, time.Since(b.start))
	fmt.Fprintf(b.w, "\r%-*s", b.width, line)
	b.width = len([]rune(line))
}

const barCells = 30

func barLine(done, of int, spent time.Duration) string {
	full := barCells * done / of
	rate := 0
	if spent > 0 {
		rate = int(float64(done) / spent.Seconds())
	}
	return fmt.Sprintf("[%s%s] %s/%s  %s/s", strings.Repeat("#", full), strings.Repeat(".", barCells-full), grouped(done), grouped(of), grouped(rate))
}

func (b *bar) clear() {
	if b.w != nil && b.width > 0 {
		fmt.Fprintf(b.w, "\r%-*s\r", b.width, "")
	}
}

// grouped writes a number as people read it: 12,345.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
