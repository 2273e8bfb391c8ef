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

// manageReach shows what a reach would mean, and sets it once that was shown
// for exactly this choice.
func (s *Site) manageReach(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	reach, targets := capability.Reach(form.Get("visibility")), words(strings.Join(form["sharedWith"], ","), ",")
	if reach != capability.ReachSubset {
		targets = nil
	} else if len(targets) == 0 {
		return s.manageAgain(c, views.PartReach, form, fault.Fields([]fault.Field{noTarget()}))
	}
	if form.Get("op") != "apply" || form.Get("seen") != views.ReachKey(string(reach), targets) {
		return s.previewReach(c, form, reach, targets)
	}
	return s.setReach(c, form, reach, append([]string{}, targets...))
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
		Reach: string(reach), Everyone: effect.Everyone, People: effect.People, EveryoneLost: effect.EveryoneLost,
		Readers: readers(effect.Workspaces), Lost: readers(effect.Lost), Adopters: effect.Adopters, Losing: effect.Losing,
		Switched: effect.Switched, Key: key,
		Same: key == views.ReachKey(string(held.Access.Reach), held.Access.SharedWith),
	}
	return s.showManage(c, http.StatusOK, views.Manage{Part: views.PartReach, Form: views.Form{Values: form}, Effect: shown})
}

func readers(list []catalog.Readers) []views.ReachReaders {
	var out []views.ReachReaders
	for _, r := range list {
		out = append(out, views.ReachReaders{Name: r.Name, Members: r.Members})
	}
	return out
}

// setReach sets it, with a way back where the reader may set what was there.
func (s *Site) setReach(c *Ctx, form url.Values, reach capability.Reach, targets []string) error {
	source, id := c.R.PathValue("source"), c.R.PathValue("id")
	held, err := s.Catalog.Get(c.R.Context(), c.Actor(), source, id)
	if err != nil {
		return err
	}
	p := catalog.Patch{Reach: &reach, SharedWith: &targets}
	if p.IfRevision, err = revisionIfSent(form); err != nil {
		return err
	}
	if err := s.Catalog.Update(c.R.Context(), c.Actor(), source, id, p); err != nil {
		return s.manageAgain(c, views.PartReach, form, err)
	}
	was := held.Access
	if was.Reach == capability.ReachPublic && capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()) != nil {
		return c.Done(s.managed(c, views.PartReach), c.T("manage.reach_set"))
	}
	return c.DoneUndo(s.managed(c, views.PartReach), c.T("manage.reach_set"), views.Undo{
		Action: views.ManagePartPath(c.Who.Workspace, source, id, views.PartReach),
		Values: map[string]string{
			"op": "apply", "visibility": string(was.Reach), "sharedWith": strings.Join(was.SharedWith, ","),
			"seen": views.ReachKey(string(was.Reach), was.SharedWith),
		},
	})
}
