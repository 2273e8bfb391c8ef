package web

import (
	"cmp"
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
)

// publishDraft publishes what the form says, or shows what is wrong with it.
func (s *Site) publishDraft(c *Ctx, a author, v views.Author) error {
	p, faults := a.publication(v.Form.Values)
	if len(faults) > 0 {
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, fault.Fields(faults)))
	}
	out, err := s.Catalog.Publish(c.R.Context(), c.Actor(), p)
	if err != nil {
		return s.publishAgain(c, a, v, p, err)
	}
	return s.published(c, p, out)
}

// publishAgain shows the form with why it was not published, where that can be
// mended there.
func (s *Site) publishAgain(c *Ctx, a author, v views.Author, p catalog.Publication, err error) error {
	f := fault.From(err)
	switch {
	case f.Code == "changed_since" && a.base != nil:
		return s.staleDraft(c, a, v)
	case f.Kind == fault.Conflict:
		return s.showAuthor(c, http.StatusConflict, a, withFaults(c, v, atConflict(c, p, f)))
	case f.Kind == fault.Invalid:
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, c.onExisting(p, f)))
	case f.Code == "public_needs_admin":
		denied := fault.Fields([]fault.Field{{Path: "/visibility", Code: f.Code, Message: c.refusal(f)}})
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, denied))
	}
	return err
}

// staleDraft shows the form beside the version that came between. Publishing
// once more is then a choice made in its sight.
func (s *Site) staleDraft(c *Ctx, a author, v views.Author) error {
	source, id := a.base.Source, a.base.ID
	held, err := s.Catalog.Get(c.R.Context(), c.Actor(), source, id)
	if err != nil {
		return err
	}
	if held.Latest == nil {
		v.Form.Values.Set("ifMatch", "")
		return s.showAuthor(c, http.StatusConflict, a, v)
	}
	v.Form.Values.Set("ifMatch", held.Latest.Digest)
	v.Stale = &views.AuthorStale{
		Version:  held.Latest.Version,
		DiffHref: views.VersionDiffPath(c.Who.Workspace, source, id, a.base.Version, held.Latest.Version, false),
	}
	return s.showAuthor(c, http.StatusConflict, a, v)
}

// published says what became of it and shows it.
func (s *Site) published(c *Ctx, p catalog.Publication, out catalog.Published) error {
	key := "author.published"
	switch {
	case out.NoChanges:
		key = "author.unchanged"
	case out.Revived:
		key = "author.revived"
	case p.Visibility == capability.ReachPrivate:
		key = "author.published_private"
	}
	text := c.T(key, "name", out.Version.Name, "version", out.Version.Version)
	return c.Done(views.CapabilityPath(c.Who.Workspace, out.Version.Source, out.Version.ID), text)
}

// withFaults is the form with every fault at its field.
func withFaults(c *Ctx, v views.Author, err error) views.Author {
	v.Form = c.showDraft(v.Form.Values, err)
	return v
}

// atConflict puts a name or number that is taken at its field.
func atConflict(c *Ctx, p catalog.Publication, f *fault.Fault) error {
	path := map[string]string{"name_taken": "/name", "id_taken": "/id", "version_exists": "/version"}[f.Code]
	if path == "/id" && p.ID == "" {
		path = "/name"
	}
	if path == "" {
		return f
	}
	return fault.Fields([]fault.Field{{Path: path, Code: f.Code, Message: c.refusal(f)}})
}

// onExisting tells the author of a new capability that its id is there already,
// which the service can only say as a reach that may not change.
func (c *Ctx) onExisting(p catalog.Publication, f *fault.Fault) error {
	id := p.ID
	if id == "" {
		id = capability.IDFromName(p.Name)
	}
	out := *f
	out.Fields = nil
	for _, field := range f.Fields {
		if field.Code == "reach_on_existing" {
			field = fault.Field{Path: "/id", Code: "exists", Message: c.T("author.exists", "id", id)}
		}
		out.Fields = append(out.Fields, field)
	}
	return &out
}

// beforePublishing fills in what the last step shows: who would see it, and of
// a next version the number that its changes ask for.
func (s *Site) beforePublishing(c *Ctx, a author, v *views.Author) error {
	if a.base == nil {
		slugs := []string{c.Who.Workspace}
		for _, target := range v.Targets {
			slugs = append(slugs, target.Slug)
		}
		var err error
		if v.People, err = s.Catalog.Audience(c.R.Context(), c.Actor(), slugs); err != nil {
			return err
		}
		v.Similar, err = s.similarTo(c, v.Form.Value("name", ""))
		return err
	}
	r := &reading{form: v.Form.Values}
	p := catalog.Publication{Name: r.text("name"), Description: r.text("description")}
	spec, faults := capability.DecodeSpec(a.spec(r, p))
	if len(r.faults) > 0 || len(faults) > 0 {
		return nil // told at its field
	}
	next := capability.Content{Name: p.Name, Description: p.Description, Spec: spec}
	if next.Digest() == a.base.Digest {
		return nil // nothing to number yet
	}
	bump, why := capability.SuggestBump(a.base.Content, next)
	v.Suggested = &views.AuthorSuggestion{Bump: bump}
	for _, effect := range why {
		v.Suggested.Why = append(v.Suggested.Why, c.effectText(effect))
	}
	// A choice that nobody made follows the suggestion.
	if form := v.Form.Values; cmp.Or(form.Get("suggested"), capability.BumpPatch) == form.Get("bump") {
		form.Set("bump", bump)
	}
	return nil
}

// similarTo lists what may be taken for a capability of the name.
func (s *Site) similarTo(c *Ctx, name string) ([]views.SimilarName, error) {
	found, err := s.Catalog.Similar(c.R.Context(), c.Actor(), name)
	var out []views.SimilarName
	for _, one := range found {
		out = append(out, views.SimilarName{
			Name: one.Name, Ref: one.Source + "/" + one.ID, Kind: string(one.Kind), Adopters: one.Adopters,
			Href: views.CapabilityPath(c.Who.Workspace, one.Source, one.ID),
		})
	}
	return out, err
}
