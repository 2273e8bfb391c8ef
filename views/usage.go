package views

import (
	"context"
	"math/big"
	"strconv"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"

	"github.com/a-h/templ"
)

// Usage is what agents did and took over some days.
type Usage struct {
	Workspace string
	Span      int  // days
	Mine      bool // only the reader's
	Admin     bool // who may see everyone's
	Total     UsageSum
	Days      []UsageDay // oldest first, each day of the span
	Members   []MemberUsage
	Tools     []ToolUsage
}

// UsageSum is figures added up. Cost is dollars as a decimal, "" for none.
type UsageSum struct {
	Turns, FailedTurns, Requests, Calls, FailedCalls, Input, Cached, Output int64
	Cost                                                                    string
}

// UsageDay is one day. Half of its calls took at most P50, most at most P95.
type UsageDay struct {
	Day time.Time
	UsageSum
	P50, P95 time.Duration
}

// MemberUsage is what one member used of one model, "" being direct mode.
type MemberUsage struct {
	Name, Model string
	UsageSum
}

// ToolUsage is the calls of one tool.
type ToolUsage struct {
	Tool                        string
	Calls, FailedCalls, Members int64
	P50, P95                    time.Duration
}

// UsageSpans are the spans that are offered, in days.
var UsageSpans = []int{7, 30, 90}

// UsagePath is figures of usage over so many days; 0 is the usual span. mine
// keeps them to the reader's own.
func UsagePath(ws string, days int, mine bool) string {
	span := ""
	if days > 0 {
		span = strconv.Itoa(days)
	}
	return withQuery(SettingsPath(ws, "usage"), "days", span, "mine", mark(mine))
}

func (s UsageSum) none() bool { return s.Turns == 0 && s.Calls == 0 }

func (v Usage) spans(ctx context.Context) []ui.Chip {
	var chips []ui.Chip
	for _, days := range UsageSpans {
		chips = append(chips, ui.Chip{Label: i18n.N(ctx, "usage.days", days), Href: UsagePath(v.Workspace, days, v.Mine), Current: days == v.Span})
	}
	return chips
}

func (v Usage) whose(ctx context.Context) []ui.Chip {
	return []ui.Chip{
		{Label: i18n.T(ctx, "usage.everyone"), Href: UsagePath(v.Workspace, v.Span, false), Current: !v.Mine},
		{Label: i18n.T(ctx, "usage.mine"), Href: UsagePath(v.Workspace, v.Span, true), Current: v.Mine},
	}
}

func (s UsageSum) facts(ctx context.Context) []ui.Fact {
	return []ui.Fact{
		{Label: i18n.T(ctx, "usage.turns"), Text: failing(ctx, s.Turns, s.FailedTurns)},
		{Label: i18n.T(ctx, "usage.requests"), Text: count(ctx, s.Requests)},
		{Label: i18n.T(ctx, "usage.calls"), Text: failing(ctx, s.Calls, s.FailedCalls)},
		{Label: i18n.T(ctx, "usage.tokens"), Text: s.tokens(ctx)},
		{Label: i18n.T(ctx, "usage.cost"), Text: costText(ctx, s.Cost)},
	}
}

func count(ctx context.Context, n int64) string { return i18n.From(ctx).Number(n) }

// failing is a number with how many of it failed.
func failing(ctx context.Context, n, failed int64) string {
	if failed == 0 {
		return count(ctx, n)
	}
	return i18n.T(ctx, "usage.failing", "n", count(ctx, n), "failed", count(ctx, failed))
}

func (s UsageSum) tokens(ctx context.Context) string {
	if s.Input+s.Cached+s.Output == 0 {
		return "–"
	}
	if s.Cached == 0 {
		return i18n.T(ctx, "usage.tokens_both", "input", count(ctx, s.Input), "output", count(ctx, s.Output))
	}
	return i18n.T(ctx, "usage.tokens_cached", "input", count(ctx, s.Input+s.Cached), "cached", count(ctx, s.Cached), "output", count(ctx, s.Output))
}

// costText rounds to cents, small amounts to what still shows.
func costText(ctx context.Context, cost string) string {
	amount, ok := new(big.Rat).SetString(cost)
	if !ok {
		return "–"
	}
	text := amount.FloatString(2)
	if amount.Cmp(big.NewRat(1, 1)) < 0 {
		text = strings.TrimRight(amount.FloatString(4), "0")
		text = strings.TrimSuffix(text, ".")
	}
	return dollars(ctx, text)
}

func modelLabel(ctx context.Context, name string) string {
	if name == "" {
		return i18n.T(ctx, "usage.direct")
	}
	return name
}

func latency(ctx context.Context, d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return i18n.From(ctx).Duration(d)
}

func (v Usage) ends(ctx context.Context) (first, last string) {
	if len(v.Days) == 0 {
		return "", ""
	}
	return i18n.From(ctx).Date(v.Days[0].Day), i18n.From(ctx).Date(v.Days[len(v.Days)-1].Day)
}

// chart draws one figure of every day.
func (v Usage) chart(ctx context.Context, title string, bar func(UsageDay) ui.Bar) ui.ChartArgs {
	a := ui.ChartArgs{Title: title, Bottom: "0", Label: i18n.T(ctx, "usage.chart_label", "title", title)}
	a.First, a.Last = v.ends(ctx)
	for _, d := range v.Days {
		a.Bars = append(a.Bars, bar(d))
	}
	return a
}

