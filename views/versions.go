package views

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// historyID is the id that the version line with its comparison owns.
const historyID = "history"

// CapabilityHistory is the version line, and how two of its versions differ.
type CapabilityHistory struct {
	Rows  []VersionRow // those on this page, greatest first
	Total int
	// Newer and Older lead to the rest of the line; "" where there is none.
	Newer, Older string
	Choices      []VersionRow // all of them, to compare
	Lens         ComparisonLens
	MayTag       bool
	Tagging      *Tagging // the form that was refused; nil for none
	Compared     *Comparison
}

// Comparison is what lies between the two versions of the lens.
type Comparison struct {
	Effects []EffectLine
	Changes []Change // structure
	Texts   []Change // long texts, by their lines
	Move    Action   // takes the candidate into use
	Asks    []string // what that asks for
}

// Tagging is a form of tags that was refused.
type Tagging struct {
	Version string
	Form    Form
	// Taken are the tags that somebody set meanwhile; nil for another fault.
	Taken []string
}

// EffectLine is one thing that the candidate changes for whoever uses it.
type EffectLine struct {
	Text     string
	Power    bool // it can do more than before
	Breaking bool // those who go on as before are stopped
}

// mark is the text that says how grave the effect is; "" for one that is not.
func (e EffectLine) mark() string {
	switch {
	case e.Power:
		return "versions.power"
	case e.Breaking:
		return "versions.breaking"
	}
	return ""
}

// moving is the button that takes the candidate into use.
func (a Action) moving() ui.ButtonArgs {
	button := a.button()
	button.ID = "move"
	return button
}

// tagText lists tags for people.
func tagText(ctx context.Context, tags []string) string {
	if len(tags) == 0 {
		return i18n.T(ctx, "versions.no_tags")
	}
	return strings.Join(tags, ", ")
}

func (c Comparison) same() bool { return len(c.Changes)+len(c.Texts) == 0 }

func (v Capability) comparisonPath(l ComparisonLens) string {
	return ComparisonPath(v.Workspace, v.Source, v.ID, l)
}

// compareAttrs answers a choice in place.
func (v Capability) compareAttrs() templ.Attributes {
	return ui.Hx{
		Get: CapabilityPath(v.Workspace, v.Source, v.ID), Target: "#" + historyID, Swap: "outerHTML", Trigger: "change, submit", Push: true,
	}.Attrs()
}

// inPlace are the attributes of a link to another look at the history.
func (v Capability) inPlace(path string) templ.Attributes {
	return ui.Merge(templ.Attributes{"href": path}, ui.Hx{Get: path, Target: "#" + historyID, Swap: "outerHTML", Push: true}.Attrs())
}

// toComparison are the attributes of a link from the line down to how two of
// its versions differ.
func (v Capability) toComparison(l ComparisonLens) templ.Attributes {
	path := v.comparisonPath(l)
	return ui.Merge(v.inPlace(path), templ.Attributes{
		"href": path + "#comparison", "hx-swap": "outerHTML show:top showTarget:#comparison",
	})
}

// kept is what the comparison's form says beside the two versions.
func (l ComparisonLens) kept() map[string]string {
	out := map[string]string{"tab": TabVersions}
	if l.From != "" {
		out["from"] = l.From
	}
	if l.Split {
		out["view"] = "split"
	}
	return out
}

// turned compares the other way round.
func (l ComparisonLens) turned() ComparisonLens {
	l.Base, l.Candidate, l.Parts = l.Candidate, l.Base, nil
	return l
}

// since compares a row with the version before it.
func (l ComparisonLens) since(r VersionRow) ComparisonLens {
	l.Base, l.Candidate, l.Parts = r.Previous, r.Version, nil
	return l
}

func (l ComparisonLens) viewed(split bool) ComparisonLens {
	l.Split = split
	return l
}

// choice is the field that picks one of the two versions.
func (h CapabilityHistory) choice(ctx context.Context, name, chosen string) ui.SelectArgs {
	args := ui.SelectArgs{Field: ui.Field{Name: name, ID: name, Label: i18n.T(ctx, "versions."+name), Unmarked: true, Optional: true}}
	for _, row := range h.Choices {
		args.Options = append(args.Options, ui.Option{Value: row.Version, Label: row.label(ctx), Selected: row.Version == chosen})
	}
	return args
}

