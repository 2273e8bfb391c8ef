package views

import (
	"context"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Capability is the page of one capability, looked at in one of its versions.
type Capability struct {
	Workspace   string
	Source      string
	ID          string
	Lens        DetailLens
	Kind        string
	Name        string
	Description string
	Version     string // looked at
	Latest      string // "" when there is none to adopt
	Reach       string
	BuiltIn     bool
	Versions    []VersionRow // greatest first
	Notices     []Notice
	Standing    *Standing // nil while the workspace does not have it
	Action      Action
	Others      []ui.MenuItem // what else can be done
	Tabs        []string      // in the order shown
	Functions   int
	Facts       CapabilityFacts

	// One of these is there, as the tab has it.
	About   *CapabilityAbout
	Calls   *CapabilityCalls
	Code    *CapabilitySource
	Files   *Files
	History *CapabilityHistory
	Try     *CapabilityTry
}

// Notice is something to know before one reads on.
type Notice struct {
	Tone  ui.Tone
	Title string
	Text  string
	Link  string
	Href  string
}

// Standing is what the reader's workspace has of it.
type Standing struct {
	Version string // pinned or copied
	Reason  string // why it is on or off for the reader
	Tone    ui.Tone
	Label   string // of Href
	Href    string // where that is changed
}

// Action is the page's one primary action: a link, or with Post a form.
type Action struct {
	Label  string
	Icon   ui.IconName
	Href   string
	Post   string
	Values map[string]string
	Reason string // why it cannot be done, and who can
}

func (a Action) button() ui.ButtonArgs {
	return ui.ButtonArgs{Label: a.Label, Icon: a.Icon, Variant: ui.Primary, Href: a.Href, Reason: a.Reason, ID: "primary-action"}
}

// VersionRow is one version in the line.
type VersionRow struct {
	Version       string
	Name          string
	Author        string // "" is capstore itself
	Note          string
	Tags          []string
	State         string // live, withdrawn or blocked
	BlockedReason string
	Latest        bool
	Pinned        bool   // by the reader's workspace
	Pre           bool   // a pre-release
	Deprecated    bool   // the whole capability, told at its latest version
	Previous      string // the version before it; "" for the first
	Digest        string
	At            time.Time
}

// CapabilityFacts is the column beside a capability.
type CapabilityFacts struct {
	Author      string
	Maintainers []string
	Licence     string
	Created     time.Time
	Published   time.Time
	Adopters    int
	SharedWith  []string
	Tags        []string
	VersionTags []string
	Domains     []string
	Secrets     []SecretNeed
	Requires    []Requirement
	Origin      *Provenance // nil for what was written here
	Compatible  string
	Digest      string
}

// SecretNeed is a secret that the adopter brings.
type SecretNeed struct{ Name, Description string }

// Requirement is something that a capability leans on: another one, or a tool
// by its name.
type Requirement struct {
	Label string
	Href  string // its page; "" where it has none that the reader sees
	Met   bool   // the reader's agent carries it
	// Lack says why it is not met, and Way what would meet it, at WayHref.
	Lack    string
	Way     string
	WayHref string
}

// Provenance is where an imported version came from.
type Provenance struct {
	Format  string
	Name    string // of the plugin or the server
	Version string
	Market  string
	From    string // the file, the address or the version that was taken
	Path    string // within it
	Links   []string
}

// title names what was imported.
func (p Provenance) title(ctx context.Context) string {
	out := i18n.From(ctx).Or("detail.format_"+p.Format, i18n.T(ctx, "detail.format_other"), nil)
	for _, part := range []string{p.Name, p.Version} {
		if part != "" {
			out += " " + part
		}
	}
	return out
}

// CapabilityAbout says what a capability is and does.
type CapabilityAbout struct {
	Points   []ui.Fact // what matters of its kind
	Sections []AboutSection
}

// AboutSection is one part of it, as a text of its author or as code.
type AboutSection struct {
	Title    string // "" for the instructions, which have headings of their own
	Lead     string
	Markdown string
	Code     *ui.CodeArgs
	Facts    []ui.Fact
}

// CapabilityCalls is every name under which it is reached.
type CapabilityCalls struct {
	Lead string
	List []Callable
	// Learnt says that the rest of them is learnt from the server.
	Learnt bool
}

// Callable is one name under which the model reaches the capability.
type Callable struct {
	Name        string
	Raw         string // the author's, where it differs
	Description string
	Write       bool
	HasClass    bool // whether it reads or writes is known
	Parameters  []ParameterRow
	Text        bool // what is read, not run: it has no parameters of its own
}

// ParameterRow is one parameter of a callable.
type ParameterRow struct {
	Name        string
	Type        string
	Required    bool
	Description string
}

// CapabilitySource is what stands in a version, as its author wrote it.
type CapabilitySource struct{ Parts []ui.CodeArgs }

func (v Capability) path(lens DetailLens) string {
	return CapabilityTabPath(v.Workspace, v.Source, v.ID, lens)
}

// tabs are the views of the capability, in the version looked at.
func (v Capability) tabs(ctx context.Context) []ui.Tab {
	var out []ui.Tab
	for _, tab := range v.Tabs {
		lens := v.Lens
		lens.Tab = tab
		t := ui.Tab{Label: i18n.T(ctx, "detail.tab_"+tab), Href: v.path(lens), Current: tab == v.Lens.Tab}
		switch tab {
		case TabFunctions:
			t.Count = v.Functions
		case TabVersions:
			t.Count = len(v.Versions)
		}
		out = append(out, t)
	}
	return out
}

// shownDescription is up to where a description is shown at once.
const shownDescription = 400

// shownVersions is how many versions the picker holds.
const shownVersions = 12

// wide reports whether the tab takes the page's whole width; the facts follow
// it then.
func (v Capability) wide() bool { return v.History != nil || v.Files != nil || v.Code != nil }

func (v Capability) columns() string {
	if v.wide() {
		return "flex flex-col gap-8"
	}
	return "with-facts"
}

// picker lists the newest versions; the version line has the rest.
func (v Capability) picker(ctx context.Context) []ui.MenuItem {
	var out []ui.MenuItem
	for _, row := range v.Versions[:min(len(v.Versions), shownVersions)] {
		lens := v.Lens
		lens.Version = row.Version
		if row.Latest {
			lens.Version = ""
		}
		out = append(out, ui.MenuItem{Label: row.label(ctx), Href: v.path(lens), Current: row.Version == v.Version})
	}
	return out
}

// label is the version with what is special about it.
func (r VersionRow) label(ctx context.Context) string {
	label := r.Version
	if r.Latest {
		label += " · " + i18n.T(ctx, "versions.latest")
	}
	if r.Pinned {
		label += " · " + i18n.T(ctx, "versions.pinned")
	}
	if r.State != "live" {
		label += " · " + i18n.T(ctx, "versions."+r.State)
	}
	return label
}

// resolve turns a reference of the instructions into an address of the skill's
// own files: a picture itself, anything else in its place among them.
func (v Capability) resolve(ref string) string {
	if v.Files == nil && v.About == nil {
		return ""
	}
	if isPicture(ref) {
		return RawFilePath(v.Workspace, v.Source, v.ID, v.Version, ref)
	}
	return CapabilityFilePath(v.Workspace, v.Source, v.ID, v.Lens, ref, false)
}

// facts are the lines of the column.
func (v Capability) facts(ctx context.Context) []ui.Fact {
	f := v.Facts
	text := func(key string) string { return i18n.T(ctx, "detail.fact_"+key) }
	out := []ui.Fact{{Label: text("author"), Text: personName(ctx, f.Author)}}
	add := func(key string, shown bool, body templ.Component) {
		if shown {
			out = append(out, ui.Fact{Label: text(key), Body: body})
		}
	}
	add("maintainers", len(f.Maintainers) > 0, factLines(f.Maintainers))
	if f.Licence != "" {
		out = append(out, ui.Fact{Label: text("licence"), Text: f.Licence})
	}
	if f.Compatible != "" {
		out = append(out, ui.Fact{Label: text("compatible"), Text: f.Compatible})
	}
	add("published", true, ui.Time(f.Published))
	add("created", true, ui.Time(f.Created))
	adopters := i18n.T(ctx, "detail.adopters_none")
	if f.Adopters > 0 {
		adopters = i18n.N(ctx, "detail.adopters", f.Adopters)
	}
	out = append(out, ui.Fact{Label: text("adopters"), Text: adopters})
	add("shared", len(f.SharedWith) > 0, factLines(f.SharedWith))
	add("tags", len(f.Tags) > 0, factChips(f.Tags, func(tag string) string {
		return StoreListPath(v.Workspace, ShelfStore, StoreFilters{Tags: []string{tag}})
	}))
	add("version_tags", len(f.VersionTags) > 0, factChips(f.VersionTags, nil))
	add("domains", len(f.Domains) > 0, factChips(f.Domains, func(domain string) string {
		return StoreListPath(v.Workspace, ShelfStore, StoreFilters{Domains: []string{domain}})
	}))
	add("secrets", len(f.Secrets) > 0, factSecrets(f.Secrets))
	add("requires", len(f.Requires) > 0, factRequires(f.Requires))
	if f.Origin != nil {
		add("origin", true, factOrigin(*f.Origin))
	}
	add("digest", f.Digest != "", ui.Digest(text("digest"), f.Digest))
	return out
}

// personName is somebody's name; nobody is capstore itself.
func personName(ctx context.Context, name string) string {
	if name == "" {
		return i18n.T(ctx, "common.brand")
	}
	return name
}

func classKey(write bool) string {
	if write {
		return "detail.writes"
	}
	return "detail.reads"
}

func classTone(write bool) ui.Tone {
	if write {
		return ui.Warning
	}
	return ui.Success
}
