package views

import (
	"context"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Skills is the workspace's skill library with the member's own drafts.
type Skills struct {
	Workspace string
	Drafts    []SkillRow
	Shared    []SkillRow
	// Reason says why the viewer cannot write skills and who can; "" when he
	// can.
	Reason string
}

// SkillRow is one skill of the library with its switch.
type SkillRow struct {
	ToolRow
	ID string
	SkillState
}

// SkillState is how a skill's working copy stands to its stamps.
type SkillState struct {
	Stamp     string // the newest one's number, "" before the first
	Unstamped bool   // it was edited since
	Draft     bool
	By        string
	Updated   time.Time
	Origin    *SkillOrigin
}

// SkillOrigin is where a copied skill was taken from.
type SkillOrigin struct {
	Source  string
	ID      string
	Version string
	Href    string // its page in the store
	// Versions are those that can be compared with, greatest first; Now is a
	// latest one that came after the copy, "" for none.
	Versions []string
	Now      string
}

func (o SkillOrigin) ref() string { return o.Source + "/" + o.ID + "@" + o.Version }

// Skill is the page of one skill.
type Skill struct {
	SkillRow
	Tab          string
	Digest       string
	License      string
	AllowedTools string
	Instructions string
	Files        *Files
	Stamps       []StampRow
	Compared     *Comparison // what lies between the two of Lens; nil for none
	Lens         ComparisonLens
	FileCount    int
	StampCount   int
	// LeadTokens and TextTokens are about what a model reads of it: always, and
	// when it uses it.
	LeadTokens int
	TextTokens int
	// Notes and Repaired are what was tolerated in its SKILL.md.
	Notes    []string
	Repaired string
	// ViewerReason says why the viewer cannot change the skill and who can; ""
	// when he can.
	ViewerReason string
}

// StampRow is one frozen version of a skill.
type StampRow struct {
	Version string
	Note    string
	By      string
	At      time.Time
	Digest  string
}

func (r SkillRow) badges(ctx context.Context) []ui.BadgeArgs {
	var out []ui.BadgeArgs
	if r.Draft {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "skills.badge_draft"), Icon: ui.IconLock})
	}
	switch {
	case r.Stamp == "":
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "skills.badge_never"), Tone: ui.Accent})
	case r.Unstamped:
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "skills.badge_changed", "version", r.Stamp), Tone: ui.Accent, Title: i18n.T(ctx, "skills.badge_changed_text")})
	}
	return out
}

func (r SkillRow) path() string { return SkillPath(r.Workspace, r.ID) }

func (r SkillRow) args(ctx context.Context) ui.RowArgs {
	meta := []string{i18n.T(ctx, "skills.by", "name", r.By)}
	if r.Origin != nil {
		meta = append(meta, i18n.T(ctx, "skills.copied_from", "ref", r.Origin.ref()))
	}
	return ui.RowArgs{
		Kind: r.Kind, Name: r.Name, Href: r.path(), Version: r.Stamp, Text: r.Text, Badges: r.badges(ctx),
		Meta: append(meta, r.Rest...), At: r.Updated, Reason: r.Reason, Remedy: r.remedy(),
	}
}

// editVariant leaves the weight to the stamp while one is due.
func (v Skill) editVariant() ui.Variant {
	if v.Unstamped {
		return ui.Outline
	}
	return ui.Primary
}

// storeHref is where the store's skills are.
func (v Skills) storeHref() string {
	return StoreListPath(v.Workspace, ShelfStore, StoreFilters{Kinds: []string{"skill"}})
}

func (v Skill) tabs(ctx context.Context) []ui.Tab {
	tab := func(name string, count int) ui.Tab {
		return ui.Tab{Label: i18n.T(ctx, "skills.tab_"+name), Href: SkillTabPath(v.Workspace, v.ID, name), Current: v.Tab == name, Count: count}
	}
	return []ui.Tab{tab(TabSkillText, 0), tab(TabSkillFiles, v.FileCount), tab(TabSkillStamps, v.StampCount)}
}

func (v Skill) comparing() comparing {
	return comparing{v.Lens, func(l ComparisonLens) string { return SkillComparisonPath(v.Workspace, v.ID, l) }}
}

// resolve turns a reference of the text into an address of the skill's own
// files.
func (v Skill) resolve(ref string) string {
	if isPicture(ref) {
		return SkillRawPath(v.Workspace, v.ID, ref)
	}
	return SkillFilePath(v.Workspace, v.ID, ref, false)
}

// tokens is about what a model reads of it.
func (v Skill) tokens(ctx context.Context) string {
	number := func(n int) string { return i18n.From(ctx).Number(int64(n)) }
	return i18n.T(ctx, "skills.tokens", "lead", number(v.LeadTokens), "text", number(v.TextTokens))
}

func (v Skill) facts(ctx context.Context) []ui.Fact {
	facts := []ui.Fact{
		{Label: i18n.T(ctx, "skills.fact_by"), Body: ui.Visible(v.By)},
		{Label: i18n.T(ctx, "skills.fact_updated"), Body: ui.Time(v.Updated)},
	}
	facts = append(facts, ui.Fact{Label: i18n.T(ctx, "skills.fact_tokens"), Text: v.tokens(ctx)})
	if v.Stamp != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "skills.fact_stamp"), Text: v.Stamp, Mono: true})
	}
	if v.Origin != nil {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "skills.fact_origin"), Body: skillOrigin(*v.Origin)})
	}
	if v.License != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "skills.fact_license"), Text: v.License})
	}
	if v.AllowedTools != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "skills.fact_allowed"), Text: v.AllowedTools, Mono: true})
	}
	return append(facts, ui.Fact{Label: i18n.T(ctx, "tools.fact_digest"), Body: ui.Digest(i18n.T(ctx, "tools.fact_digest"), v.Digest)})
}

// versionName is a stamp's number, or the words for the working copy and for a
// version of the origin.
func versionName(ctx context.Context, version string) string {
	if version == WorkingCopy {
		return i18n.T(ctx, "skills.working")
	}
	if of, ok := OriginVersion(version); ok {
		return i18n.T(ctx, "skills.of_origin", "version", of)
	}
	return version
}

// options is what a comparison can pick: the working copy, every stamp and what
// it was copied from.
func (v Skill) options(ctx context.Context, picked string) []ui.Option {
	out := []ui.Option{{Value: WorkingCopy, Label: i18n.T(ctx, "skills.working"), Selected: picked == WorkingCopy}}
	for _, row := range v.Stamps {
		out = append(out, ui.Option{Value: row.Version, Label: row.Version, Selected: picked == row.Version})
	}
	if v.Origin != nil {
		for _, version := range v.Origin.Versions {
			name := OfOrigin(version)
			out = append(out, ui.Option{Value: name, Label: versionName(ctx, name), Selected: picked == name})
		}
	}
	return out
}

func (v Skill) stampColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "agent.history_version")}, {Label: i18n.T(ctx, "agent.history_note")}, {Label: i18n.T(ctx, "agent.history_by")},
		{Label: i18n.T(ctx, "agent.history_at")}, {Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}
