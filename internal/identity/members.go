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

// Member is one person of a workspace.
type Member struct {
	User
	Role  capability.Role
	Since time.Time
}

// Members lists the people of the actor's workspace by name, empty for someone
// who is none of them.
func (s *Service) Members(ctx context.Context, actor capability.Actor) ([]Member, error) {
	viewer, err := subjectID(actor.Subject)
	if err != nil {
		return nil, err
	}
	rows, err := s.q.ListMembers(ctx, s.db, db.ListMembersParams{Workspace: actor.Workspace, Viewer: viewer})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list members: %w", err))
	}
	out := make([]Member, len(rows))
	for i, r := range rows {
		out[i] = Member{User{r.Subject.String(), r.Email, r.Name}, capability.Role(r.Role), r.CreatedAt}
	}
	return out, nil
}

// SetRole changes what a member of the actor's workspace may do. Somebody who
// is no member is missing; taking the role from the last admin is a Conflict.
// A demoted admin's open invitations end with his right to invite.
func (s *Service) SetRole(ctx context.Context, actor capability.Actor, subject string, role capability.Role) error {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	var form input
	form.role(role)
	if err := form.err(); err != nil {
		return err
	}
	return s.changeMember(ctx, actor, subject, role, func(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
		err := s.q.SetRole(ctx, tx, db.SetRoleParams{Workspace: actor.Workspace, Subject: id, Role: string(role)})
		if err != nil {
			return err
		}
		return record(ctx, tx, TopicMembers, subject, pg.Entry{
			Workspace: actor.Workspace, Subject: actor.Subject, Action: "member.role",
			Target: subject, Detail: map[string]any{"role": role},
		})
	})
}

// RemoveMember ends a membership of the actor's workspace. What the person
// made stays; his tokens and open invitations for the workspace end, so that
// coming back later does not revive them. The last admin cannot go.
func (s *Service) RemoveMember(ctx context.Context, actor capability.Actor, subject string) error {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	return s.dropMember(ctx, actor, subject, "member.remove")
}

// Leave is RemoveMember for oneself, which takes no right over others.
func (s *Service) Leave(ctx context.Context, actor capability.Actor) error {
	if err := capability.May(actor, capability.ActOwn, capability.Ownership{}); err != nil {
		return err
	}
	return s.dropMember(ctx, actor, actor.Subject, "member.leave")
}

func (s *Service) dropMember(ctx context.Context, actor capability.Actor, subject, action string) error {
	return s.changeMember(ctx, actor, subject, "", func(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
		err := s.q.DeleteMember(ctx, tx, db.DeleteMemberParams{Workspace: actor.Workspace, Subject: id})
		if err != nil {
			return err
		}
		if _, err := s.q.RevokeTokensIn(ctx, tx, db.RevokeTokensInParams{Subject: id, Workspace: actor.Workspace}); err != nil {
			return err
		}
		return record(ctx, tx, TopicMembers, subject, pg.Entry{
			Workspace: actor.Workspace, Subject: actor.Subject, Action: action, Target: subject,
		})
	})
}

// changeMember runs change on a member under the workspace's lock, once it is
// sure that an admin remains. next is the role that he will have, "" for none.
func (s *Service) changeMember(ctx context.Context, actor capability.Actor, subject string, next capability.Role,
	change func(ctx context.Context, tx pgx.Tx, id uuid.UUID) error,
) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.q.LockWorkspace(ctx, tx, actor.Workspace); err != nil {
			return err
		}
		role, err := s.q.RoleOf(ctx, tx, db.RoleOfParams{Workspace: actor.Workspace, Subject: id})
		if err != nil {
			return err
		}
		if capability.Role(role) == capability.RoleAdmin && next != capability.RoleAdmin {
			if err := s.loseAdmin(ctx, tx, actor.Workspace, id); err != nil {
				return err
			}
		}
		return change(ctx, tx, id)
	})
}

func (s *Service) loseAdmin(ctx context.Context, tx pgx.Tx, workspace string, id uuid.UUID) error {
	admins, err := s.q.CountAdmins(ctx, tx, workspace)
	if err != nil {
		return err
	}
	if admins < 2 {
		return fault.New(fault.Conflict, "last_admin", "This is the workspace's last admin.").
			Do("Make somebody else an admin first.")
	}
	_, err = s.q.RevokeInvitationsBy(ctx, tx, db.RevokeInvitationsByParams{Workspace: workspace, CreatedBy: id})
	return err
}