func (v Usage) turnsChart(ctx context.Context) ui.ChartArgs {
	a := v.chart(ctx, i18n.T(ctx, "usage.turns"), func(d UsageDay) ui.Bar {
		return ui.Bar{Value: float64(d.Turns), Part: float64(d.FailedTurns), Title: v.onDay(ctx, d, failing(ctx, d.Turns, d.FailedTurns))}
	})
	return scaled(a, func(n float64) string { return count(ctx, int64(n)) })
}

func (v Usage) callsChart(ctx context.Context) ui.ChartArgs {
	a := v.chart(ctx, i18n.T(ctx, "usage.calls"), func(d UsageDay) ui.Bar {
		return ui.Bar{Value: float64(d.Calls), Part: float64(d.FailedCalls), Title: v.onDay(ctx, d, failing(ctx, d.Calls, d.FailedCalls))}
	})
	return scaled(a, func(n float64) string { return count(ctx, int64(n)) })
}

func (v Usage) tokensChart(ctx context.Context) ui.ChartArgs {
	a := v.chart(ctx, i18n.T(ctx, "usage.tokens"), func(d UsageDay) ui.Bar {
		return ui.Bar{Value: float64(d.Input + d.Cached + d.Output), Title: v.onDay(ctx, d, d.tokens(ctx))}
	})
	return scaled(a, func(n float64) string { return compact(ctx, n) })
}

// latencyChart is the band of how long calls took, each day.
func (v Usage) latencyChart(ctx context.Context) ui.ChartArgs {
	title := i18n.T(ctx, "usage.latency")
	a := ui.ChartArgs{Title: title, Bottom: "0", Label: i18n.T(ctx, "usage.chart_label", "title", title)}
	a.First, a.Last = v.ends(ctx)
	for _, d := range v.Days {
		a.Spans = append(a.Spans, ui.Span{
			Low: d.P50.Seconds(), High: d.P95.Seconds(),
			Title: v.onDay(ctx, d, i18n.T(ctx, "usage.latency_both", "half", latency(ctx, d.P50), "most", latency(ctx, d.P95))),
		})
	}
	return scaled(a, func(s float64) string { return i18n.From(ctx).Duration(time.Duration(s * float64(time.Second))) })
}

func (v Usage) onDay(ctx context.Context, d UsageDay, what string) string {
	return i18n.T(ctx, "usage.on_day", "day", i18n.From(ctx).Date(d.Day), "what", what)
}

// scaled labels the scale. One that counts a single thing has no half.
func scaled(a ui.ChartArgs, text func(float64) string) ui.ChartArgs {
	top := a.Scale()
	if top == 0 {
		return a
	}
	a.Top = text(top)
	if half := text(top / 2); half != a.Bottom {
		a.Half = half
	}
	return a
}

// compact writes a large number short, as 1.2 M.
func compact(ctx context.Context, n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return strings.TrimSuffix(strconv.FormatFloat(n/unit.size, 'f', 1, 64), ".0") + " " + unit.name
		}
	}
	return count(ctx, int64(n))
}

// active are the days on which anything happened, newest first.
func (v Usage) active() (out []UsageDay) {
	for i := len(v.Days) - 1; i >= 0; i-- {
		if !v.Days[i].none() {
			out = append(out, v.Days[i])
		}
	}
	return out
}

func usageColumns(ctx context.Context, first ...ui.Column) []ui.Column {
	return append(first,
		ui.Column{Label: i18n.T(ctx, "usage.turns"), Numeric: true}, ui.Column{Label: i18n.T(ctx, "usage.calls"), Numeric: true},
		ui.Column{Label: i18n.T(ctx, "usage.tokens_in"), Numeric: true}, ui.Column{Label: i18n.T(ctx, "usage.tokens_out"), Numeric: true},
		ui.Column{Label: i18n.T(ctx, "usage.cost"), Numeric: true})
}

func dayColumns(ctx context.Context) []ui.Column {
	return append(usageColumns(ctx, ui.Column{Label: i18n.T(ctx, "usage.day")}),
		ui.Column{Label: i18n.T(ctx, "usage.half"), Numeric: true}, ui.Column{Label: i18n.T(ctx, "usage.most"), Numeric: true})
}

func memberUsageColumns(ctx context.Context) []ui.Column {
	return usageColumns(ctx, ui.Column{Label: i18n.T(ctx, "usage.member")}, ui.Column{Label: i18n.T(ctx, "usage.model")})
}

func toolUsageColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "usage.tool")}, {Label: i18n.T(ctx, "usage.calls"), Numeric: true}, {Label: i18n.T(ctx, "usage.members"), Numeric: true},
		{Label: i18n.T(ctx, "usage.half"), Numeric: true}, {Label: i18n.T(ctx, "usage.most"), Numeric: true},
	}
}

// numberCell is a cell of a number, named for narrow screens.
func numberCell(label string) templ.Attributes {
	return ui.Merge(cell(label), templ.Attributes{"data-numeric": true})
}
