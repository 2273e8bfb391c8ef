package web

import (
	"net/http"
	"net/url"
	"strings"

	"capstore/internal/capability"
	"capstore/views"
)

// home lists the member's workspaces; who has one alone wants to be there.
func (s *Site) home(c *Ctx) error {
	if own := c.Who.Memberships; len(own) == 1 && !c.R.URL.Query().Has("all") {
		return c.Redirect(views.StorePath(own[0].Workspace))
	}
	return c.Render(http.StatusOK, views.HomePage(c.Page(c.T("home.title"), views.NavNone)))
}

func (s *Site) workspaceHome(c *Ctx) error { return c.Redirect(views.StorePath(c.Who.Workspace)) }

func (s *Site) newWorkspacePage(c *Ctx) error {
	return s.showNewWorkspace(c, http.StatusOK, views.Form{})
}

func (s *Site) showNewWorkspace(c *Ctx, status int, form views.Form) error {
	return c.Render(status, views.NewWorkspacePage(c.Page(c.T("home.create"), views.NavNone), form))
}

func (s *Site) newWorkspace(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	name := form.Get("workspaceName")
	made, err := s.Root.Identity.CreateWorkspace(c.R.Context(), c.Who.Subject, slugOf(form), name)
	if status, again := shownAgain(err); again {
		return s.showNewWorkspace(c, status, show(c.Locale, form, renamed(err, "/name", "/workspaceName")))
	}
	if err != nil {
		return err
	}
	return c.Done(views.StorePath(made.Workspace), c.T("home.created", "name", made.Name))
}

// slugOf is the short name that the form gives, or the one that the name
// suggests. A name that Latin letters do not write suggests none.
func slugOf(form url.Values) string {
	slug, name := strings.TrimSpace(form.Get("slug")), strings.TrimSpace(form.Get("workspaceName"))
	latin := !strings.ContainsFunc(name, func(r rune) bool { return r > 0x24f })
	if slug != "" || name == "" || !latin {
		return slug
	}
	id := capability.IDFromName(name)
	return strings.Trim(id[:min(len(id), 39)], "-")
}
