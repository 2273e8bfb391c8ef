package web

import (
	"capstore/internal/catalog"
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
