package web

import (
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/views"
)

func invitationRow(in identity.Invitation) views.InvitationRow {
	return views.InvitationRow{ID: in.ID, Email: in.Email, Role: string(in.Role), InvitedBy: in.InvitedBy, Expires: in.ExpiresAt}
}

func (s *Site) newInvitationPage(c *Ctx) error {
	if err := capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	return s.showNewInvitation(c, http.StatusOK, views.Form{})
}

func (s *Site) showNewInvitation(c *Ctx, status int, form views.Form) error {
	return c.Render(status, views.NewInvitationPage(c.Page(c.T("members.invite"), views.NavSettings),
		views.NewInvitation{Workspace: c.Who.Workspace, Form: form}))
}

// newInvitation answers with the link itself: it is kept nowhere that a later
// page could take it from.
func (s *Site) newInvitation(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	made, token, err := s.Root.Identity.Invite(c.R.Context(), c.Actor(), capability.Role(form.Get("role")), form.Get("email"))
	if status, again := shownAgain(err); again {
		return s.showNewInvitation(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	return c.RenderOnce(views.MadeInvitationPage(c.Page(c.T("members.invite"), views.NavSettings), views.MadeInvitation{
		Workspace: c.Who.Workspace, Link: c.Absolute(views.InvitePath(token)), InvitationRow: invitationRow(made),
	}))
}

func (s *Site) revokeInvitation(c *Ctx) error {
	if err := s.Root.Identity.RevokeInvitation(c.R.Context(), c.Actor(), c.R.PathValue("id")); err != nil {
		return err
	}
	return c.Done(views.MembersPath(c.Who.Workspace), c.T("members.revoked"))
}
