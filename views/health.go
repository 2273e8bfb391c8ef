package views

import (
	"context"
	"slices"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Health is what a member's agent has and why.
type Health struct {
	Workspace string
	Member    string // name of the other member that it is about; "" for the reader
	Subject   string // his subject
	// Members are whom an admin may look at; nil for anybody else.
	Members []ui.Option
	Epoch   int64
	Digest  string
	Mode    string
	Usable  int
	Total   int
	Loaded  int // tools
	Later   int // tools that are deferred, or not known yet
	Filter  HealthFilter
	// Standings and Kinds count what there is by the filter's two axes.
	Standings, Kinds []HealthCount
	Groups           []HealthGroup
	Private          []HealthCount // another member's own, by kind
	Loop             HealthLoop
	Epochs           []HealthEpoch // newest first
	Pool             []HealthConnection
	Misreads         []HealthMisread
	Map              []HealthSource
}

// HealthFilter narrows the entries that are listed.
type HealthFilter struct{ Member, Standing, Kind string }

// HealthCount is how many there are of one name.
type HealthCount struct {
	Name string
	N    int
}

// HealthGroup is the entries of one standing.
type HealthGroup struct {
	Standing string
	Rows     []HealthRow
	// Shipped are those of capstore itself, which are many and seldom looked at.
	Shipped []HealthRow
}

// HealthRow is one entry.
type HealthRow struct {
	Kind    string // of the capability
	Name    string
	Href    string
	Ref     string
	Version string
	Origin  string
	Loading string // in words
	Reason  string
	Detail  string
	Retired bool
	Notes   []string
	// Remedy is where somebody can do something about it; "" when nobody has to.
	Remedy, RemedyLabel string
}

// HealthLoop is how the loop that keeps worlds current is doing.
type HealthLoop struct {
	Passes                   int64
	LastSuccess, FailingFrom time.Time
	LastError                string
}

// HealthEpoch is one step of the world.
type HealthEpoch struct {
	Epoch                   int64
	First                   bool // there was nothing before it to differ from
	Digest                  string
	At                      time.Time
	Added, Removed, Changed int
	Lines                   []string
	Turns                   []HealthTurn
	More                    int64 // turns that are not listed
}

// HealthTurn is a turn that bound an epoch.
type HealthTurn struct {
	Href  string
	At    time.Time
	State string
}

// HealthConnection is one MCP server as this process is connected to it.
type HealthConnection struct {
	Name      string
	Connected bool
	Calls     int
	Failures  int
	RetryAt   time.Time
	Reason    string
}

// HealthMisread counts uses of a tool that were not foreseen.
type HealthMisread struct {
	Tool  string
	Count int64
	Last  time.Time
}

// HealthSource is one source of tools: how many of them are before the model
// from the start, by name only, and not at all.
type HealthSource struct {
	Name                    string
	Loaded, Later, Withheld int
}

func (s HealthSource) total() int { return s.Loaded + s.Later + s.Withheld }

func (v Health) facts(ctx context.Context) []ui.Fact {
	return []ui.Fact{
		{Label: i18n.T(ctx, "health.epoch"), Text: count(ctx, v.Epoch)},
		{Label: i18n.T(ctx, "health.digest"), Body: ui.Digest(i18n.T(ctx, "health.digest"), v.Digest)},
		{Label: i18n.T(ctx, "health.mode"), Text: i18n.T(ctx, "agent.mode_"+v.Mode)},
		{Label: i18n.T(ctx, "health.entries"), Text: i18n.T(ctx, "health.usable_of", "n", v.Usable, "total", v.Total)},
		{Label: i18n.T(ctx, "health.tools"), Text: i18n.T(ctx, "health.loaded_later", "loaded", v.Loaded, "later", v.Later)},
	}
}

func (v Health) standingChips(ctx context.Context) []ui.Chip {
	return v.chips(v.Standings, i18n.T(ctx, "health.all"), v.Filter.Standing,
		func(name string) string { return i18n.T(ctx, "health.standing_"+name) },
		func(f *HealthFilter, name string) { f.Standing = name })
}

func (v Health) kindChips(ctx context.Context) []ui.Chip {
	return v.chips(v.Kinds, i18n.T(ctx, "health.all"), v.Filter.Kind,
		func(name string) string { return i18n.T(ctx, "kind."+name) },
		func(f *HealthFilter, name string) { f.Kind = name })
}

// chips are one for everything, and one for each that there is.
func (v Health) chips(counts []HealthCount, all, current string, label func(string) string, set func(*HealthFilter, string)) []ui.Chip {
	to := func(name string) string {
		f := v.Filter
		set(&f, name)
		return f.path(v.Workspace)
	}
	out := []ui.Chip{{Label: all, Href: to(""), Current: current == ""}}
	for _, c := range counts {
		out = append(out, ui.Chip{Label: label(c.Name), Href: to(c.Name), Current: c.Name == current, Count: c.N, HasCount: true})
	}
	return out
}

var standingTones = map[string]ui.Tone{"failing": ui.Danger, "held": ui.Danger, "needs_setup": ui.Warning, "shadowed": ui.Warning, "usable": ui.Success}

func (r HealthRow) args(ctx context.Context, standing string) ui.RowArgs {
	a := ui.RowArgs{
		Kind: r.Kind, Name: r.Name, Href: r.Href, Ref: r.Ref, Version: r.Version, Reason: r.Reason, Meta: []string{i18n.T(ctx, "health.origin_"+r.Origin)},
	}
	if r.Retired {
		a.Badges = append(a.Badges, ui.BadgeArgs{Label: i18n.T(ctx, "health.retired"), Tone: ui.Danger})
	}
	if r.Loading != "" {
		a.Meta = append(a.Meta, r.Loading)
	}
	if r.Detail != "" {
		a.Marks = append(a.Marks, ui.RowMark{Tone: standingTones[standing], Text: r.Detail})
	}
	for _, note := range r.Notes {
		a.Marks = append(a.Marks, ui.RowMark{Text: note})
	}
	if r.Remedy != "" {
		a.Remedy = textLink(r.Remedy, r.RemedyLabel)
	}
	return a
}

// tone says how the loop is doing.
func (l HealthLoop) tone() ui.Tone {
	switch {
	case !l.FailingFrom.IsZero():
		return ui.Danger
	case l.LastSuccess.IsZero():
		return ui.Neutral
	}
	return ui.Success
}

func (l HealthLoop) points(ctx context.Context) []ui.Point {
	at := i18n.From(ctx)
	switch {
	case !l.FailingFrom.IsZero():
		return []ui.Point{
			{Tone: l.tone(), Text: i18n.T(ctx, "health.loop_failing", "since", at.DateTime(l.FailingFrom), "error", l.LastError)},
			{Text: i18n.T(ctx, "health.loop_still")},
		}
	case l.LastSuccess.IsZero():
		return []ui.Point{{Tone: l.tone(), Text: i18n.T(ctx, "health.loop_none")}}
	}
	out := []ui.Point{{Tone: l.tone(), Text: i18n.T(ctx, "health.loop_well", "at", at.DateTime(l.LastSuccess), "n", count(ctx, l.Passes))}}
	if l.LastError != "" {
		out = append(out, ui.Point{Text: i18n.T(ctx, "health.loop_error", "error", l.LastError)})
	}
	return out
}

// timeline draws how much changed with each epoch, oldest first; what went away
// has the colour of what went wrong. The first epoch changed nothing.
func (v Health) timeline(ctx context.Context) ui.ChartArgs {
	a := ui.ChartArgs{Title: i18n.T(ctx, "health.timeline"), Bottom: "0", Label: i18n.T(ctx, "health.timeline_label")}
	for _, e := range slices.Backward(v.Epochs) {
		if e.First {
			continue
		}
		name := i18n.T(ctx, "health.epoch_n", "epoch", e.Epoch)
		if a.First == "" {
			a.First = name
		}
		a.Last = name
		a.Bars = append(a.Bars, ui.Bar{
			Value: float64(e.Added + e.Removed + e.Changed), Part: float64(e.Removed),
			Title: i18n.T(ctx, "health.on_epoch", "epoch", e.Epoch, "at", i18n.From(ctx).DateTime(e.At), "what", e.what(ctx)),
		})
	}
	return scaled(a, func(n float64) string { return count(ctx, int64(n)) })
}

// what counts the changes in words.
func (e HealthEpoch) what(ctx context.Context) string {
	var parts []string
	for _, p := range []struct {
		key string
		n   int
	}{{"health.added", e.Added}, {"health.removed", e.Removed}, {"health.changed", e.Changed}} {
		if p.n > 0 {
			parts = append(parts, i18n.T(ctx, p.key, "n", p.n))
		}
	}
	if len(parts) == 0 {
		return i18n.T(ctx, "health.nothing")
	}
	return strings.Join(parts, ", ")
}

// mapped is how many sources the picture names; the rest go together.
const mapped = 6

// flow is the picture of where tools come from and how they reach the model.
func (v Health) flow(ctx context.Context) ui.FlowArgs {
	sources := v.Map
	if len(sources) > mapped {
		rest := HealthSource{Name: i18n.T(ctx, "health.map_rest", "n", len(sources)-mapped+1)}
		for _, s := range sources[mapped-1:] {
			rest.Loaded, rest.Later, rest.Withheld = rest.Loaded+s.Loaded, rest.Later+s.Later, rest.Withheld+s.Withheld
		}
		sources = append(append([]HealthSource{}, sources[:mapped-1]...), rest)
	}
	a := ui.FlowArgs{Label: i18n.T(ctx, "health.map_label"), End: i18n.T(ctx, "health.map_model")}
	for _, class := range []struct {
		name, tone string
		reaches    bool
		n          func(HealthSource) int
	}{
		{"loaded", "fill-primary", true, func(s HealthSource) int { return s.Loaded }},
		{"later", "fill-primary/35", true, func(s HealthSource) int { return s.Later }},
		{"withheld", "fill-destructive", false, func(s HealthSource) int { return s.Withheld }},
	} {
		sum, at := 0, len(a.Second)
		for i, s := range sources {
			if n := class.n(s); n > 0 {
				sum += n
				a.Links = append(a.Links, ui.FlowLink{From: i, To: at, Value: float64(n), Title: i18n.T(ctx, "health.map_link", "source", s.Name, "n", n, "to", i18n.T(ctx, "health.load_"+class.name))})
			}
		}
		if sum > 0 {
			a.Second = append(a.Second, ui.FlowNode{Label: i18n.T(ctx, "health.map_node", "name", i18n.T(ctx, "health.load_"+class.name), "n", sum), Tone: class.tone})
			a.Reaches = append(a.Reaches, class.reaches)
		}
	}
	for _, s := range sources {
		a.First = append(a.First, ui.FlowNode{Label: i18n.T(ctx, "health.map_node", "name", s.Name, "n", s.total())})
	}
	return a
}

func columns(ctx context.Context, keys ...string) []ui.Column {
	var out []ui.Column
	for _, key := range keys {
		name, numeric := strings.CutPrefix(key, "#")
		out = append(out, ui.Column{Label: i18n.T(ctx, name), Numeric: numeric})
	}
	return out
}
