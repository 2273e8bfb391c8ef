package web

import (
	"net/http"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/views"
)

func (s *Site) loginPage(c *Ctx) error {
	next := c.R.URL.Query().Get("next")
	if c.Who.Subject != "" {
		return c.Redirect(Back(next, views.HomePath()))
	}
	if needed, err := s.Root.Identity.SetupNeeded(c.R.Context()); err != nil || needed {
		if err != nil {
			return err
		}
		return c.Redirect(views.SetupPath())
	}
	return s.showLogin(c, http.StatusOK, views.Login{Next: next})
}

func (s *Site) showLogin(c *Ctx, status int, l views.Login) error {
	if len(s.Root.Config.Demo) > 0 {
		people, err := s.demoPeople(c)
		if err != nil {
			return err
		}
		l.Demo = people
	}
	return c.Render(status, views.LoginPage(c.Page(c.T("login.title"), views.NavNone), l))
}

func (s *Site) login(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ctx, next := c.R.Context(), form.Get("next")
	subject, err := s.Root.Identity.SignIn(ctx, form.Get("email"), form.Get("password"))
	if fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.Limited) || fault.Is(err, fault.Invalid) {
		form.Del("password")
		f := fault.From(err)
		httpd.RetryAfter(c.W.Header(), err)
		return s.showLogin(c, statusOf(f), views.Login{Next: next, Form: show(c.Locale, form, err)})
	}
	if err != nil {
		return err
	}
	if err := s.Root.Sessions.Begin(ctx, subject, "password", c.R.UserAgent()); err != nil {
		return err
	}
	return c.Redirect(Back(next, views.HomePath()))
}

// statusOf is 422 for a form that is shown again, but 429 where it is a limit.
func statusOf(f *fault.Fault) int {
	if f.Kind == fault.Limited {
		return http.StatusTooManyRequests
	}
	return http.StatusUnprocessableEntity
}

// logout ends the session. An invitation sends whoever is not meant back to
// itself.
func (s *Site) logout(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if err := s.Root.Sessions.End(c.R.Context()); err != nil {
		return err
	}
	return c.Redirect(Back(form.Get("next"), views.LoginPath("")))
}

// demoPeople are those who sign in by a click, as far as they are there.
func (s *Site) demoPeople(c *Ctx) ([]views.DemoPerson, error) {
	var people []views.DemoPerson
	for _, email := range s.Root.Config.Demo {
		user, err := s.Root.Identity.UserByEmail(c.R.Context(), email)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		who, err := s.Root.Identity.PrincipalOf(c.R.Context(), user.Subject, "")
		if err != nil {
			return nil, err
		}
		people = append(people, views.DemoPerson{Email: email, Name: who.Name, Roles: c.roles(who)})
	}
	return people, nil
}

// roles says what somebody is, and where.
func (c *Ctx) roles(who identity.Principal) string {
	var out []string
	for _, m := range who.Memberships {
		out = append(out, c.T("login.demo_role", "role", c.T("role."+string(m.Role)), "workspace", m.Name))
	}
	return strings.Join(out, ", ")
}

// demoLogin signs one of the demo's people in by a click. It exists only on a
// server that was started as a demo, which listens on loopback alone.
func (s *Site) demoLogin(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	email := form.Get("email")
	if !slices.Contains(s.Root.Config.Demo, email) {
		return fault.Missing()
	}
	user, err := s.Root.Identity.UserByEmail(c.R.Context(), email)
	if err != nil {
		return err
	}
	if err := s.Root.Sessions.Begin(c.R.Context(), user.Subject, "demo", c.R.UserAgent()); err != nil {
		return err
	}
	return c.Redirect(Back(form.Get("next"), views.HomePath()))
}
