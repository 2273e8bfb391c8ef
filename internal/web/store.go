package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// shelf is one of the pages that list the store.
type shelf struct {
	mine  bool
	scope catalog.Scope
	sorts []catalog.Sort // the first is the default
	// of is whose publications it lists; nil for the store itself.
	of *views.StoreSource
}

var (
	storeShelf = shelf{
		scope: catalog.ScopeStore,
		sorts: []catalog.Sort{catalog.SortRelevance, catalog.SortNewest, catalog.SortAdopted},
	}
	mineShelf = shelf{
		mine: true, scope: catalog.ScopeMine,
		sorts: []catalog.Sort{catalog.SortNewest, catalog.SortAdopted, catalog.SortRelevance},
	}
)

func (s *Site) storePage(c *Ctx) error {
	v, err := s.browse(c, storeShelf)
	if err != nil {
		return err
	}
	v.Steps = !slices.Contains(c.Who.Dismissed, views.StepsHint)
	page := c.Page(c.T("store.title"), views.NavStore)
	page.OwnSearch = true
	return c.Show(http.StatusOK, views.StorePage(page, v), views.StoreResults(v))
}

func (s *Site) minePage(c *Ctx) error {
	v, err := s.browse(c, mineShelf)
	if err != nil {
		return err
	}
	v.ManageAll = c.Who.Role == capability.RoleAdmin
	v.Unlisted = v.Prev == ""
	page := c.Page(c.T("mine.title"), views.NavMine)
	page.OwnSearch = true
	return c.Show(http.StatusOK, views.StorePage(page, v), views.StoreResults(v))
}

// sourcePage lists what one workspace published, as far as the reader sees it.
func (s *Site) sourcePage(c *Ctx) error {
	source, err := s.Catalog.Source(c.R.Context(), c.Actor(), c.R.PathValue("source"))
	if err != nil {
		return err
	}
	v, err := s.browse(c, shelf{
		scope: catalog.ScopeVisible, sorts: []catalog.Sort{catalog.SortAdopted, catalog.SortNewest, catalog.SortRelevance},
		of: &views.StoreSource{Slug: source.Slug, Name: source.Name},
	})
	if err != nil {
		return err
	}
	page := c.Page(source.Name, views.NavStore)
	page.Crumbs = []ui.Crumb{{Label: c.T("nav.store"), Href: views.StorePath(c.Who.Workspace)}, {Label: source.Name}}
	page.OwnSearch = true
	return c.Show(http.StatusOK, views.StorePage(page, v), views.StoreResults(v))
}

// browse reads a page of the shelf as the address asks for it. An address with
// a filter that does not exist is answered as one where nothing fits.
func (s *Site) browse(c *Ctx, sh shelf) (views.Store, error) {
	q, f := readFilters(c.R.URL.Query(), sh)
	q.Counts = true
	v := views.Store{
		Workspace: c.Who.Workspace, Mine: sh.mine, Source: sh.of, Filters: f, Sorts: texts(sh.sorts),
	}
	if capability.May(c.Actor(), capability.ActWrite, capability.Fresh) != nil {
		v.CreateReason = c.T("store.viewer_reason")
	}
	page, err := s.Catalog.Browse(c.R.Context(), c.Actor(), q)
	switch {
	case fault.Is(err, fault.Invalid):
		return v, nil
	case fault.Is(err, fault.Malformed): // the cursor of another list: begin anew
		q.Cursor, v.Filters.Cursor = "", ""
		if page, err = s.Catalog.Browse(c.R.Context(), c.Actor(), q); err != nil {
			return v, err
		}
	case err != nil:
		return v, err
	}
	v.Next, v.Prev, v.Total, v.Corrected = page.NextCursor, page.PrevCursor, views.Count(page.Total), page.Corrected
	v.Facets = facets(page.Facets)
	for _, row := range page.Items {
		v.Rows = append(v.Rows, c.storeRow(row))
	}
	return v, nil
}

