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
	Adopters int
	Losing   int
	Same     bool   // it has this reach already
	Key      string // of the choice that it was worked out for
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

func (m Manage) versionFaults(version string) Form {
	form := m.form(PartVersion)
	if form.Value("version", "") != version {
		return Form{}
	}
	return form
}

// versionField is a field of one version's forms, each with an id of its own
// but for the one that is faulty, to which the summary leads.
func (m Manage) versionField(ctx context.Context, v ManageVersion, i int, name, key string) ui.Field {
	form := m.versionFaults(v.Version)
	f := form.Field(name, i18n.T(ctx, "manage."+key))
	if f.Error == "" {
		f.ID = ui.FieldID(name) + "-" + strconv.Itoa(i)
	}
	return f
}

// versionOpen reports whether the version's forms are unfolded: something in
// them is faulty.
func (m Manage) versionOpen(version string) bool { return len(m.versionFaults(version).Errors) > 0 }

func (m Manage) versionHidden(version, op string) map[string]string {
	return map[string]string{"version": version, "op": op}
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

func (e ReachEffect) tone() ui.Tone {
	if e.Losing > 0 {
		return ui.Warning
	}
	return ui.Info
}
