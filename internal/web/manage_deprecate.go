package web

import (
	"net/http"
	"net/url"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
)

// offeredSuccessors is how many capabilities a search for one offers.
const offeredSuccessors = 6

// deprecationPage is where readers are told to look elsewhere, with what was
// typed so far in the address: the search for a successor is a GET.
func (s *Site) deprecationPage(c *Ctx) error {
	query := c.R.URL.Query()
	if !query.Has("q") {
		query = nil // opened anew: what holds now stands in the fields
	}
	return s.showDeprecation(c, http.StatusOK, views.Form{Values: query})
}

func (s *Site) showDeprecation(c *Ctx, status int, form views.Form) error {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	held, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	rests, err := s.Catalog.Reliance(ctx, c.Actor(), source, id, "")
	if err != nil {
		return err
	}
	v := views.Deprecate{
		Workspace: c.Who.Workspace, Source: source, ID: id, Name: id, Revision: held.Revision, Adopters: rests.Adopters, Form: form,
	}
	if held.Latest != nil {
		v.Name = held.Latest.Name
	}
	if d := held.Deprecated; d != nil {
		v.Deprecated, v.Successor, v.Note = true, d.Successor, d.Note
	}
	if err := s.offerSuccessors(c, &v, held); err != nil {
		return err
	}
	page := c.Page(c.T("deprecate.title", "name", v.Name), views.NavMine)
	page.Crumbs = c.manageCrumbs(v.Name, source, id, c.T("manage.deprecation"))
	return c.Show(status, views.DeprecatePage(page, v), views.Successors(v))
}

// offerSuccessors fills in what the search finds, and what the chosen one
// would mean for those who adopted the capability.
func (s *Site) offerSuccessors(c *Ctx, v *views.Deprecate, held catalog.Capability) error {
	q := catalog.Query{Q: strings.TrimSpace(v.Form.Value("q", "")), Sort: catalog.SortRelevance, Limit: offeredSuccessors + 1}
	if q.Q == "" && held.Latest != nil {
		q.Kinds = []capability.Kind{held.Latest.Kind}
	}
	page, err := s.Catalog.Browse(c.R.Context(), c.Actor(), q)
	if err != nil && !fault.Is(err, fault.Invalid) {
		return err
	}
	for _, row := range page.Items {
		if row.Source != held.Source || row.ID != held.ID {
			v.Offered = append(v.Offered, views.Offer{
				Ref: row.Source + "/" + row.ID, Name: row.Name, Kind: string(row.Kind), Version: row.Version, Reach: string(row.Reach),
				Deprecated: row.Deprecated != nil,
			})
		}
	}
	v.Offered = v.Offered[:min(len(v.Offered), offeredSuccessors)]
	ref := v.Form.Value("deprecated.successor", v.Successor)
	if ref == "" || v.Form.Errors["deprecated.successor"] != "" {
		return nil
	}
	seen, err := s.Catalog.PreviewSuccessor(c.R.Context(), c.Actor(), held.Source, held.ID, ref)
	if fault.Is(err, fault.Invalid) { // named by hand, or gone since it was set
		return nil
	}
	if err != nil {
		return err
	}
	v.Chosen = &views.Offer{
		Ref: ref, Name: seen.Successor.Name, Kind: string(seen.Successor.Kind), Version: seen.Successor.Version,
		Reach: string(seen.Successor.Reach), Deprecated: seen.Successor.Deprecated != nil, Adopters: seen.Adopters, Unseen: seen.Unseen,
	}
	return nil
}

// setDeprecation sets the deprecation or lifts it. One that says nothing at
// all would lift it too, so it is asked for a word; and one that sends adopters
// to what they cannot see is shown first.
func (s *Site) setDeprecation(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	plainBreaks(form)
	d := catalog.Deprecation{Successor: strings.TrimSpace(form.Get("deprecated.successor")), Note: strings.TrimSpace(form.Get("deprecated.note"))}
	if form.Get("op") == "lift" {
		return s.deprecate(c, form, catalog.Deprecation{}, "manage.lifted")
	}
	if d == (catalog.Deprecation{}) {
		return s.deprecationAgain(c, form, fault.Fields([]fault.Field{{
			Path: "/deprecated/note", Code: "empty_deprecation", Message: "Name a successor, or say why.",
		}}))
	}
	if d.Successor != "" && form.Get("seen") != d.Successor {
		seen, err := s.Catalog.PreviewSuccessor(c.R.Context(), c.Actor(), c.R.PathValue("source"), c.R.PathValue("id"), d.Successor)
		if err != nil {
			return s.deprecationAgain(c, form, err)
		}
		if seen.Unseen > 0 {
			return s.showDeprecation(c, http.StatusOK, views.Form{Values: form})
		}
	}
	return s.deprecate(c, form, d, "manage.deprecated")
}

// deprecate writes it, with a way back to what held before.
func (s *Site) deprecate(c *Ctx, form url.Values, d catalog.Deprecation, done string) error {
	source, id := c.R.PathValue("source"), c.R.PathValue("id")
	held, err := s.Catalog.Get(c.R.Context(), c.Actor(), source, id)
	if err != nil {
		return err
	}
	patch := catalog.Patch{Deprecated: &d}
	if patch.IfRevision, err = revisionIfSent(form); err != nil {
		return err
	}
	if err := s.Catalog.Update(c.R.Context(), c.Actor(), source, id, patch); err != nil {
		return s.deprecationAgain(c, form, err)
	}
	undo := map[string]string{"op": "lift"}
	if was := held.Deprecated; was != nil {
		undo = map[string]string{"op": "set", "deprecated.successor": was.Successor, "deprecated.note": was.Note, "seen": was.Successor}
	}
	return c.DoneUndo(s.managed(c, views.PartDeprecation), c.T(done), views.Undo{
		Action: views.ManagePartPath(c.Who.Workspace, source, id, views.PartDeprecation), Values: undo,
	})
}

// deprecationAgain shows the page with what is wrong, where it can be mended
// there.
func (s *Site) deprecationAgain(c *Ctx, form url.Values, err error) error {
	switch {
	case fault.Is(err, fault.Conflict):
		return s.showDeprecation(c, http.StatusConflict, c.showDraft(form, err))
	case fault.Is(err, fault.Invalid):
		return s.showDeprecation(c, http.StatusUnprocessableEntity, c.showDraft(form, err))
	}
	return err
}
