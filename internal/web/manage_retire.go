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

// deletion is the act that ends a capability as a whole; the others are of one
// version.
const deletion = "delete"

// versionUndo names for each act on a version the one that takes it back.
var versionUndo = map[string]string{"withdraw": "revive", "revive": "withdraw", "block": "unblock", "unblock": "block"}

// retirePage says what an act on a version means before it is done.
func (s *Site) retirePage(c *Ctx) error {
	query := c.R.URL.Query()
	return s.showRetire(c, http.StatusOK, query.Get("op"), query.Get("version"), views.Form{})
}

func (s *Site) deletePage(c *Ctx) error {
	return s.showRetire(c, http.StatusOK, deletion, "", views.Form{})
}

// showRetire draws the page around what was sent of it.
func (s *Site) showRetire(c *Ctx, status int, op, version string, form views.Form) error {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	held, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	rests, err := s.Catalog.Reliance(ctx, c.Actor(), source, id, version)
	if err != nil {
		return err
	}
	line, err := s.Catalog.Versions(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	v := views.Retire{
		Workspace: c.Who.Workspace, Source: source, ID: id, Name: line[0].Name, Kind: string(line[0].Kind), Op: op, Version: version, Form: form,
		Action: views.ManagePartPath(c.Who.Workspace, source, id, views.PartVersion), Back: s.managed(c, views.PartVersion),
	}
	if op == deletion {
		v.Action, v.Back = views.ManagePartPath(c.Who.Workspace, source, id, views.PartDelete), s.managed(c, views.PartDelete)
		v.Deprecate = views.ManagePartPath(c.Who.Workspace, source, id, views.PartDeprecation)
		v.Reason = c.refusal(capability.MayDelete(c.Actor(), held.Access))
		v.Means = c.deletionMeans(rests)
	} else if err := c.fillRetire(&v, held, line, rests); err != nil {
		return err
	}
	page := c.Page(v.Title(c.Locale), views.NavMine)
	page.Crumbs = c.manageCrumbs(v.Name, source, id, c.T("retire."+op))
	return c.Render(status, views.RetirePage(page, v))
}

// manageCrumbs is the way to a page below the managing of a capability.
func (c *Ctx) manageCrumbs(name, source, id, here string) []ui.Crumb {
	ws := c.Who.Workspace
	return []ui.Crumb{
		{Label: c.T("nav.mine"), Href: views.MinePath(ws)}, {Label: name, Href: views.CapabilityPath(ws, source, id)},
		{Label: c.T("manage.crumb"), Href: views.ManagePath(ws, source, id)}, {Label: here},
	}
}

// fillRetire fills in what the act means for the version. Missing for an act
// or a version that there is not.
func (c *Ctx) fillRetire(v *views.Retire, held catalog.Capability, line []catalog.VersionInfo, rests catalog.Reliance) error {
	if versionUndo[v.Op] == "" || v.Version == "" {
		return fault.Missing()
	}
	var of catalog.VersionInfo
	for _, info := range line {
		if info.Version == v.Version {
			of = info
		}
	}
	v.Means = c.versionMeans(v.Op, of, line, rests)
	switch {
	case v.Op == "withdraw":
		v.Reason = c.refusal(capability.MayDelete(c.Actor(), held.Access))
	case v.Op == "block" || v.Op == "unblock":
		v.Reason = c.refusal(capability.MayBlock(c.Actor(), held.Access))
	}
	if v.Reason == "" && !acts(v.Op, of.State) {
		v.Reason = c.T("retire.done_already", "version", v.Version, "state", c.T("retire.state_"+string(of.State)))
	}
	return nil
}

// acts reports whether the act changes a version of that state.
func acts(op string, state catalog.State) bool {
	switch op {
	case "withdraw":
		return state == catalog.Live
	case "revive":
		return state == catalog.Withdrawn
	case "block":
		return state != catalog.Blocked
	}
	return state == catalog.Blocked
}

// manageVersion does one thing to one version.
func (s *Site) manageVersion(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	source, id, op, version := c.R.PathValue("source"), c.R.PathValue("id"), form.Get("op"), form.Get("version")
	undo, err := s.undoOf(c, op, version)
	if err != nil {
		return err
	}
	err = s.retireVersion(c, op, version, form.Get("reason"))
	if fault.Is(err, fault.Invalid) {
		return s.showRetire(c, http.StatusUnprocessableEntity, op, version, c.showDraft(form, err))
	}
	if err != nil {
		return err
	}
	back, text := s.managed(c, views.PartVersion), c.T("manage.did_"+op, "version", version)
	if undo == nil {
		return c.Done(back, text)
	}
	return c.DoneUndo(back, text, views.Undo{Action: views.ManagePartPath(c.Who.Workspace, source, id, views.PartVersion), Values: undo})
}

func (s *Site) retireVersion(c *Ctx, op, version, reason string) error {
	ctx, actor, source, id := c.R.Context(), c.Actor(), c.R.PathValue("source"), c.R.PathValue("id")
	switch op {
	case "withdraw":
		return s.Catalog.Withdraw(ctx, actor, source, id, version)
	case "revive":
		return s.Catalog.Revive(ctx, actor, source, id, version)
	case "block":
		return s.Catalog.Block(ctx, actor, source, id, version, reason)
	case "unblock":
		return s.Catalog.Unblock(ctx, actor, source, id, version)
	}
	return fault.Missing()
}

// undoOf is the form that takes the act back, with the reason that is there
// before a block is lifted; nil where the reader may not take it back.
func (s *Site) undoOf(c *Ctx, op, version string) (map[string]string, error) {
	held, err := s.Catalog.Get(c.R.Context(), c.Actor(), c.R.PathValue("source"), c.R.PathValue("id"))
	if err != nil {
		return nil, err
	}
	undo := map[string]string{"op": versionUndo[op], "version": version}
	switch {
	case undo["op"] == "withdraw" && capability.MayDelete(c.Actor(), held.Access) != nil:
		return nil, nil
	case undo["op"] == "block":
		was, err := s.Catalog.Version(c.R.Context(), c.Actor(), held.Source, held.ID, version)
		if err != nil {
			return nil, err
		}
		undo["reason"] = was.BlockedReason
	}
	return undo, nil
}

// deleteCapability ends it for good, once its id was typed.
func (s *Site) deleteCapability(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	source, id := c.R.PathValue("source"), c.R.PathValue("id")
	if strings.TrimSpace(form.Get("confirm")) != id {
		return s.showRetire(c, http.StatusUnprocessableEntity, deletion, "", c.showDraft(form, notConfirmed(id)))
	}
	if err := s.Catalog.Delete(c.R.Context(), c.Actor(), source, id); err != nil {
		return err
	}
	return c.Done(views.MinePath(c.Who.Workspace), c.T("manage.deleted", "name", source+"/"+id))
}

func notConfirmed(id string) error {
	return fault.Fields([]fault.Field{{Path: "/confirm", Code: "not_confirmed", Message: "Type " + id + " to delete it."}})
}
