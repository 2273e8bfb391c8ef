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
