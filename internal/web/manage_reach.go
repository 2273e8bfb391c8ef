package web

import (
	"net/http"
	"net/url"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
)

// manageReach shows what a reach would mean, and sets it once that was shown
// for exactly this choice.
func (s *Site) manageReach(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	reach, targets := capability.Reach(form.Get("visibility")), form["sharedWith"]
	if reach != capability.ReachSubset {
		targets = nil
	} else if len(targets) == 0 {
		return s.manageAgain(c, views.PartReach, form, fault.Fields([]fault.Field{noTarget()}))
	}
	if form.Get("op") != "apply" || form.Get("seen") != views.ReachKey(string(reach), targets) {
		return s.previewReach(c, form, reach, targets)
	}
	if targets == nil {
		targets = []string{}
	}
	return s.update(c, views.PartReach, form, catalog.Patch{Reach: &reach, SharedWith: &targets}, "manage.reach_set")
}

func (s *Site) previewReach(c *Ctx, form url.Values, reach capability.Reach, targets []string) error {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	effect, err := s.Catalog.PreviewReach(ctx, c.Actor(), source, id, reach, targets)
	if err != nil {
		return s.manageAgain(c, views.PartReach, form, err)
	}
	held, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	key := views.ReachKey(string(reach), targets)
	shown := &views.ReachEffect{
		Reach: string(reach), Everyone: effect.Everyone, Adopters: effect.Adopters, Losing: effect.Losing, Key: key,
		Same: key == views.ReachKey(string(held.Access.Reach), held.Access.SharedWith),
	}
	for _, r := range effect.Workspaces {
		shown.Readers = append(shown.Readers, views.ReachReaders{Name: r.Name, Members: r.Members})
	}
	return s.showManage(c, http.StatusOK, views.Manage{Part: views.PartReach, Form: views.Form{Values: form}, Effect: shown})
}
