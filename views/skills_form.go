package views

import (
	"context"
	"strconv"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// SkillForm writes a skill of the library, or edits its working copy. Its
// fields are those of a skill in the store.
type SkillForm struct {
	Author
	ID       string // "" for a new one
	Revision int64  // that the editor started from
	// Stale is how the present text differs from what was typed, after somebody
	// else saved meanwhile.
	Stale []Change
}

// StampForm freezes a skill's working copy.
type StampForm struct {
	Workspace string
	ID        string
	Name      string
	Form      Form
	Revision  int64
	// Newest is the number of the newest stamp, "" before the first; Next what
	// each bump gives.
	Newest  string
	Next    map[string]string
	Changes []Change // since the newest stamp
	Reason  string
}

// SkillPublication takes a skill's newest stamp to the store.
type SkillPublication struct {
	Workspace     string
	WorkspaceName string
	ID            string
	Name          string
	Form          Form
	Stamp         string // "" where there is none to publish
	Unstamped     bool
	// Existing says that the store has a capability of that id, which gets a
	// further version.
	Existing     bool
	PublicReason string
	Targets      []Workspace
	Reason       string
}

// SkillDeletion is the question before a skill is deleted.
type SkillDeletion struct {
	Workspace string
	ID        string
	Name      string
	Revision  int64
	Stamps    int
	Reason    string
}

func (v SkillForm) cancelHref() string {
	if v.ID == "" {
		return SkillsPath(v.Workspace)
	}
	return SkillPath(v.Workspace, v.ID)
}

func (v SkillForm) revision() map[string]string {
	return map[string]string{"revision": strconv.FormatInt(v.Revision, 10)}
}

func (v SkillForm) submitKey() string {
	if v.ID == "" {
		return "skills.create_submit"
	}
	return "common.save"
}

// owners are who a new skill is for.
func (v SkillForm) owners(ctx context.Context) []ui.Option {
	draft := v.Form.Value("draft", "") != ""
	return []ui.Option{
		{Value: "", Label: i18n.T(ctx, "tools.scope_workspace"), Help: i18n.T(ctx, "skills.for_workspace"), Icon: ui.IconPeople, Selected: !draft},
		{Value: "1", Label: i18n.T(ctx, "skills.draft"), Help: i18n.T(ctx, "skills.for_me"), Icon: ui.IconLock, Selected: draft},
	}
}

// bumps are the ways to number the stamp.
func (v StampForm) bumps(ctx context.Context) []ui.Option {
	current := v.Form.Value("bump", "patch")
	var out []ui.Option
	for _, bump := range []string{"patch", "minor", "major"} {
		out = append(out, ui.Option{
			Value: bump, Label: i18n.T(ctx, "author.bump_"+bump) + " · " + v.Next[bump], Help: i18n.T(ctx, "author.bump_"+bump+"_help"), Selected: bump == current,
		})
	}
	return append(out, ui.Option{Value: "exact", Label: i18n.T(ctx, "author.bump_exact"), Help: i18n.T(ctx, "author.bump_exact_help"), Selected: current == "exact"})
}

func (v SkillPublication) reaches(ctx context.Context) []ui.Option {
	options := ReachOptions(ctx, v.Form.Value("visibility", "private"), v.WorkspaceName, v.PublicReason)
	if len(v.Targets) == 0 {
		options[2].Reason = i18n.T(ctx, "author.no_targets")
	}
	return options
}

// importField is the field of a skill's file.
func (v SkillForm) importField(ctx context.Context) ui.Field {
	field := v.Form.Field("file", i18n.T(ctx, "skills.import"))
	field.Help, field.Optional = i18n.T(ctx, "skills.import_help"), true
	return field
}
