package views

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Manage is where its publishers decide on a capability beyond its content.
type Manage struct {
	Workspace     string
	WorkspaceName string
	Source        string
	ID            string
	Name          string
	Kind          string
	// Revision is of what is shown; a change that starts from an older one is
	// refused.
	Revision int64
	// Form is what was sent of one part; Part is which, "" for none.
	Form Form
	Part string

	Reach        string
	SharedWith   []string
	Targets      []Workspace
	PublicReason string
	Effect       *ReachEffect // of the reach that was chosen, before it is set
	Adopters     int

	Tags              []string
	Creator           string
	Members           []ManageMember
	MaintainersReason string
	Deprecated        bool
	Successor         string
	Note              string
	Versions          []ManageVersion
	// DeleteReason says why the reader can neither withdraw nor delete, and
	// who can; "" when he can.
	DeleteReason string
}

// Parts of the page, each a form.
const (
	PartReach       = "reach"
	PartTags        = "tags"
	PartMaintainers = "maintainers"
	PartDeprecation = "deprecation"
	PartVersion     = "version"
	PartDelete      = "delete"
)

// ReachEffect is what a reach would mean.
type ReachEffect struct {
	Reach    string
	Everyone bool
	Readers  []ReachReaders
	People   int // who read a private one
	// Lost read it now by name and would not; EveryoneLost says that everyone
	// else would stop reading it.
	Lost         []ReachReaders
	EveryoneLost bool
	Adopters     int
	Losing       int
	Switched     int    // members for whom it would stop though they switched it on
	Same         bool   // it has this reach already
	Key          string // of the choice that it was worked out for
}

// ReachReaders is a workspace that would read it.
type ReachReaders struct {
	Name    string
	Members int
}

// ManageMember is somebody who maintains it or could.
type ManageMember struct {
	Subject    string
	Name       string
	Email      string
	Maintainer bool
	Reason     string // why he cannot; "" when he can
}

// ManageVersion is one line of the version list.
type ManageVersion struct {
	Version string
	State   string // live, withdrawn or blocked
	Latest  bool
	Tags    []string
	Note    string
	Author  string
	At      time.Time
	Reason  string // why it was blocked
}

func (m Manage) path(part string) string { return ManagePartPath(m.Workspace, m.Source, m.ID, part) }

// form is what was sent of the part, and nothing of another one.
func (m Manage) form(part string) Form {
	if m.Part != part {
		return Form{}
	}
	return m.Form
}

func (m Manage) hidden() map[string]string {
	return map[string]string{"revision": strconv.FormatInt(m.Revision, 10)}
}

func (m Manage) reaches(ctx context.Context) []ui.Option {
	options := ReachOptions(ctx, m.form(PartReach).Value("visibility", m.Reach), m.WorkspaceName, m.PublicReason)
	options[0].Help = i18n.T(ctx, "manage.private_help", "workspace", m.WorkspaceName)
	for i := range options {
		if options[i].Value == m.Reach {
			options[i].Label += " · " + i18n.T(ctx, "manage.now")
			options[i].Reason = ""
		}
	}
	if len(m.Targets) == 0 && m.Reach != "subset" {
		options[2].Reason = i18n.T(ctx, "author.no_targets")
	}
	return options
}

func (m Manage) people(ctx context.Context) []ui.Option {
	form := m.form(PartMaintainers)
	var out []ui.Option
	for _, p := range m.Members {
		out = append(out, ui.Option{
			Value: p.Subject, Label: p.Name, Help: p.Email, Reason: p.Reason, Selected: form.Has("maintainers", p.Subject, p.Maintainer),
		})
	}
	return out
}

// acts are what can be done to the version in its state.
func (v ManageVersion) acts() []string {
	switch v.State {
	case "withdrawn":
		return []string{"revive", "block"}
	case "blocked":
		return []string{"unblock"}
	}
	return []string{"withdraw", "block"}
}

func (m Manage) deprecateLabel(ctx context.Context) string {
	if m.Deprecated {
		return i18n.T(ctx, "manage.deprecation_open")
	}
	return i18n.T(ctx, "manage.deprecate_open")
}

func (v ManageVersion) badges(ctx context.Context) []ui.BadgeArgs {
	var out []ui.BadgeArgs
	if v.Latest {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "manage.latest"), Tone: ui.Info})
	}
	switch v.State {
	case "withdrawn":
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "manage.withdrawn"), Tone: ui.Warning})
	case "blocked":
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "manage.blocked"), Tone: ui.Danger})
	}
	for _, tag := range v.Tags {
		out = append(out, ui.BadgeArgs{Label: tag, Icon: ui.IconTag})
	}
	return out
}

// ReachKey names a choice of reach, so that what is set is what was looked at.
func ReachKey(reach string, sharedWith []string) string {
	targets := slices.Sorted(slices.Values(sharedWith))
	return reach + ":" + strings.Join(targets, ",")
}

// gains says who would read it.
func (e ReachEffect) gains(ctx context.Context) []ui.Point {
	var out []ui.Point
	switch {
	case e.Everyone:
		out = append(out, ui.Point{Tone: ui.Info, Text: i18n.T(ctx, "manage.everyone")})
	case e.People > 0:
		out = append(out, ui.Point{Tone: ui.Info, Text: i18n.N(ctx, "manage.people", e.People)})
	}
	for _, r := range e.Readers {
		out = append(out, ui.Point{Tone: ui.Info, Text: i18n.N(ctx, "manage.readers", r.Members, "workspace", r.Name)})
	}
	return out
}

// means says who would read it, who would not any more, and for whom it would
// stop.
func (e ReachEffect) means(ctx context.Context) []ui.Point {
	out := e.gains(ctx)
	if e.EveryoneLost {
		out = append(out, ui.Point{Tone: ui.Warning, Text: i18n.T(ctx, "manage.everyone_lost")})
	}
	for _, r := range e.Lost {
		out = append(out, ui.Point{Tone: ui.Warning, Text: i18n.N(ctx, "manage.lost", r.Members, "workspace", r.Name)})
	}
	switch {
	case e.Losing > 0:
		out = append(out, ui.Point{Tone: ui.Danger, Text: i18n.N(ctx, "manage.losing", e.Losing, "adopters", e.Adopters)})
	case e.Adopters > 0:
		out = append(out, ui.Point{Tone: ui.Success, Text: i18n.N(ctx, "manage.keeping", e.Adopters)})
	default:
		out = append(out, ui.Point{Tone: ui.Neutral, Text: i18n.T(ctx, "retire.adopters_none")})
	}
	if e.Switched > 0 {
		out = append(out, ui.Point{Tone: ui.Danger, Text: i18n.N(ctx, "manage.switched_lost", e.Switched)})
	}
	return out
}
