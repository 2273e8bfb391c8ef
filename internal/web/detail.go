package web

import (
	"net/http"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// lens is a capability as one request looks at it: the version, whether that
// is the latest, and what the reader's workspace has of it.
type lens struct {
	catalog.Capability
	version  catalog.VersionDetail
	versions []catalog.VersionInfo
	// carried is what the reader's agent carries, read where it matters, and
	// row what it carries of this; nil where it has none.
	carried workspace.Carried
	row     *workspace.Row
	// known is what the reader sees of the capabilities that it names.
	known map[string]catalog.Known
}

func (s *Site) detailPage(c *Ctx) error {
	l, err := s.look(c)
	if err != nil {
		return err
	}
	v, err := s.capabilityView(c, l)
	if err != nil {
		return err
	}
	if c.Htmx() && v.History != nil {
		return c.Render(http.StatusOK, views.CapabilityHistoryPart(v))
	}
	return c.RenderTagged(views.CapabilityPage(c.detailFrame(v), v))
}

// detailFrame is the frame of a capability's page.
func (c *Ctx) detailFrame(v views.Capability) views.Page {
	page := c.Page(v.Name, views.NavStore)
	page.Crumbs = []ui.Crumb{{Label: c.T("nav.store"), Href: views.StorePath(c.Who.Workspace)}, {Label: v.Name}}
	if v.Lens.From == views.FromMine {
		page.Nav, page.Crumbs[0] = views.NavMine, ui.Crumb{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}
	}
	return page
}

// look reads what the address names: the capability, its version line, the
// version asked for, and what the agent carries of it.
func (s *Site) look(c *Ctx) (lens, error) {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	found, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return lens{}, err
	}
	l := lens{Capability: found}
	if l.versions, err = s.Catalog.Versions(ctx, c.Actor(), source, id); err != nil {
		return lens{}, err
	}
	if l.version, err = s.lookedAt(c, l); err != nil {
		return lens{}, err
	}
	if l.known, err = s.Catalog.Lookup(ctx, c.Actor(), l.names()); err != nil {
		return lens{}, err
	}
	if l.Pinned == "" && len(l.requires()) == 0 {
		return l, nil
	}
	if l.carried, err = s.Workspace.Carried(ctx, c.Actor()); err != nil {
		return lens{}, err
	}
	if row, ok := l.carried.Find(capability.CapabilityKey(source, id)); ok && l.Pinned != "" {
		l.row = &row
	}
	return l, nil
}

// requires is what the version looked at leans on.
func (l lens) requires() []string { return leansOf(l.version.Content.Spec).Requires }

// names lists the capabilities that it leans on, and the one that follows it.
func (l lens) names() []string {
	out := slices.DeleteFunc(slices.Clone(l.requires()), func(name string) bool { return !strings.Contains(name, "/") })
	if l.Deprecated != nil && l.Deprecated.Successor != "" {
		out = append(out, l.Deprecated.Successor)
	}
	return out
}

// lookedAt is the version that the address asks for, else the latest, else
// where there is none to adopt the greatest that the reader may see.
func (s *Site) lookedAt(c *Ctx, l lens) (catalog.VersionDetail, error) {
	asked := c.R.URL.Query().Get("version")
	if l.Latest != nil && (asked == "" || asked == l.Latest.Version) {
		return *l.Latest, nil
	}
	if asked == "" {
		asked = l.versions[0].Version
	}
	return s.Catalog.Version(c.R.Context(), c.Actor(), l.Source, l.ID, asked)
}

// capabilityView is the whole page but for its frame.
func (s *Site) capabilityView(c *Ctx, l lens) (views.Capability, error) {
	v := views.Capability{
		Workspace: c.Who.Workspace, Source: l.Source, ID: l.ID, Kind: string(l.version.Kind), Name: l.version.Name,
		Description: l.version.Description, Version: l.version.Version, Reach: string(l.Access.Reach), BuiltIn: l.BuiltIn(),
		Facts: c.capabilityFacts(l), Notices: c.notices(l), Standing: c.standing(l), Action: c.primary(l),
	}
	v.Others = c.others(l, v.Action)
	if l.Latest != nil {
		v.Latest = l.Latest.Version
	}
	for _, info := range l.versions {
		v.Versions = append(v.Versions, versionRow(info, l.Pinned))
	}
	calls := callables(l.version)
	v.Tabs, v.Functions = tabsOf(l.version, len(calls)), len(calls)
	query := c.R.URL.Query()
	v.Lens = views.DetailLens{Tab: query.Get("tab"), From: query.Get("from")}
	if v.Lens.From != views.FromMine {
		v.Lens.From = ""
	}
	if v.Version != v.Latest {
		v.Lens.Version = v.Version
	}
	if !slices.Contains(v.Tabs, v.Lens.Tab) {
		v.Lens.Tab = views.TabAbout
	}
	return v, s.fillTab(c, l, &v, calls)
}

// tabsOf lists the tabs that the version has something for.
func tabsOf(v catalog.VersionDetail, calls int) []string {
	tabs := []string{views.TabAbout}
	if calls > 0 {
		tabs = append(tabs, views.TabFunctions)
	}
	if v.Kind == capability.KindSkill {
		tabs = append(tabs, views.TabFiles)
	} else {
		tabs = append(tabs, views.TabSource)
	}
	tabs = append(tabs, views.TabVersions)
	if v.Kind == capability.KindCode || v.Kind == capability.KindHook {
		tabs = append(tabs, views.TabTry)
	}
	return tabs
}

func (s *Site) fillTab(c *Ctx, l lens, v *views.Capability, calls []views.Callable) error {
	switch v.Lens.Tab {
	case views.TabFunctions:
		v.Calls = &views.CapabilityCalls{Lead: c.callsLead(l.version.Kind), List: calls, Learnt: l.version.Kind == capability.KindMCP}
	case views.TabSource:
		v.Code = c.sourceOf(l.version)
	case views.TabFiles:
		files, err := c.filesOf(l.version, v.Lens)
		v.Files = files
		return err
	case views.TabVersions:
		history, err := s.history(c, l, v.Versions)
		v.History = history
		return err
	case views.TabTry:
		try, err := c.tryPanel(l, nil, nil)
		v.Try = try
		return err
	default:
		v.About = c.about(l.version)
	}
	return nil
}

func versionRow(v catalog.VersionInfo, pinned string) views.VersionRow {
	return views.VersionRow{
		Version: v.Version, Name: v.Name, Author: v.Author.Name, Note: v.Note, Tags: v.Tags, State: string(v.State),
		BlockedReason: v.BlockedReason, Latest: v.Latest, Pinned: v.Version == pinned, Digest: v.Digest, At: v.CreatedAt,
	}
}

// rawFile hands one file of a version over, never to be shown in place but as
// a picture: it is somebody else's content.
func (s *Site) rawFile(c *Ctx) error {
	query := c.R.URL.Query()
	v, err := s.Catalog.Version(c.R.Context(), c.Actor(), c.R.PathValue("source"), c.R.PathValue("id"), query.Get("version"))
	if err != nil {
		return err
	}
	return c.handOver(filesIn(v.Content))
}
