package web

import (
	"net/http"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// unlistedPage is what no list shows: of what the reader may read that without
// a live version, and for an admin what former members left and how many
// private ones others keep. The page of the workspace's publications asks for
// it by itself.
func (s *Site) unlistedPage(c *Ctx) error {
	ctx, actor := c.R.Context(), c.Actor()
	v := views.Unlisted{Workspace: c.Who.Workspace}
	gone, err := s.Catalog.Unlisted(ctx, actor)
	if err != nil {
		return err
	}
	for _, u := range gone {
		v.Gone = append(v.Gone, views.UnlistedRow{
			ID: u.ID, Kind: string(u.Kind), Name: u.Name, Version: u.Version, Reach: string(u.Reach), Adopters: u.Adopters,
			State: string(u.State), BlockedReason: u.BlockedReason,
		})
	}
	if c.Who.Role == capability.RoleAdmin {
		if err := s.fillHidden(c, &v); err != nil {
			return err
		}
	}
	page := c.Page(c.T("unlisted.title"), views.NavMine)
	page.Crumbs = []ui.Crumb{{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}, {Label: page.Title}}
	return c.Show(http.StatusOK, views.UnlistedPage(page, v), views.UnlistedNote(v))
}

// fillHidden adds what an admin alone is told.
func (s *Site) fillHidden(c *Ctx, v *views.Unlisted) error {
	v.Admin = true
	hidden, err := s.Catalog.HiddenPrivate(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	for _, h := range hidden {
		v.Hidden = append(v.Hidden, views.KindCount{Kind: string(h.Kind), Count: views.Count{N: h.N}})
	}
	left, err := s.Catalog.LeftBehind(c.R.Context(), c.Actor())
	for _, l := range left {
		v.Left = append(v.Left, views.UnlistedRow{
			ID: l.ID, Kind: string(l.Kind), Name: l.ID, Reach: string(l.Reach), Adopters: l.Adopters, Creator: l.Creator,
		})
	}
	return err
}

// leftPage says what it means to take over or to delete what a former member
// left behind.
func (s *Site) leftPage(c *Ctx) error {
	return s.showLeft(c, http.StatusOK, c.R.URL.Query().Get("op"), views.Form{})
}

func (s *Site) showLeft(c *Ctx, status int, op string, form views.Form) error {
	left, err := s.left(c)
	if err != nil {
		return err
	}
	v := views.Retire{
		Workspace: c.Who.Workspace, Source: c.Who.Workspace, ID: left.ID, Name: left.ID, Kind: string(left.Kind), Op: op, Form: form,
		Action: views.LeftPath(c.Who.Workspace, left.ID, ""), Back: views.UnlistedPath(c.Who.Workspace),
	}
	m := &means{c: c}
	switch op {
	case "take":
		m.say(ui.Success, "take_yours", "creator", left.Creator)
		m.say(ui.Neutral, "take_reach", "reach", c.T("reach."+string(left.Reach)))
		m.count(ui.Neutral, "take_adopters", left.Adopters)
	case deletion:
		if left.Adopters == 0 {
			m.say(ui.Neutral, "adopters_none")
		}
		m.count(ui.Danger, "delete_adopters", left.Adopters)
		m.say(ui.Neutral, "for_good")
	default:
		return fault.Missing()
	}
	v.Means = m.lines
	page := c.Page(v.Title(c.Locale), views.NavMine)
	page.Crumbs = []ui.Crumb{
		{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}, {Label: c.T("unlisted.title"), Href: v.Back}, {Label: c.T("retire." + op)},
	}
	return c.Render(status, views.RetirePage(page, v))
}

// left is what the address names of what former members left.
func (s *Site) left(c *Ctx) (catalog.Left, error) {
	list, err := s.Catalog.LeftBehind(c.R.Context(), c.Actor())
	if err != nil {
		return catalog.Left{}, err
	}
	for _, l := range list {
		if l.ID == c.R.PathValue("id") {
			return l, nil
		}
	}
	return catalog.Left{}, fault.Missing()
}

// settleLeft takes it over, or ends it once its id was typed.
func (s *Site) settleLeft(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ws, id := c.Who.Workspace, c.R.PathValue("id")
	switch op := form.Get("op"); {
	case op == "take":
		if err := s.Catalog.TakeOver(c.R.Context(), c.Actor(), id); err != nil {
			return err
		}
		return c.Done(views.ManagePath(ws, ws, id), c.T("unlisted.taken", "name", id))
	case op != deletion:
		return fault.Missing()
	case strings.TrimSpace(form.Get("confirm")) != id:
		return s.showLeft(c, http.StatusUnprocessableEntity, deletion, c.showDraft(form, notConfirmed(id)))
	}
	if _, err := s.left(c); err != nil {
		return err
	}
	if err := s.Catalog.Delete(c.R.Context(), c.Actor(), ws, id); err != nil {
		return err
	}
	return c.Done(views.UnlistedPath(ws), c.T("manage.deleted", "name", ws+"/"+id))
}
