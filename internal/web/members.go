package web

import (
	"net/http"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/views"
)

func (s *Site) membersPage(c *Ctx) error { return s.showMembers(c, http.StatusOK, views.Form{}) }

func (s *Site) showMembers(c *Ctx, status int, rename views.Form) error {
	members, err := s.Root.Identity.Members(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	v := views.Members{Workspace: c.Who.Workspace, MayManage: c.mayManage(), Rename: rename}
	for _, m := range members {
		v.Rows = append(v.Rows, c.memberRow(m))
	}
	if !v.MayManage {
		v.Reason = c.T("members.invite_reason", "names", adminNames(members))
		return s.renderMembers(c, status, v)
	}
	open, err := s.Root.Identity.Invitations(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	for _, in := range open {
		v.Invitations = append(v.Invitations, invitationRow(in))
	}
	return s.renderMembers(c, status, v)
}

func (s *Site) renderMembers(c *Ctx, status int, v views.Members) error {
	return c.Render(status, views.MembersPage(c.Page(c.T("settings.members"), views.NavSettings), v))
}

// renameWorkspace gives the workspace another name; its addresses stay.
func (s *Site) renameWorkspace(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	err = s.Root.Identity.RenameWorkspace(c.R.Context(), c.Actor(), form.Get("name"))
	if status, again := shownAgain(err); again {
		return s.showMembers(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	return c.Done(views.MembersPath(c.Who.Workspace), c.T("members.renamed", "name", form.Get("name")))
}

// mayManage reports whether the reader may change who belongs to the workspace.
func (c *Ctx) mayManage() bool {
	return capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}) == nil
}

func (c *Ctx) memberRow(m identity.Member) views.MemberRow {
	return views.MemberRow{
		Subject: m.Subject, Name: m.Name, Email: m.Email, Role: string(m.Role), Since: m.Since, You: m.Subject == c.Who.Subject,
	}
}

// adminNames says whom to ask.
func adminNames(members []identity.Member) string {
	var names []string
	for _, m := range members {
		if m.Role == capability.RoleAdmin {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// member is the one that the path names, missing when there is none in the
// workspace.
func (s *Site) member(c *Ctx) (identity.Member, error) {
	members, err := s.Root.Identity.Members(c.R.Context(), c.Actor())
	if err != nil {
		return identity.Member{}, err
	}
	for _, m := range members {
		if m.Subject == c.R.PathValue("subject") {
			return m, nil
		}
	}
	return identity.Member{}, fault.Missing()
}

// setMemberRole changes a role, with a way to take that back.
func (s *Site) setMemberRole(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	m, err := s.member(c)
	if err != nil {
		return err
	}
	role := capability.Role(form.Get("role"))
	if err := s.Root.Identity.SetRole(c.R.Context(), c.Actor(), m.Subject, role); err != nil {
		return err
	}
	text := c.T("members.role_done", "name", m.Name, "role", c.T("role."+string(role)))
	if m.Subject == c.Who.Subject || m.Role == role {
		return c.Done(views.MembersPath(c.Who.Workspace), text)
	}
	return c.DoneUndo(views.MembersPath(c.Who.Workspace), text,
		views.Undo{Action: views.MemberRolePath(c.Who.Workspace, m.Subject), Values: map[string]string{"role": string(m.Role)}})
}

func (s *Site) removeMemberPage(c *Ctx) error {
	m, err := s.member(c)
	if err != nil {
		return err
	}
	v := views.Removal{Workspace: c.Who.Workspace, WorkspaceName: c.Who.WorkspaceName, MemberRow: c.memberRow(m)}
	if !v.You && !c.mayManage() {
		return capability.May(c.Actor(), capability.ActSettings, capability.Ownership{})
	}
	return c.Render(http.StatusOK, views.RemoveMemberPage(c.Page(c.T("settings.members"), views.NavSettings), v))
}

// removeMember ends a membership: another's by an admin, one's own by anyone.
func (s *Site) removeMember(c *Ctx) error {
	m, err := s.member(c)
	if err != nil {
		return err
	}
	if m.Subject == c.Who.Subject {
		if err := s.Root.Identity.Leave(c.R.Context(), c.Actor()); err != nil {
			return err
		}
		return c.Done(views.HomePath(), c.T("members.left", "workspace", c.Who.WorkspaceName))
	}
	if err := s.Root.Identity.RemoveMember(c.R.Context(), c.Actor(), m.Subject); err != nil {
		return err
	}
	return c.Done(views.MembersPath(c.Who.Workspace), c.T("members.removed", "name", m.Name))
}
