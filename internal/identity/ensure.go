package identity

import (
	"context"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// EnsureUser returns the account of an e-mail and makes it when there is none.
// One that exists is left as it is, its password included.
func (s *Service) EnsureUser(ctx context.Context, in NewUser) (User, error) {
	if user, err := s.q.UserByEmail(ctx, s.db, foldEmail(in.Email)); err == nil {
		return User{Subject: user.ID.String(), Email: user.Email, Name: user.Name}, nil
	} else if !none(err) {
		return User{}, pg.Fault(err)
	}
	return s.CreateUser(ctx, in)
}

// EnsureWorkspace makes a workspace without members when there is none of the
// slug. One that exists is left as it is.
func (s *Service) EnsureWorkspace(ctx context.Context, slug, name string) error {
	var form input
	name = form.workspace(slug, "/name", name)
	if err := form.err(); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := s.q.InsertWorkspace(ctx, tx, db.InsertWorkspaceParams{Slug: slug, Name: name})
		if err != nil || n == 0 {
			return err
		}
		return record(ctx, tx, TopicWorkspace, "", pg.Entry{Workspace: slug, Action: "workspace.create", Target: slug})
	})
}

// EnsureMember makes somebody a member when he is none. A member keeps the
// role that he has.
func (s *Service) EnsureMember(ctx context.Context, workspace, subject string, role capability.Role) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	var form input
	form.role(role)
	if err := form.err(); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := s.q.InsertMember(ctx, tx, db.InsertMemberParams{Workspace: workspace, Subject: id, Role: string(role)})
		if err != nil || n == 0 {
			return err
		}
		return record(ctx, tx, TopicMembers, subject, pg.Entry{
			Workspace: workspace, Action: "member.add", Target: subject, Detail: map[string]any{"role": role},
		})
	})
}
