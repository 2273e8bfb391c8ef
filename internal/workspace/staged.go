package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

const (
	// stagedRoom is what one member's staged contents may take in a workspace,
	// in bytes: six skills of the largest size.
	stagedRoom = 6 * capability.MaxFilesTotal
	// stagedFor is how long a content is kept that no form asks for and no draft
	// holds.
	stagedFor = 30 * 24 * time.Hour
)

// ContentDigest names a file's content: its SHA-256 in hexadecimal.
func ContentDigest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// StageFiles keeps contents for a form that is still being written, which then
// names them by ContentDigest. They are the actor's alone and count for
// nothing. What he used longest ago makes room where there is too little, unless
// a draft of his holds it, so that what was just sent is always there. Contents of more than a skill may
// hold are a files_too_large fault.
func (s *Service) StageFiles(ctx context.Context, actor capability.Actor, contents [][]byte) error {
	if len(contents) == 0 {
		return nil
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	if err := capability.May(actor, capability.ActSkills, capability.Fresh); err != nil {
		return err
	}
	rows := db.StageFilesParams{Workspace: actor.Workspace, Subject: subject}
	total, seen := 0, map[string]bool{}
	for _, content := range contents {
		digest := ContentDigest(content)
		if seen[digest] {
			continue
		}
		if content == nil {
			content = []byte{} // nil would be NULL
		}
		seen[digest], total = true, total+len(content)
		rows.Digests, rows.Contents = append(rows.Digests, digest), append(rows.Contents, content)
	}
	if total > capability.MaxFilesTotal {
		return fault.New(fault.TooLarge, "files_too_large", "The files have %d bytes together; at most %d are allowed.", total, capability.MaxFilesTotal)
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := queries.StageFiles(ctx, tx, rows); err != nil {
			return fmt.Errorf("stage files: %w", err)
		}
		err := queries.TrimStagedFiles(ctx, tx, db.TrimStagedFilesParams{Workspace: actor.Workspace, Subject: subject, Room: stagedRoom})
		if err != nil {
			return fmt.Errorf("trim staged files: %w", err)
		}
		return nil
	})
}

// StagedFiles returns the contents that the actor staged under the digests. One
// that is no longer kept, or that another member staged, is not among them.
func (s *Service) StagedFiles(ctx context.Context, actor capability.Actor, digests []string) (map[string][]byte, error) {
	out := make(map[string][]byte, len(digests))
	if len(digests) == 0 {
		return out, nil
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return nil, err
	}
	rows, err := queries.StagedFiles(ctx, s.db, db.StagedFilesParams{Workspace: actor.Workspace, Subject: subject, Digests: digests})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read staged files: %w", err))
	}
	for _, row := range rows {
		out[row.Digest] = row.Content
	}
	return out, nil
}

// SweepStaged removes the contents that no form asked for in a long time and no
// draft holds, and returns how many.
func (s *Service) SweepStaged(ctx context.Context) (int, error) {
	if err := queries.KeepDraftedFiles(ctx, s.db, stagedFor.Seconds()); err != nil {
		return 0, pg.Fault(fmt.Errorf("keep drafted files: %w", err))
	}
	n, err := queries.SweepStagedFiles(ctx, s.db, stagedFor.Seconds())
	if err != nil {
		return 0, pg.Fault(fmt.Errorf("sweep staged files: %w", err))
	}
	return int(n), nil
}
