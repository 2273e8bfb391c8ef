package agent

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// refuse records a call that never started, in the ledger and the audit, and
// returns the refusal as a value.
func (s *Service) refuse(ctx context.Context, req Request, cause error) (ToolResult, error) {
	if _, waits := errors.AsType[*Waiting](cause); waits {
		return ToolResult{}, cause // not refused, and not yet
	}
	if fault.Is(cause, fault.Internal) {
		return ToolResult{}, cause
	}
	f := failure(cause)
	result := ToolResult{Name: req.Name, IsError: true, Code: f.Code, Message: f.Message, Action: f.Action, Errors: f.Errors}
	err := s.db.Tx(context.WithoutCancel(ctx), func(ctx context.Context, tx pgx.Tx) error {
		if !fault.Is(cause, fault.Invalid) {
			if err := pg.Audit(ctx, tx, pg.Entry{Workspace: req.Actor.Workspace, Subject: req.Actor.Subject,
				Action: "tool.refused", Target: req.Name, Detail: map[string]any{"code": f.Code}}); err != nil {
				return err
			}
		}
		_, err := write(ctx, tx, req.Conversation, req.Turn, EntryError, nil, f)
		return err
	})
	if fault.Is(err, fault.Unavailable) {
		return result, nil // the refusal holds although it could not be written down
	}
	return result, err
}

// finishTries is how often the end of a call is written when the database is
// away just then; each try waits for it by itself, too.
const finishTries = 5

// finish writes how the call ended. It does so even when the turn was stopped
// in the meantime, and waits for a database that is away: what has run must
// not look as if nobody knew.
func (s *Service) finish(ctx context.Context, b *bound, result ToolResult) (ToolResult, error) {
	ctx = context.WithoutCancel(ctx)
	stored, artifacts := fitLedger(result)
	for try := 1; ; try++ {
		done, err := s.writeResult(ctx, b, stored, artifacts)
		if err == nil || try == finishTries || !fault.Is(err, fault.Unavailable) {
			return done, err
		}
		<-time.After(time.Duration(try) * time.Second)
	}
}

func (s *Service) writeResult(ctx context.Context, b *bound, stored ToolResult, artifacts []artifact) (ToolResult, error) {
	err := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		stored.Artifacts = nil
		for _, a := range artifacts {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			if err := queries.InsertArtifact(ctx, tx, db.InsertArtifactParams{
				ID: id, Conversation: b.Conversation, MediaType: a.mediaType, Content: a.content,
			}); err != nil {
				return err
			}
			stored.Artifacts = append(stored.Artifacts, Artifact{ID: id, MediaType: a.mediaType, Bytes: len(a.content), Images: a.images})
		}
		ended, err := queries.EndCall(ctx, tx, b.call)
		if err != nil || ended == 0 {
			return err // swept in the meantime: it stands as interrupted, and once is enough
		}
		_, err = write(ctx, tx, b.Conversation, b.Turn, EntryToolResult, &b.call, stored)
		return err
	})
	return stored, err
}
