package web

import (
	"strings"

	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
)

func (s *Site) manageTags(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	tags := append([]string{}, words(form.Get("tags"), ",\n")...)
	return s.update(c, views.PartTags, form, catalog.Patch{Tags: &tags}, "manage.tags_saved")
}

func (s *Site) manageMaintainers(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	people := append([]string{}, form["maintainers"]...)
	return s.update(c, views.PartMaintainers, form, catalog.Patch{Maintainers: &people}, "manage.maintainers_saved")
}

// manageDeprecation sets the deprecation or lifts it. One that says nothing at
// all would lift it too, so it is asked for a word.
func (s *Site) manageDeprecation(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if form.Get("op") == "lift" {
		return s.update(c, views.PartDeprecation, form, catalog.Patch{Deprecated: &catalog.Deprecation{}}, "manage.lifted")
	}
	plainBreaks(form)
	d := catalog.Deprecation{Successor: strings.TrimSpace(form.Get("deprecated.successor")), Note: strings.TrimSpace(form.Get("deprecated.note"))}
	if d == (catalog.Deprecation{}) {
		return s.manageAgain(c, views.PartDeprecation, form, fault.Fields([]fault.Field{{
			Path: "/deprecated/note", Code: "empty_deprecation", Message: "Name a successor, or say why.",
		}}))
	}
	return s.update(c, views.PartDeprecation, form, catalog.Patch{Deprecated: &d}, "manage.deprecated")
}

// manageVersion does one thing to one version.
func (s *Site) manageVersion(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ctx, actor, source, id := c.R.Context(), c.Actor(), c.R.PathValue("source"), c.R.PathValue("id")
	version, op := form.Get("version"), form.Get("op")
	switch op {
	case "withdraw":
		err = s.Catalog.Withdraw(ctx, actor, source, id, version)
	case "revive":
		err = s.Catalog.Revive(ctx, actor, source, id, version)
	case "block":
		err = s.Catalog.Block(ctx, actor, source, id, version, form.Get("reason"))
	case "unblock":
		err = s.Catalog.Unblock(ctx, actor, source, id, version)
	case "tags":
		err = s.Catalog.SetVersionTags(ctx, actor, source, id, version, words(form.Get("versionTags"), ",\n"))
		err = renamedFrom(err, "/tags", "/versionTags")
	default:
		return fault.Missing()
	}
	if err != nil {
		return s.manageAgain(c, views.PartVersion, form, err)
	}
	return c.Done(s.managed(c, views.PartVersion), c.T("manage.did_"+op, "version", version))
}

// renamedFrom is the error with every field below one path moved to another.
func renamedFrom(err error, from, to string) error {
	f := fault.From(err)
	if f == nil {
		return nil
	}
	for i := range f.Fields {
		if rest, ok := strings.CutPrefix(f.Fields[i].Path, from); ok {
			f.Fields[i].Path = to + rest
		}
	}
	return err
}

// deleteCapability ends it for good, once its id was typed.
func (s *Site) deleteCapability(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	source, id := c.R.PathValue("source"), c.R.PathValue("id")
	if strings.TrimSpace(form.Get("confirm")) != id {
		return s.manageAgain(c, views.PartDelete, form, fault.Fields([]fault.Field{{
			Path: "/confirm", Code: "not_confirmed", Message: "Type " + id + " to delete it.",
		}}))
	}
	if err := s.Catalog.Delete(c.R.Context(), c.Actor(), source, id); err != nil {
		return err
	}
	return c.Done(views.MinePath(c.Who.Workspace), c.T("manage.deleted", "name", source+"/"+id))
}
