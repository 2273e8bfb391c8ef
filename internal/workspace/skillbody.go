package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// A turn reads the skill that it bound, whatever became of the skill since. So
// every write of a working copy keeps its body under its digest.

// keepBody keeps the body that a skill has from now on, and leaves the one
// that it had ("" for none).
func keepBody(ctx context.Context, tx pgx.Tx, workspace, former string, doc frozen) error {
	err := queries.KeepSkillBody(ctx, tx, db.KeepSkillBodyParams{Workspace: workspace, Digest: doc.digest, Content: doc.canonical})
	if err != nil {
		return fmt.Errorf("keep a skill's body: %w", err)
	}
	return leaveBody(ctx, tx, workspace, former)
}

// leaveBody says that a skill has the body no more. It goes once nothing else
// refers to it.
func leaveBody(ctx context.Context, tx pgx.Tx, workspace, digest string) error {
	if digest == "" {
		return nil
	}
	if err := queries.TouchSkillBody(ctx, tx, db.TouchSkillBodyParams{Workspace: workspace, Digest: digest}); err != nil {
		return fmt.Errorf("leave a skill's body: %w", err)
	}
	return nil
}

// skillBody reads the content that a row of the library was bound with. One
// that is not kept any more is missing.
func (s *Service) skillBody(ctx context.Context, actor capability.Actor, row Row) (capability.Content, error) {
	if err := capability.May(actor, capability.ActOwnRead, capability.Ownership{}); err != nil {
		return capability.Content{}, err
	}
	raw, err := queries.SkillBody(ctx, s.db, db.SkillBodyParams{Workspace: actor.Workspace, Digest: row.Digest})
	if errors.Is(err, pgx.ErrNoRows) {
		return capability.Content{}, fault.Missing()
	}
	if err != nil {
		return capability.Content{}, pg.Fault(fmt.Errorf("read a skill's body: %w", err))
	}
	return decodeContent(raw)
}
