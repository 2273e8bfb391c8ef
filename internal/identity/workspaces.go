package identity

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// CreateWorkspace makes a workspace and its maker the first admin. An empty
// name becomes the slug. A slug in use is a Conflict, a reserved or malformed
// one Invalid.
func (s *Service) CreateWorkspace(ctx context.Context, subject, slug, name string) (Membership, error) {
	id, err := subjectID(subject)
	if err != nil {
		return Membership{}, err
	}
	var form input
	name = form.workspace(slug, "/name", name)
	if err := form.err(); err != nil {
		return Membership{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return s.insertWorkspace(ctx, tx, id, slug, name)
	})
	return Membership{Workspace: slug, Name: name, Role: capability.RoleAdmin}, err
}

func (s *Service) insertWorkspace(ctx context.Context, tx pgx.Tx, maker uuid.UUID, slug, name string) error {
	n, err := s.q.InsertWorkspace(ctx, tx, db.InsertWorkspaceParams{Slug: slug, Name: name})
	if err != nil {
		return err
	}
	if n == 0 {
		f := fault.New(fault.Conflict, "slug_taken", "The address %q is in use.", slug).Do("Choose another short name.")
		f.Fields = []fault.Field{{Path: "/slug", Code: "taken", Message: "This address is in use; choose another."}}
		return f
	}
	_, err = s.q.InsertMember(ctx, tx, db.InsertMemberParams{Workspace: slug, Subject: maker, Role: string(capability.RoleAdmin)})
	if err != nil {
		return err
	}
	return record(ctx, tx, TopicWorkspace, "", pg.Entry{
		Workspace: slug, Subject: maker.String(), Action: "workspace.create", Target: slug,
	})
}

// RenameWorkspace gives the actor's workspace another name; its slug stays for
// good.
func (s *Service) RenameWorkspace(ctx context.Context, actor capability.Actor, name string) error {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	var form input
	name = form.name("/name", "A workspace", name)
	if err := form.err(); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := s.q.RenameWorkspace(ctx, tx, db.RenameWorkspaceParams{Slug: actor.Workspace, Name: name})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return record(ctx, tx, TopicWorkspace, "", pg.Entry{
			Workspace: actor.Workspace, Subject: actor.Subject, Action: "workspace.rename",
			Target: actor.Workspace, Detail: map[string]string{"name": name},
		})
	})
}
