package ui

import (
	"context"
	"strings"
	"time"

	"capstore/internal/i18n"

	"github.com/a-h/templ"
)

// CountText is a number that is exact unless capped.
func CountText(ctx context.Context, n int, capped bool) string {
	if capped {
		return i18n.T(ctx, "common.count_capped", "n", n)
	}
	return i18n.From(ctx).Number(int64(n))
}

// Fact is one line of a list of facts: a text, or a component for more.
type Fact struct {
	Label string
	Text  string
	Mono  bool
	Body  templ.Component // instead of Text
}

// Point is a short statement; its tone says how much it matters.
type Point struct {
	Tone Tone // Neutral for what nobody notices
	Text string
}

func (p Point) color() string {
	if p.Tone == Neutral || p.Tone == "" {
		return "text-muted-foreground"
	}
	return toneText(p.Tone)
}

// Column is one column of a table.
type Column struct {
	Label   string
	Numeric bool // right-aligned
	Hidden  bool // the head is for screen readers only, as over buttons
}

// TableArgs describes a table. The children are its rows.
type TableArgs struct {
	Caption string // what it lists, for screen readers
	Columns []Column
}

// EmptyArgs describes an empty state. The children are the one thing to do.
type EmptyArgs struct {
	Icon  IconName
	Title string // what belongs here
	Text  string // why it is empty
}

// StepArgs is one step of a line of steps.
type StepArgs struct {
	Label   string
	Done    bool
	Current bool
}

func (s StepArgs) attrs() templ.Attributes {
	return Merge(templ.Attributes{"class": "step"},
		when(s.Done, templ.Attributes{"data-state": "done"}),
		when(s.Current, templ.Attributes{"aria-current": "step"}))
}

// ToastArgs describes a passing notice of what succeeded. The children are
// what can be done, such as undo.
type ToastArgs struct {
	Tone Tone // Success unless told
	Text string
	Note string
	Stay bool // does not leave by itself
}

func (a ToastArgs) tone() Tone {
	if a.Tone == "" {
		return Success
	}
	return a.Tone
}

// DialogArgs describes a dialog. The children are its body, usually a form.
type DialogArgs struct {
	ID    string
	Title string
	Lead  string
	// Modal opens it as soon as it arrives by a swap and removes it when it
	// closes. Without, a control with data-dialog=ID opens it.
	Modal bool
}

// clock is where relative times are measured from.
var clock = time.Now

// RowArgs describes one row of a list of capabilities or the like. The whole
// row is the link; its children, such as a switch, stand at the right above it.
type RowArgs struct {
	Kind    string // draws the tile and the word
	Name    string
	Href    string
	Ref     string // the address of the thing, such as acme/invoice-reader
	Version string
	Text    string // one or two lines
	Badges  []BadgeArgs
	Reach   string
	Tags    []string // the first three are shown
	Meta    []string // further short facts, such as "128 adopters"
	At      time.Time
	Reason  string // why it is as it is, such as "on: adopted by the workspace"
	// Remedy is what can be done about the reason, after it: a link or form.
	Remedy templ.Component
	// RefHref leads to the first part of Ref, the source.
	RefHref string
	// Marks are what befell the thing, each a line below.
	Marks []RowMark
}

// RowMark is something that befell what a row shows, with a link to where to
// go from there; without Href there is none.
type RowMark struct {
	Tone Tone
	Text string
	At   time.Time // when, after the text; zero for no matter
	Link string
	Href string
}

// ref is Ref as its source and the rest.
func (a RowArgs) ref() (source, rest string) {
	if i := strings.IndexByte(a.Ref, '/'); i > 0 && a.RefHref != "" {
		return a.Ref[:i], a.Ref[i:]
	}
	return "", a.Ref
}

func (a RowArgs) tags() []string { return a.Tags[:min(len(a.Tags), 3)] }
