package identity

import (
	"context"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// CreateMember is CreateUser for somebody who belongs to a workspace from the
// first moment: the account and the membership, both or neither. A workspace
// that there is none of is a NotFound fault that says so.
func (s *Service) CreateMember(ctx context.Context, in NewUser, workspace string, role capability.Role) (User, error) {
	var form input
	form.role(role)
	prepared, err := s.prepareUser(ctx, &form, in)
	if err != nil {
		return User{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.q.LockWorkspace(ctx, tx, workspace); none(err) {
			return fault.New(fault.NotFound, "no_workspace", "There is no workspace with the short name %q.", workspace).
				Do("Check the short name: it is the first part of the workspace's addresses.")
		} else if err != nil {
			return err
		}
		if err := s.insertUser(ctx, tx, prepared); err != nil {
			return err
		}
		subject := prepared.ID.String()
		if _, err := s.q.InsertMember(ctx, tx, db.InsertMemberParams{Workspace: workspace, Subject: prepared.ID, Role: string(role)}); err != nil {
			return err
		}
		return record(ctx, tx, TopicMembers, subject, pg.Entry{
			Workspace: workspace, Action: "member.add", Target: subject, Detail: map[string]any{"role": role},
		})
	})
	return userOf(prepared), err
}
