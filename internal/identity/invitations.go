package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// InvitationLife is how long a link can be used.
const InvitationLife = 7 * 24 * time.Hour

// Invitation is an open invitation to a workspace.
type Invitation struct {
	ID            string
	Workspace     string
	WorkspaceName string
	Role          capability.Role
	Email         string // "" is for anyone who has the link
	InvitedBy     string // a name
	CreatedAt     time.Time
	ExpiresAt     time.Time
}

// Invite opens an invitation to the actor's workspace and returns it with the
// token of its link, which is not kept. With an e-mail only the account of
// that address can accept it.
func (s *Service) Invite(ctx context.Context, actor capability.Actor, role capability.Role, email string) (Invitation, string, error) {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return Invitation{}, "", err
	}
	var form input
	form.role(role)
	if email != "" {
		email = form.email(email)
	}
	if err := form.err(); err != nil {
		return Invitation{}, "", err
	}
	creator, err := subjectID(actor.Subject)
	if err != nil {
		return Invitation{}, "", err
	}
	id, token := newID(), newCredential("")
	out := Invitation{ID: id.String(), Workspace: actor.Workspace, Role: role, Email: email}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := s.q.InsertInvitation(ctx, tx, db.InsertInvitationParams{
			ID: id, Workspace: actor.Workspace, TokenHash: hashOf(token), Role: string(role), Email: email,
			CreatedBy: creator, TtlSecs: InvitationLife.Seconds(),
		})
		if err != nil {
			return err
		}
		out.CreatedAt, out.ExpiresAt = row.CreatedAt, row.ExpiresAt
		return pg.Audit(ctx, tx, pg.Entry{
			Workspace: actor.Workspace, Subject: actor.Subject, Action: "invitation.create", Target: out.ID,
			Detail: map[string]any{"role": role, "email": email},
		})
	})
	if err != nil {
		return Invitation{}, "", err
	}
	return out, token, nil
}

// Invitations lists the open invitations of the actor's workspace, newest
// first; it takes an admin.
func (s *Service) Invitations(ctx context.Context, actor capability.Actor) ([]Invitation, error) {
	viewer, err := subjectID(actor.Subject)
	if err != nil {
		return nil, err
	}
	rows, err := s.q.ListInvitations(ctx, s.db, db.ListInvitationsParams{Workspace: actor.Workspace, Viewer: viewer})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list invitations: %w", err))
	}
	out := make([]Invitation, len(rows))
	for i, r := range rows {
		out[i] = Invitation{
			ID: r.ID.String(), Workspace: actor.Workspace, Role: capability.Role(r.Role), Email: r.Email,
			InvitedBy: r.CreatedByName, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
		}
	}
	return out, nil
}

// RevokeInvitation ends an open invitation of the actor's workspace; one that
// is not open is missing.
func (s *Service) RevokeInvitation(ctx context.Context, actor capability.Actor, invitation string) error {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	id, err := subjectID(invitation)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := s.q.RevokeInvitation(ctx, tx, db.RevokeInvitationParams{ID: id, Workspace: actor.Workspace})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return pg.Audit(ctx, tx, pg.Entry{
			Workspace: actor.Workspace, Subject: actor.Subject, Action: "invitation.revoke", Target: invitation,
		})
	})
}

// Invitation shows the bearer of a link what it offers. Unknown, used, revoked
// and expired ones are equally missing.
func (s *Service) Invitation(ctx context.Context, token string) (Invitation, error) {
	r, err := s.q.OpenInvitation(ctx, s.db, hashOf(token))
	if err != nil {
		return Invitation{}, pg.Fault(err)
	}
	return Invitation{
		ID: r.ID.String(), Workspace: r.Workspace, WorkspaceName: r.WorkspaceName, Role: capability.Role(r.Role),
		Email: r.Email, InvitedBy: r.CreatedByName, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
	}, nil
}

// Accept makes a signed-in person a member by a link and returns the
// workspace's slug. The link works once. A member already gets a Conflict
// with code already_member and detail workspace, and the link stays open.
func (s *Service) Accept(ctx context.Context, subject, token string) (string, error) {
	id, err := subjectID(subject)
	if err != nil {
		return "", err
	}
	var workspace string
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		user, err := s.q.UserByID(ctx, tx, id)
		if err != nil {
			return err
		}
		workspace, err = s.redeem(ctx, tx, token, id, user.Email)
		return err
	})
	return workspace, err
}

// AcceptAsNew makes an account and joins with it, both or neither. It returns
// the account and the workspace's slug.
func (s *Service) AcceptAsNew(ctx context.Context, token string, in NewUser) (User, string, error) {
	// Looked at before any hashing: a stranger without a link gets no work done.
	if _, err := s.Invitation(ctx, token); err != nil {
		return User{}, "", err
	}
	var form input
	if in.Password == "" {
		form.password("/password", "")
	}
	user, err := s.prepareUser(ctx, &form, in)
	if err != nil {
		return User{}, "", err
	}
	var workspace string
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err = s.insertUser(ctx, tx, user); err != nil {
			return err
		}
		workspace, err = s.redeem(ctx, tx, token, user.ID, user.Email)
		return err
	})
	return userOf(user), workspace, err
}

// redeem locks the invitation, so that of two who hold the link one joins.
func (s *Service) redeem(ctx context.Context, tx pgx.Tx, token string, id uuid.UUID, email string) (string, error) {
	inv, err := s.q.LockOpenInvitation(ctx, tx, hashOf(token))
	if err != nil {
		return "", err
	}
	if inv.Email != "" && inv.Email != email {
		return "", fault.Deny("invited_other", "This invitation is for another e-mail address.",
			"Sign in with the account that was invited, or ask an admin for a link of your own.")
	}
	n, err := s.q.InsertMember(ctx, tx, db.InsertMemberParams{Workspace: inv.Workspace, Subject: id, Role: inv.Role})
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", fault.New(fault.Conflict, "already_member", "You are a member of this workspace already.").
			Do("Open it.").With("workspace", inv.Workspace)
	}
	if err := s.q.UseInvitation(ctx, tx, db.UseInvitationParams{ID: inv.ID, UsedBy: &id}); err != nil {
		return "", err
	}
	return inv.Workspace, record(ctx, tx, TopicMembers, id.String(), pg.Entry{
		Workspace: inv.Workspace, Subject: id.String(), Action: "member.join", Target: id.String(),
		Detail: map[string]string{"invitation": inv.ID.String(), "role": inv.Role},
	})
}