// comparing is a page that compares two versions of something: what its address
// says, and how that is spelt.
type comparing struct {
	lens ComparisonLens
	path func(ComparisonLens) string
}

func (v Capability) comparing(h CapabilityHistory) comparing {
	return comparing{h.Lens, v.comparisonPath}
}

// lines are the arguments to draw a text with, with links to its other parts.
// They work as pages of their own; with script only the rows are fetched.
func (at comparing) lines(c Change) ui.DiffArgs {
	l := c.Lines
	args := ui.DiffArgs{
		Name: c.name(), ID: l.ID, Hunks: l.Hunks, Split: at.lens.Split, OldLines: l.OldLines, Opened: l.Opened,
		Open: func(run ui.DiffRun) templ.Attributes {
			path := at.path(at.lens.with(DiffPart{Path: l.Key, First: run.First, Last: run.Last}))
			return rowsOf(path, l.ID, "[data-run='"+lineNumber(run.First)+"']")
		},
	}
	if l.From > 0 {
		args.Before = &ui.DiffLink{Lines: l.From, Attrs: at.whole(c)}
	}
	if l.Next > 0 {
		args.After = &ui.DiffLink{Lines: l.Rest, Attrs: rowsOf(at.path(at.lens.with(DiffPart{Path: l.Key, From: l.Next})), l.ID, ":not(.diff-before)")}
	}
	return args
}

// rowsOf are the attributes of a link within a table of lines: the rows of the
// answer's table that match take its place.
func rowsOf(path, id, match string) templ.Attributes {
	return ui.Merge(templ.Attributes{"href": path + "#" + id}, ui.Hx{
		Get: path, Target: "closest tr", Swap: "outerHTML", Select: "#" + id + " tbody > tr" + match,
	}.Attrs())
}

// whole are the attributes of the link that shows a text which is not shown
// unasked, in its place.
func (at comparing) whole(c Change) templ.Attributes {
	box := "#text-" + c.Lines.ID
	path := at.path(at.lens.with(DiffPart{Path: c.Lines.Key}))
	return ui.Merge(templ.Attributes{"href": path + box}, ui.Hx{Get: path, Target: box, Swap: "outerHTML", Select: box}.Attrs())
}

// held reports whether there are lines that are not shown unasked.
func (l LineChange) held() bool { return len(l.Hunks) == 0 && l.Added+l.Removed > 0 }

func (r VersionRow) badges(ctx context.Context) []ui.BadgeArgs {
	var out []ui.BadgeArgs
	add := func(key string, tone ui.Tone, icon ui.IconName, title string) {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "versions."+key), Tone: tone, Icon: icon, Title: title})
	}
	if r.Latest {
		add("latest", ui.Accent, "", "")
	}
	if r.Pinned {
		add("pinned", ui.Success, ui.IconPin, "")
	}
	if r.Deprecated {
		add("deprecated", ui.Warning, ui.IconWarning, i18n.T(ctx, "versions.deprecated_help"))
	}
	if r.Pre {
		add("pre", ui.Neutral, "", i18n.T(ctx, "versions.pre_help"))
	}
	switch r.State {
	case "withdrawn":
		add("withdrawn", ui.Warning, ui.IconWarning, i18n.T(ctx, "versions.withdrawn_help"))
	case "blocked":
		add("blocked", ui.Danger, ui.IconDanger, r.BlockedReason)
	}
	return out
}

// tagging is the row's form of tags as it was refused, else an empty one.
func (h CapabilityHistory) tagging(r VersionRow) Tagging {
	if h.Tagging != nil && h.Tagging.Version == r.Version {
		return *h.Tagging
	}
	return Tagging{}
}

// tagsField is the field of a row's tags, each with an id of its own but for
// the faulty one, to which the summary leads.
func (h CapabilityHistory) tagsField(ctx context.Context, r VersionRow) ui.Field {
	field := h.tagging(r).Form.Field("tags", i18n.T(ctx, "versions.tags"))
	field.Help, field.Optional, field.Unmarked = i18n.T(ctx, "versions.tags_help"), true, true
	if field.Error == "" {
		field.ID = ui.FieldID("tags-" + r.Version)
	}
	return field
}
