package web

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/views"
)

func (s *Site) tokensPage(c *Ctx) error {
	tokens, err := s.Root.Identity.Tokens(c.R.Context(), c.Who.Subject)
	if err != nil {
		return err
	}
	var rows []views.TokenRow
	for _, t := range tokens {
		row := views.TokenRow{
			ID: t.ID, Name: t.Name, Workspace: t.Workspace, Scope: string(t.Scope), Created: t.CreatedAt, Expires: t.ExpiresAt, Expired: t.Expired,
		}
		if t.LastUsedAt != nil {
			row.LastUsed = *t.LastUsedAt
		}
		rows = append(rows, row)
	}
	return c.Render(http.StatusOK, views.TokensPage(c.Page(c.T("account.tokens"), views.NavNone), rows))
}

func (s *Site) newTokenPage(c *Ctx) error {
	return s.showNewToken(c, http.StatusOK, views.Form{Values: c.R.URL.Query()})
}

func (s *Site) showNewToken(c *Ctx, status int, form views.Form) error {
	page := c.Page(c.T("account.token_create"), views.NavNone)
	return c.Render(status, views.NewTokenPage(page, views.NewToken{Form: form, Workspaces: page.Workspaces}))
}

// newToken answers with the credential itself and not with a redirect: it is
// kept nowhere that a later page could take it from.
func (s *Site) newToken(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	who, err := s.Root.Identity.PrincipalOf(c.R.Context(), c.Who.Subject, form.Get("workspace"))
	if err != nil {
		return err
	}
	made, credential, err := s.Root.Identity.CreateToken(c.R.Context(), who.Actor(), identity.NewToken{
		Name: form.Get("name"), Scope: capability.Scope(form.Get("scope")), Life: lifeOf(form),
	})
	if status, again := shownAgain(err); again {
		return s.showNewToken(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	return c.RenderOnce(views.MadeTokenPage(c.Page(c.T("account.token_create"), views.NavNone), views.MadeToken{
		Name: made.Name, Workspace: made.Workspace, Credential: credential, Expires: made.ExpiresAt,
	}))
}

// lifeOf is the life that the form asks for; what is no number of days is out
// of every range.
func lifeOf(form url.Values) time.Duration {
	days, err := strconv.Atoi(form.Get("expires"))
	if err != nil || days < 1 || days > 10_000 {
		return -1
	}
	return time.Duration(days) * 24 * time.Hour
}

func (s *Site) revokeToken(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if err := s.Root.Identity.RevokeToken(c.R.Context(), c.Who.Subject, form.Get("token")); err != nil {
		return err
	}
	return c.Done(views.AccountTokensPath(), c.T("account.token_revoked"))
}