func facets(f catalog.Facets) views.StoreFacets {
	values := func(counts []catalog.FacetCount) []views.FacetValue {
		out := make([]views.FacetValue, len(counts))
		for i, c := range counts {
			out[i] = views.FacetValue{Value: c.Value, Count: views.Count(c.Count)}
		}
		return out
	}
	return views.StoreFacets{
		Kinds: values(f.Kinds), Reaches: values(f.Reaches), Tags: values(f.Tags), Domains: values(f.Domains), Sources: values(f.Sources),
		WorksHere: views.Count(f.WorksHere),
	}
}

// readFilters reads what the address asks for. An unknown order is the
// shelf's own.
func readFilters(values url.Values, sh shelf) (catalog.Query, views.StoreFilters) {
	f := views.StoreFilters{
		Query: values.Get("q"), Kinds: filled(values["kind"]), Tags: filled(values["tag"]), Reach: filled(values["reach"]),
		Sources: filled(values["source"]), Domains: filled(values["domain"]), WorksHere: values.Get("works") == views.WorksHere,
		Sort: values.Get("sort"), Cursor: values.Get("cursor"),
	}
	if sh.of != nil {
		f.Sources = nil // the page is about one
	}
	q := catalog.Query{
		Q: f.Query, Tags: f.Tags, Sources: f.Sources, Domains: f.Domains, WorksHere: f.WorksHere, Scope: sh.scope,
		Sort: catalog.Sort(f.Sort), Cursor: f.Cursor,
	}
	if sh.of != nil {
		q.Sources = []string{sh.of.Slug}
	}
	if !slices.Contains(sh.sorts, q.Sort) {
		q.Sort, f.Sort = sh.sorts[0], ""
	}
	for _, k := range f.Kinds {
		q.Kinds = append(q.Kinds, capability.Kind(k))
	}
	for _, r := range f.Reach {
		q.Reach = append(q.Reach, capability.Reach(r))
	}
	return q, f
}

// filled leaves out what a form sent empty, and what it sent twice.
func filled(values []string) []string {
	var out []string
	for _, v := range values {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func (c *Ctx) storeRow(r catalog.Row) views.StoreRow {
	row := views.StoreRow{
		Source: r.Source, ID: r.ID, Kind: string(r.Kind), Name: r.Name, Description: r.Description, Version: r.Version,
		Reach: string(r.Reach), Tags: r.Tags, Adopters: r.Adopters, CreatedAt: r.CreatedAt, PublishedAt: r.PublishedAt, BuiltIn: r.BuiltIn(),
		InWorkspace: r.InWorkspace(), NeedsSetup: r.NeedsSetup, Own: r.Own, Pinned: r.Pinned,
		PinState: string(r.PinState), BlockedReason: r.BlockedReason,
	}
	if r.UpdateAvailable {
		row.Update = r.Version
	}
	row.Deprecation = c.deprecation(r.Deprecated, r.SuccessorSeen)
	return row
}

// deprecation is what the publisher says, with the way to what follows where
// the reader sees it.
func (c *Ctx) deprecation(d *catalog.Deprecation, seen bool) views.Deprecation {
	if d == nil {
		return views.Deprecation{}
	}
	out := views.Deprecation{Deprecated: true, Note: d.Note, Successor: d.Successor}
	if source, id, ok := strings.Cut(d.Successor, "/"); ok && seen {
		out.SuccessorHref = views.CapabilityPath(c.Who.Workspace, source, id)
	}
	return out
}

// storeSteps says what of the first steps is done. The store's page asks for
// it by itself, so that reading the store stays as cheap as it is.
func (s *Site) storeSteps(c *Ctx) error {
	config, err := s.Workspace.Config(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	list, err := s.Agent.Conversations(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	if !c.Htmx() {
		return c.Redirect(views.StorePath(c.Who.Workspace))
	}
	return c.Render(http.StatusOK, views.FirstSteps(views.Steps{
		Workspace: c.Who.Workspace, Known: true, Adopted: len(config.Config.Capabilities) > 0, Asked: len(list) > 0,
	}))
}
