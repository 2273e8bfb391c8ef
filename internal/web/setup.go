package web

import (
	"net/http"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/views"
)

func (s *Site) setupPage(c *Ctx) error {
	needed, err := s.Root.Identity.SetupNeeded(c.R.Context())
	if err != nil {
		return err
	}
	if !needed {
		return c.Redirect(views.LoginPath(""))
	}
	return s.showSetup(c, http.StatusOK, views.Form{Values: c.R.URL.Query()})
}

func (s *Site) showSetup(c *Ctx, status int, form views.Form) error {
	form.Values.Del("password")
	return c.Render(status, views.SetupPage(c.Page(c.T("setup.title"), views.NavNone),
		views.Setup{Form: form, AskToken: s.Root.Identity.SetupTokenRequired()}))
}

// setup makes the first admin and signs him in.
func (s *Site) setup(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ctx, slug := c.R.Context(), slugOf(form)
	user, err := s.Root.Identity.Setup(ctx, identity.NewSetup{
		NewUser: newUser(form), Slug: slug, WorkspaceName: form.Get("workspaceName"), Token: form.Get("token"),
	})
	if status, again := shownAgain(err); again {
		return s.showSetup(c, status, show(c.Locale, form, err))
	}
	if fault.HasCode(err, "already_set_up") {
		return c.Redirect(views.LoginPath(""))
	}
	if err != nil {
		return err
	}
	if err := s.Root.Sessions.Begin(ctx, user.Subject, "setup", c.R.UserAgent()); err != nil {
		return err
	}
	return c.Done(views.StorePath(slug), c.T("setup.done"))
}
