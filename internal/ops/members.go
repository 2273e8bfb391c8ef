package ops

import (
	"context"
	"net/http"
	"time"

	"capstore/internal/capability"
	"capstore/internal/identity"
)

// Member is one person of the workspace.
type Member struct {
	Subject string          `json:"subject"`
	Name    string          `json:"name"`
	Email   string          `json:"email"`
	Role    capability.Role `json:"role"`
	Since   time.Time       `json:"since"`
}

// Invitation is an open invitation to the workspace.
type Invitation struct {
	ID        string          `json:"id"`
	Role      capability.Role `json:"role"`
	Email     string          `json:"email" doc:"Empty for anyone who has the link."`
	InvitedBy string          `json:"invitedBy"`
	CreatedAt time.Time       `json:"createdAt"`
	ExpiresAt time.Time       `json:"expiresAt"`
}

// OpenedInvitation is an invitation with its link's token, which is not kept.
type OpenedInvitation struct {
	Invitation
	Token string `json:"token" doc:"Ends the link /invite/…; shown this once."`
}

type memberPath struct {
	Subject string `path:"subject" doc:"The member's subject."`
}

type setRole struct {
	memberPath
	Body NewRole `body:""`
}

// NewRole is what a member may do from now on.
type NewRole struct {
	Role capability.Role `json:"role" enum:"viewer,member,admin"`
}

type invite struct {
	Body NewInvitation `body:""`
}

// NewInvitation opens an invitation by link.
type NewInvitation struct {
	Role  capability.Role `json:"role" enum:"viewer,member,admin"`
	Email string          `json:"email,omitempty" doc:"Only the account of this address can accept it."`
}

type invitationPath struct {
	ID string `path:"id" doc:"The invitation's id."`
}

func memberOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_members", Method: http.MethodGet, Path: tenant + "/members", Area: AreaMembers,
			Action: capability.ActRead, ReadOnly: true, Summary: "The people of the workspace, by name.",
		}, s.members),
		declare(Meta{
			Name: "set_member_role", Method: http.MethodPut, Path: tenant + "/members/{subject}", Area: AreaMembers,
			Action: capability.ActSettings, Guarded: true, Success: http.StatusNoContent,
			Summary: "Change what a member may do.", Example: `{"role": "member"}`,
		}, s.setRole),
		declare(Meta{
			Name: "remove_member", Method: http.MethodDelete, Path: tenant + "/members/{subject}", Area: AreaMembers,
			Action: capability.ActSettings, Guarded: true, Success: http.StatusNoContent,
			Summary: "End a membership; everyone may end his own.",
		}, s.removeMember),
		declare(Meta{
			Name: "list_invitations", Method: http.MethodGet, Path: tenant + "/invitations", Area: AreaMembers,
			Action: capability.ActSettings, ReadOnly: true, Summary: "The open invitations, newest first.",
		}, s.invitations),
		declare(Meta{
			Name: "create_invitation", Method: http.MethodPost, Path: tenant + "/invitations", Area: AreaMembers,
			Action: capability.ActSettings, Guarded: true, Confidential: true, Success: http.StatusCreated,
			Summary: "Open an invitation by link.", Example: `{"role": "member", "email": "new@example.com"}`,
		}, s.invite),
		declare(Meta{
			Name: "revoke_invitation", Method: http.MethodDelete, Path: tenant + "/invitations/{id}", Area: AreaMembers,
			Action: capability.ActSettings, Guarded: true, Success: http.StatusNoContent, Summary: "End an open invitation.",
		}, s.revokeInvitation),
	}
}

func (s Services) members(ctx context.Context, who identity.Principal, _ Nothing) (List[Member], error) {
	if err := capability.May(who.Actor(), capability.ActRead, capability.Ownership{}); err != nil {
		return List[Member]{}, err
	}
	members, err := s.Identity.Members(ctx, who.Actor())
	return listOf(members, func(m identity.Member) Member {
		return Member{Subject: m.Subject, Name: m.Name, Email: m.Email, Role: m.Role, Since: m.Since}
	}), err
}

func (s Services) setRole(ctx context.Context, who identity.Principal, in setRole) (Empty, error) {
	return Empty{}, s.Identity.SetRole(ctx, who.Actor(), in.Subject, in.Body.Role)
}

func (s Services) removeMember(ctx context.Context, who identity.Principal, in memberPath) (Empty, error) {
	if in.Subject == who.Subject {
		return Empty{}, s.Identity.Leave(ctx, who.Actor())
	}
	return Empty{}, s.Identity.RemoveMember(ctx, who.Actor(), in.Subject)
}

func invitationOf(i identity.Invitation) Invitation {
	return Invitation{ID: i.ID, Role: i.Role, Email: i.Email, InvitedBy: i.InvitedBy, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

func (s Services) invitations(ctx context.Context, who identity.Principal, _ Nothing) (List[Invitation], error) {
	if err := capability.May(who.Actor(), capability.ActSettings, capability.Ownership{}); err != nil {
		return List[Invitation]{}, err
	}
	open, err := s.Identity.Invitations(ctx, who.Actor())
	return listOf(open, invitationOf), err
}

func (s Services) invite(ctx context.Context, who identity.Principal, in invite) (OpenedInvitation, error) {
	opened, token, err := s.Identity.Invite(ctx, who.Actor(), in.Body.Role, in.Body.Email)
	return OpenedInvitation{Invitation: invitationOf(opened), Token: token}, err
}

func (s Services) revokeInvitation(ctx context.Context, who identity.Principal, in invitationPath) (Empty, error) {
	return Empty{}, s.Identity.RevokeInvitation(ctx, who.Actor(), in.ID)
}
