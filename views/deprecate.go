package views

import (
	"context"
	"strconv"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// successors is the id of the part of the page that a search replaces.
const successors = "successors"

// Deprecate is the page on which readers of a capability are told to look
// elsewhere.
type Deprecate struct {
	Workspace string
	Source    string
	ID        string
	Name      string
	Revision  int64 // of what is shown
	Adopters  int
	// Deprecated, Successor and Note are what holds now.
	Deprecated bool
	Successor  string
	Note       string
	Form       Form
	Offered    []Offer // what the search finds
	// Chosen is the successor in the form, with what it would mean; nil for
	// none, and for one that cannot be named.
	Chosen *Offer
}

// Offer is a capability that could be the successor.
type Offer struct {
	Ref        string
	Name       string
	Kind       string
	Version    string
	Reach      string
	Deprecated bool
	// Adopters of the deprecated one, and of them those who cannot see this
	// one; known of the chosen one only.
	Adopters int
	Unseen   int
}

func (d Deprecate) path() string { return ManagePartPath(d.Workspace, d.Source, d.ID, PartDeprecation) }

func (d Deprecate) back() string {
	return ManagePath(d.Workspace, d.Source, d.ID) + "#part-deprecation"
}

func (d Deprecate) hidden() map[string]string {
	return map[string]string{"revision": strconv.FormatInt(d.Revision, 10)}
}

// options are the chosen successor, what the search offers, and none at all.
func (d Deprecate) options(ctx context.Context) []ui.Option {
	chosen := d.Form.Value("deprecated.successor", d.Successor)
	out := []ui.Option{{Value: "", Label: i18n.T(ctx, "deprecate.none"), Help: i18n.T(ctx, "deprecate.none_help"), Selected: chosen == ""}}
	switch {
	case d.Chosen != nil:
		out = append(out, d.Chosen.option(ctx, chosen))
	case chosen != "":
		out = append(out, ui.Option{Value: chosen, Label: chosen, Help: i18n.T(ctx, "deprecate.unknown"), Selected: true})
	}
	for _, o := range d.Offered {
		if o.Ref != chosen {
			out = append(out, o.option(ctx, chosen))
		}
	}
	return out
}

func (o Offer) option(ctx context.Context, chosen string) ui.Option {
	help := o.Ref + " · " + o.Version + " · " + i18n.T(ctx, "kind."+o.Kind) + " · " + i18n.T(ctx, "reach."+o.Reach)
	if o.Deprecated {
		help += " · " + i18n.T(ctx, "store.deprecated")
	}
	return ui.Option{Value: o.Ref, Label: o.Name, Icon: ui.KindIcon(o.Kind), Help: help, Selected: o.Ref == chosen}
}

// means says for how many it is.
func (d Deprecate) means(ctx context.Context) []ui.Point {
	out := []ui.Point{{Tone: ui.Neutral, Text: i18n.T(ctx, "deprecate.stops_nothing")}}
	if d.Adopters == 0 {
		out = append(out, ui.Point{Tone: ui.Neutral, Text: i18n.T(ctx, "retire.adopters_none")})
	} else {
		out = append(out, ui.Point{Tone: ui.Info, Text: i18n.N(ctx, "deprecate.adopters", d.Adopters)})
	}
	if d.Chosen != nil && d.Chosen.Unseen > 0 {
		out = append(out, ui.Point{Tone: ui.Warning, Text: i18n.N(ctx, "deprecate.unseen", d.Chosen.Unseen, "ref", d.Chosen.Ref)})
	} else if d.Chosen != nil && d.Chosen.Adopters > 0 {
		out = append(out, ui.Point{Tone: ui.Success, Text: i18n.T(ctx, "deprecate.all_see", "ref", d.Chosen.Ref)})
	}
	return out
}

// submit says whether the deprecation is made or changed.
func (d Deprecate) submit(ctx context.Context) string {
	if d.Deprecated {
		return i18n.T(ctx, "manage.save_deprecation")
	}
	return i18n.T(ctx, "manage.deprecate")
}

// look asks for the part anew with the form as it is.
func (d Deprecate) look(trigger string) templ.Attributes {
	return ui.Hx{Get: d.path(), Target: "#" + successors, Swap: "outerHTML", Trigger: trigger, Include: "closest form", Sync: "closest form:replace"}.Attrs()
}
