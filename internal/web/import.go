package web

import (
	"net/http"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
	"capstore/views"
	"capstore/views/ui"
)

// maxImport bounds what is sent to be imported.
const maxImport = interchange.MaxArchive

// importRoutes are the pages by which things come in from files, and go out as
// files: what is sent waits on the server until its sender has looked at it.
func (s *Site) importRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/store/import", Access: Member, handler: s.importPage},
		{Method: "POST", Pattern: "/{workspace}/store/import", Access: Member, Body: maxImport + 1<<20, handler: s.sendImport},
		{Method: "GET", Pattern: "/{workspace}/store/{source}/{id}/export", Access: Member, handler: s.exportCapability},
		{Method: "GET", Pattern: "/{workspace}/imports/{import}", Access: Member, handler: s.stagedImport},
		{Method: "POST", Pattern: "/{workspace}/imports/{import}", Access: Member, handler: s.decideImport},
	}
}

func (s *Site) importPage(c *Ctx) error {
	return s.showImport(c, http.StatusOK, views.Import{Form: views.Form{Values: c.R.URL.Query()}})
}

func (s *Site) showImport(c *Ctx, status int, v views.Import) error {
	v.Workspace, v.WorkspaceName, v.Targets = c.Who.Workspace, c.Who.WorkspaceName, c.otherWorkspaces()
	v.Reason, v.PublicReason = c.whyNotWrite(), c.refusal(capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()))
	v.SecretReason = c.refusal(capability.May(c.Actor(), capability.ActSecrets, capability.Fresh))
	page := c.Page(c.T("import.title"), views.NavMine)
	page.Crumbs = []ui.Crumb{{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}, {Label: page.Title}}
	return c.Render(status, views.ImportPage(page, v))
}

// sendImport keeps what was sent and leads to the page that shows what is in
// it. What cannot be read at all is said at the form.
func (s *Site) sendImport(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	sent, err := s.importSent(c, form)
	var found interchange.Import
	if err == nil {
		found, err = interchange.FromUploads(sent.uploads, interchange.Options{Rules: s.Catalog.Rules()})
	}
	if err != nil {
		if f := fault.From(err); f.Kind == fault.Internal || f.Kind == fault.Unavailable {
			return err
		}
		return s.showImport(c, http.StatusUnprocessableEntity, views.Import{Form: show(c.Locale, form, err)})
	}
	id, err := s.Staging.Put(c.R.Context(), c.Actor(), sent.uploads, sent.origin)
	if err == nil && sent.under != "" {
		_, err = s.Staging.Change(c.R.Context(), c.Actor(), id, func(st *intake.State) { st.Left = outside(found, sent.under) })
	}
	if err != nil {
		return err
	}
	return c.Redirect(views.StagedImportPath(c.Who.Workspace, id, ""))
}

// outside lists what does not lie in the folder that an address was about,
// which stands below the archive's own top folder.
func outside(found interchange.Import, folder string) []string {
	var out []string
	for _, item := range found.Each() {
		if _, p, _ := strings.Cut(item.Path, "/"); p != folder && !strings.HasPrefix(p, folder+"/") {
			out = append(out, item.Path)
		}
	}
	return out
}
