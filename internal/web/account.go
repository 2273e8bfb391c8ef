package web

import (
	"net/http"

	"capstore/internal/identity"
	"capstore/views"
)

func (s *Site) accountPage(c *Ctx) error { return s.showAccount(c, http.StatusOK, views.Form{}) }

func (s *Site) showAccount(c *Ctx, status int, form views.Form) error {
	return c.Render(status, views.AccountPage(c.Page(c.T("nav.account"), views.NavNone), views.Profile{
		Form: form, Email: c.Who.Email, Name: c.Who.Name, Locale: c.Who.Locale, Theme: c.theme(),
	}))
}

// saveProfile keeps what the member decided about himself. The theme that this
// machine's switch chose before gives way to the one chosen here.
func (s *Site) saveProfile(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	profile := identity.Profile{Name: form.Get("name"), Locale: form.Get("locale"), Theme: form.Get("theme")}
	err = s.Root.Identity.SetProfile(c.R.Context(), c.Who.Subject, profile)
	if status, again := shownAgain(err); again {
		return s.showAccount(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	http.SetCookie(c.W, &http.Cookie{
		Name: views.ThemeCookie, Path: "/", MaxAge: -1, SameSite: http.SameSiteLaxMode, Secure: s.Root.Config.Secure(),
	})
	c.Who.Locale = profile.Locale
	c.as(c.Who)
	return c.Done(views.AccountPath(), c.T("account.saved"))
}

// dismissHint puts a hint away and goes back to where it stood.
func (s *Site) dismissHint(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if err := s.Root.Identity.Dismiss(c.R.Context(), c.Who.Subject, form.Get("hint")); err != nil {
		return err
	}
	return c.Redirect(Back(form.Get("next"), views.HomePath()))
}
