package views

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// toolsRoot is the id of the part of a page that a switch replaces.
const toolsRoot = "switches"

// Tools is the list of what a member's agent can call, or with other channels
// a part of it, each row with its switch.
type Tools struct {
	Workspace string
	Query     string
	Total     int // without the query
	On        int // of Total, those that the agent carries
	Groups    []ToolGroup
	Next      string // where a switch leads back to
}

// ToolGroup is the rows of one scope: personal, workspace or builtin.
type ToolGroup struct {
	Scope string
	Rows  []ToolRow
}

// ToolRow is one thing that a member's agent could carry.
type ToolRow struct {
	Workspace string
	Key       string
	Kind      string
	Name      string
	Ref       string // source/id, or the address of a server
	Version   string
	Text      string
	On        bool // the position of the switch
	Works     bool // the agent carries it
	// Reason is why it is on or off, in words; Rest what else there is to say.
	Reason string
	Rest   []string
	// Follow says that the member chose for himself and may follow the
	// workspace again.
	Follow bool
	// Locked says why it cannot be switched and who can change that; "" when
	// it can.
	Locked string
	// Setup says that a secret or setting is missing.
	Setup bool
	// Shadow is the row that carries the name instead; nil when none does.
	Shadow    *Use
	Withdrawn bool
	Blocked   bool
	// BlockedReason is why its publisher blocked the pinned version.
	BlockedReason string
	Deprecation
	Update string // a later version that waits, "" for none
	Next   string // where the switch leads back to
}

// SwitchQuestion asks before something is switched off that others lean on.
type SwitchQuestion struct {
	ToolRow
	Leaning []Use
}

// Deprecation is what a publisher tells readers to look at instead. The zero
// value is none.
type Deprecation struct {
	Deprecated bool
	Note       string
	Successor  string
	// SuccessorHref is "" where the reader cannot see what follows.
	SuccessorHref string
}

// mark is the deprecation as a line below a row; false while there is nothing
// to say.
func (d Deprecation) mark(ctx context.Context) (ui.RowMark, bool) {
	if d.Note == "" && d.Successor == "" {
		return ui.RowMark{}, false
	}
	return deprecationMark(ctx, d.Note, d.Successor, d.SuccessorHref), true
}

// sourceHref leads to what else the row's publisher published; "" for what is
// no capability of the store.
func (r ToolRow) sourceHref() string {
	source, _, ok := strings.Cut(r.Ref, "/")
	if !ok || !strings.HasPrefix(r.Key, "capability:") {
		return ""
	}
	return SourcePath(r.Workspace, source)
}

// marks are what befell the version that the workspace pins, and the
// capability.
func (r ToolRow) marks(ctx context.Context) []ui.RowMark {
	state := ""
	switch {
	case r.Blocked:
		state = "blocked"
	case r.Withdrawn:
		state = "withdrawn"
	}
	return befell(ctx, r.Version, state, r.BlockedReason, r.Deprecation)
}

func (r ToolRow) href() string { return ToolPath(r.Workspace, r.Key) }

func (r ToolRow) badges(ctx context.Context) []ui.BadgeArgs {
	var out []ui.BadgeArgs
	if r.Blocked {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "tools.badge_blocked"), Tone: ui.Danger})
	}
	if r.Withdrawn {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "tools.badge_withdrawn"), Tone: ui.Warning, Title: i18n.T(ctx, "tools.withdrawn_text")})
	}
	if r.Deprecated {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "store.deprecated"), Tone: ui.Warning, Icon: ui.IconWarning})
	}
	if r.Setup {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "tools.badge_setup"), Tone: ui.Warning})
	}
	if r.Update != "" {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "tools.badge_update", "version", r.Update), Tone: ui.Accent})
	}
	return out
}

// args is the row as the component draws it.
func (r ToolRow) args(ctx context.Context) ui.RowArgs {
	return ui.RowArgs{
		Kind: r.Kind, Name: r.Name, Href: r.href(), Ref: r.Ref, Version: r.Version, Text: r.Text,
		Badges: r.badges(ctx), Meta: r.Rest, Reason: r.Reason, Remedy: r.remedy(), Marks: r.marks(ctx), RefHref: r.sourceHref(),
	}
}

// remedy is what the member can do about the reason; nil when nothing.
func (r ToolRow) remedy() templ.Component {
	switch {
	case r.Setup, r.Shadow != nil, r.Follow:
		return toolRemedy(r)
	}
	return nil
}

// toggle is the row's switch.
func (r ToolRow) toggle(ctx context.Context) ui.SwitchArgs {
	return ui.SwitchArgs{
		Action: r.href(), ID: "switch-" + escapeSegment(r.Key), Label: i18n.T(ctx, "tools.switch_named", "name", r.Name), On: r.On,
		Reason: r.Locked, Hidden: map[string]string{"next": r.Next}, Attrs: switchHx(r.href()),
	}
}

// switchHx lets a form of a row answer in place: the answer leads on to the
// page that the form stands on, of which the part with the switches is taken.
func switchHx(href string) templ.Attributes {
	return ui.Hx{Post: href, Target: "#" + toolsRoot, Swap: "outerMorph"}.Attrs()
}

// SwitchUndo takes back a choice: before is true, false or follow.
func SwitchUndo(r ToolRow, before string) Undo {
	return Undo{Action: r.href(), Values: map[string]string{"enabled": before, "next": r.Next}}
}

// followWorkspace is the choice to have none.
const followWorkspace = "follow"
