package web

import (
	"net/http"
	"net/url"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/views"
)

// newUser is the account that a form describes.
func newUser(form url.Values) identity.NewUser {
	return identity.NewUser{Email: form.Get("email"), Name: form.Get("name"), Password: form.Get("password")}
}

// invitation is the one that the path's token opens.
func (s *Site) invitation(c *Ctx) (identity.Invitation, error) {
	found, err := s.Root.Identity.Invitation(c.R.Context(), c.R.PathValue("token"))
	return found, inviteFault(err)
}

// inviteFault says more than that nothing is there: whoever holds a link knows
// that there was an invitation.
func inviteFault(err error) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return fault.New(fault.NotFound, "invitation_gone", "This invitation cannot be used: it was used already, withdrawn, or has expired.").
		Do("Ask whoever sent it for a new link.")
}

func (s *Site) invitePage(c *Ctx) error {
	return s.showInvite(c, http.StatusOK, views.Form{Values: url.Values{}})
}

func (s *Site) showInvite(c *Ctx, status int, form views.Form) error {
	found, err := s.invitation(c)
	if err != nil {
		return err
	}
	for _, m := range c.Who.Memberships {
		if m.Workspace == found.Workspace {
			return c.Done(views.StorePath(m.Workspace), c.T("invite.already"))
		}
	}
	form.Values.Del("password")
	return c.Render(status, views.InvitePage(c.Page(c.T("invite.title", "workspace", found.WorkspaceName), views.NavNone), views.Invite{
		Token: c.R.PathValue("token"), Workspace: found.WorkspaceName, InvitedBy: found.InvitedBy,
		Role: string(found.Role), Email: found.Email, Form: form,
	}))
}

// acceptInvite joins whoever is signed in.
func (s *Site) acceptInvite(c *Ctx) error {
	workspace, err := s.Root.Identity.Accept(c.R.Context(), c.Who.Subject, c.R.PathValue("token"))
	if f := fault.From(err); f != nil && f.Code == "already_member" {
		if slug, ok := f.Detail["workspace"].(string); ok {
			return c.Done(views.StorePath(slug), c.T("invite.already"))
		}
	}
	if err != nil {
		return inviteFault(err)
	}
	return s.joined(c, workspace, c.Who.Subject)
}

// joinByInvite makes an account, joins with it and signs it in.
func (s *Site) joinByInvite(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	user, workspace, err := s.Root.Identity.AcceptAsNew(c.R.Context(), c.R.PathValue("token"), newUser(form))
	if status, again := shownAgain(err); again {
		return s.showInvite(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return inviteFault(err)
	}
	if err := s.Root.Sessions.Begin(c.R.Context(), user.Subject, "invitation", c.R.UserAgent()); err != nil {
		return err
	}
	return s.joined(c, workspace, user.Subject)
}

func (s *Site) joined(c *Ctx, workspace, subject string) error {
	who, err := s.Root.Identity.PrincipalOf(c.R.Context(), subject, workspace)
	if err != nil {
		return err
	}
	return c.Done(views.StorePath(workspace), c.T("invite.joined", "workspace", who.WorkspaceName))
}
