package web

import (
	"net/http"

	"capstore/views"
)

func (s *Site) securityPage(c *Ctx) error { return s.showSecurity(c, http.StatusOK, views.Form{}) }

func (s *Site) showSecurity(c *Ctx, status int, form views.Form) error {
	sessions, err := s.Root.Sessions.List(c.R.Context(), c.Who.Subject)
	if err != nil {
		return err
	}
	v := views.Security{Form: form, HasPassword: c.Who.HasPassword}
	for _, one := range sessions {
		v.Sessions = append(v.Sessions, views.SessionRow{
			ID: one.ID, UserAgent: one.UserAgent, Address: one.Address, Created: one.CreatedAt, Expires: one.ExpiresAt, Current: one.Current,
		})
	}
	return c.Render(status, views.SecurityPage(c.Page(c.T("nav.account"), views.NavNone), v))
}

func (s *Site) changePassword(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ctx := c.R.Context()
	err = s.Root.Identity.ChangePassword(ctx, c.Who.Subject, form.Get("password"), form.Get("newPassword"), s.Root.Sessions.Key(ctx))
	if status, again := shownAgain(err); again {
		return s.showSecurity(c, status, show(c.Locale, nil, err))
	}
	if err != nil {
		return err
	}
	return c.Done(views.AccountSecurityPath(), c.T("account.password_changed"))
}

// endSession ends the named session, or without a name all others.
func (s *Site) endSession(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if one := form.Get("session"); one != "" {
		if err := s.Root.Sessions.EndOne(c.R.Context(), c.Who.Subject, one); err != nil {
			return err
		}
		return c.Done(views.AccountSecurityPath(), c.T("account.ended"))
	}
	n, err := s.Root.Sessions.EndOthers(c.R.Context(), c.Who.Subject)
	if err != nil {
		return err
	}
	return c.Done(views.AccountSecurityPath(), c.Locale.N("account.ended_others", int(n)))
}
