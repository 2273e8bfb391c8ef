package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Grant is a member's standing word for a tool: while one conversation lasts,
// or always. It is void for another version, content or definition.
type Grant struct {
	ID           uuid.UUID
	Conversation *uuid.UUID // nil: always
	Title        string     // of the conversation
	Key          capability.Key
	Version      string
	Tool         string // its name at its origin
	CreatedAt    time.Time
}

// Grants lists the actor's own standing words, newest first, 500 at most.
func (s *Service) Grants(ctx context.Context, actor capability.Actor) ([]Grant, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.GrantsOf(ctx, s.db, db.GrantsOfParams{Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list grants: %w", err))
	}
	out := make([]Grant, len(rows))
	for i, row := range rows {
		out[i] = Grant{
			ID: row.ID, Conversation: row.Conversation, Title: row.Title, Key: capability.Key(row.Key), Version: row.Version,
			Tool: row.Tool, CreatedAt: row.CreatedAt,
		}
	}
	return out, nil
}

// RevokeGrant takes one of the actor's own standing words back, at once;
// fault.Missing for any other.
func (s *Service) RevokeGrant(ctx context.Context, actor capability.Actor, id uuid.UUID) error {
	if err := capability.May(actor, capability.ActOwn, capability.Ownership{}); err != nil {
		return err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := queries.DeleteGrant(ctx, tx, db.DeleteGrantParams{ID: id, Workspace: actor.Workspace, Subject: subject})
		if err != nil {
			return pg.Fault(fmt.Errorf("revoke grant: %w", err))
		}
		return auditApproval(ctx, tx, actor, "grant.revoked", id, map[string]any{"key": row.Key, "version": row.Version, "tool": row.Tool})
	})
}

// standing is the member's standing word for what would run: for the
// conversation, always, or none.
func (s *Service) standing(ctx context.Context, b *bound) (capability.Answer, error) {
	subject, err := subjectOf(b.Actor)
	if err != nil {
		return "", err
	}
	row, err := queries.StandingGrant(ctx, s.db, db.StandingGrantParams{
		Workspace: b.Actor.Workspace, Subject: subject, Conversation: &b.Conversation, Key: string(b.entry.Row.Key), Tool: b.origin(),
		Version: b.entry.Row.Version, Digest: b.entry.Row.Digest, Definition: b.definition(),
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil
	case err != nil:
		return "", pg.Fault(fmt.Errorf("read grants: %w", err))
	case row.Here:
		return capability.AnswerConversation, nil
	}
	return capability.AnswerAlways, nil
}

// keepWord writes the grant that an answer beyond this once amounts to.
func keepWord(ctx context.Context, tx pgx.Tx, workspace string, subject uuid.UUID, answer capability.Answer, row db.AnswerApprovalRow) error {
	if answer != capability.AnswerConversation && answer != capability.AnswerAlways {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	tool := row.Raw
	if tool == "" {
		tool = row.Tool
	}
	p := db.InsertGrantParams{
		ID: id, Workspace: workspace, Subject: subject, Key: row.Key, Version: row.Version, Digest: row.Digest,
		Definition: row.Definition, Tool: tool,
	}
	if answer == capability.AnswerConversation {
		p.Conversation = &row.Conversation
	}
	return queries.InsertGrant(ctx, tx, p)
}
