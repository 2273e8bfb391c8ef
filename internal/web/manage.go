package web

import (
	"net/http"
	"net/url"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// manageRoutes are where its publishers decide on a capability.
func (s *Site) manageRoutes() []Route {
	const base = "/{workspace}/store/{source}/{id}/manage"
	return []Route{
		{Method: "GET", Pattern: base, Access: Member, handler: s.managePage},
		{Method: "POST", Pattern: base + "/reach", Access: Member, handler: s.manageReach},
		{Method: "POST", Pattern: base + "/tags", Access: Member, handler: s.manageTags},
		{Method: "POST", Pattern: base + "/maintainers", Access: Member, handler: s.manageMaintainers},
		{Method: "GET", Pattern: base + "/deprecation", Access: Member, handler: s.deprecationPage},
		{Method: "POST", Pattern: base + "/deprecation", Access: Member, handler: s.setDeprecation},
		{Method: "GET", Pattern: base + "/version", Access: Member, handler: s.retirePage},
		{Method: "POST", Pattern: base + "/version", Access: Member, handler: s.manageVersion},
		{Method: "GET", Pattern: base + "/delete", Access: Member, handler: s.deletePage},
		{Method: "POST", Pattern: base + "/delete", Access: Member, handler: s.deleteCapability},
	}
}

func (s *Site) managePage(c *Ctx) error {
	return s.showManage(c, http.StatusOK, views.Manage{})
}

// showManage draws the page around what was sent of one part.
func (s *Site) showManage(c *Ctx, status int, v views.Manage) error {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	held, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	if err := capability.MayWrite(c.Actor(), held.Access); err != nil {
		return err
	}
	line, err := s.Catalog.Versions(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	if err := s.manageMembers(c, &v, held); err != nil {
		return err
	}
	c.fillManage(&v, held, line)
	v.PublicReason = c.refusal(capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()))
	page := c.Page(c.T("manage.title", "name", v.Name), views.NavMine)
	page.Crumbs = []ui.Crumb{
		{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)},
		{Label: v.Name, Href: views.CapabilityPath(c.Who.Workspace, source, id)}, {Label: c.T("manage.crumb")},
	}
	return c.Render(status, views.ManagePage(page, v))
}

func (c *Ctx) fillManage(v *views.Manage, held catalog.Capability, line []catalog.VersionInfo) {
	v.Workspace, v.WorkspaceName, v.Source, v.ID = c.Who.Workspace, c.Who.WorkspaceName, held.Source, held.ID
	v.Name, v.Kind, v.Revision, v.Adopters, v.Tags = line[0].Name, string(line[0].Kind), held.Revision, held.Adopters, held.Tags
	v.Reach, v.SharedWith, v.Creator = string(held.Access.Reach), held.Access.SharedWith, held.Creator.Name
	v.Targets = c.otherWorkspaces()
	for _, slug := range held.Access.SharedWith {
		if !slices.ContainsFunc(v.Targets, func(w views.Workspace) bool { return w.Slug == slug }) {
			v.Targets = append(v.Targets, views.Workspace{Slug: slug, Name: slug})
		}
	}
	v.MaintainersReason = c.refusal(capability.MayNameMaintainers(c.Actor(), held.Access))
	v.DeleteReason = c.refusal(capability.MayDelete(c.Actor(), held.Access))
	if held.Deprecated != nil {
		v.Deprecated, v.Successor, v.Note = true, held.Deprecated.Successor, held.Deprecated.Note
	}
	for _, i := range line {
		v.Versions = append(v.Versions, views.ManageVersion{
			Version: i.Version, State: string(i.State), Latest: i.Latest, Tags: i.Tags, Note: i.Note, Author: i.Author.Name,
			At: i.CreatedAt, Reason: i.BlockedReason,
		})
	}
}

// manageMembers lists who maintains it or could: whoever may write at all, but
// for its creator, who stands above the list.
func (s *Site) manageMembers(c *Ctx, v *views.Manage, held catalog.Capability) error {
	members, err := s.Root.Identity.Members(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Subject == held.Creator.Subject {
			continue
		}
		row := views.ManageMember{
			Subject: m.Subject, Name: m.Name, Email: m.Email, Maintainer: slices.Contains(held.Access.Maintainers, m.Subject),
		}
		if !m.Role.AtLeast(capability.RoleMember) && !row.Maintainer {
			row.Reason = c.T("manage.viewer_only_reads")
		}
		v.Members = append(v.Members, row)
	}
	return nil
}

// update changes the metadata from a part's form and says so, or shows the
// page again with what is wrong.
func (s *Site) update(c *Ctx, part string, form url.Values, p catalog.Patch, done string) error {
	var err error
	if p.IfRevision, err = revisionIfSent(form); err != nil {
		return err
	}
	err = s.Catalog.Update(c.R.Context(), c.Actor(), c.R.PathValue("source"), c.R.PathValue("id"), p)
	if err != nil {
		return s.manageAgain(c, part, form, err)
	}
	return c.Done(s.managed(c, part), c.T(done))
}

// revisionIfSent is the revision that the form was made from; 0, where it says
// none, does not care.
func revisionIfSent(form url.Values) (int64, error) {
	if !form.Has("revision") {
		return 0, nil
	}
	return revisionIn(form)
}

// managed is the page's part, to which the reader comes back.
func (s *Site) managed(c *Ctx, part string) string {
	return views.ManagePath(c.Who.Workspace, c.R.PathValue("source"), c.R.PathValue("id")) + "#part-" + part
}

// manageAgain shows the page with what is wrong with one part, where it can be
// mended there.
func (s *Site) manageAgain(c *Ctx, part string, form url.Values, err error) error {
	f := fault.From(err)
	status := http.StatusUnprocessableEntity
	switch {
	case f.Kind == fault.Conflict:
		status = http.StatusConflict
	case f.Code == "public_needs_admin":
		f = &fault.Fault{Kind: fault.Invalid, Code: f.Code, Fields: []fault.Field{{Path: "/visibility", Code: f.Code, Message: c.refusal(f)}}}
	case f.Kind != fault.Invalid:
		return err
	}
	return s.showManage(c, status, views.Manage{Part: part, Form: c.showDraft(form, f)})
}
