package views

import (
	"context"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// historyID is the id that the version line with its comparison owns.
const historyID = "history"

// CapabilityHistory is the version line, and how two of its versions differ.
type CapabilityHistory struct {
	Rows      []VersionRow
	Base      string // compared; "" while there is one version only
	Candidate string
	Split     bool
	Effects   []EffectLine
	Changes   []Change // structure
	Texts     []Change // long texts, by their lines
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

// compared reports whether there is a comparison to show.
func (h CapabilityHistory) compared() bool { return h.Base != "" && h.Candidate != "" }

func (h CapabilityHistory) same() bool { return len(h.Changes)+len(h.Texts) == 0 }

// compareAttrs answers a choice in place.
func (v Capability) compareAttrs() templ.Attributes {
	return ui.Hx{
		Get: CapabilityPath(v.Workspace, v.Source, v.ID), Target: "#" + historyID, Swap: "outerHTML", Trigger: "change, submit", Push: true,
	}.Attrs()
}

// kept is what the comparison's form says beside the two versions.
func (v Capability) kept(h CapabilityHistory) map[string]string {
	out := map[string]string{"tab": TabVersions}
	if v.Lens.From != "" {
		out["from"] = v.Lens.From
	}
	if h.Split {
		out["view"] = "split"
	}
	return out
}

// chosen are the attributes of one of the two columns of choices. The id keeps
// the focus while the line is replaced.
func chosen(name string, r VersionRow, on bool, label string) templ.Attributes {
	attrs := templ.Attributes{
		"type": "radio", "class": "input", "name": name, "value": r.Version, "id": name + "-" + r.Version, "aria-label": label,
	}
	if on {
		attrs["checked"] = true
	}
	return attrs
}

func (r VersionRow) badges(ctx context.Context) []ui.BadgeArgs {
	var out []ui.BadgeArgs
	if r.Latest {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "versions.latest"), Tone: ui.Accent})
	}
	if r.Pinned {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "versions.pinned"), Tone: ui.Success, Icon: ui.IconPin})
	}
	switch r.State {
	case "withdrawn":
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "versions.withdrawn"), Tone: ui.Warning, Icon: ui.IconWarning, Title: i18n.T(ctx, "versions.withdrawn_help")})
	case "blocked":
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "versions.blocked"), Tone: ui.Danger, Icon: ui.IconDanger, Title: r.BlockedReason})
	}
	return out
}
