package agent

import (
	"context"
	"errors"

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
	if ctx.Err() != nil {
		return ToolResult{}, context.Cause(ctx) // stopped before it came to anything
	}
	if fault.Is(cause, fault.Internal) {
		return ToolResult{}, cause
	}
	f := failure(cause)
	result := ToolResult{Name: req.Name, Ref: req.Ref, IsError: true, Code: f.Code, Message: f.Message, Action: f.Action, Errors: f.Errors}
	err := s.commit(context.WithoutCancel(ctx), req.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		// Counting comes first: two that held the turn together could not both write to it.
		if err := queries.CountCall(ctx, tx, db.CountCallParams{Turn: req.Turn, Failed: 1}); err != nil {
			return err
		}
		if err := s.hold(ctx, tx, req.Turn); err != nil {
			return err
		}
		if !fault.Is(cause, fault.Invalid) {
			if err := pg.Audit(ctx, tx, pg.Entry{Workspace: req.Actor.Workspace, Subject: req.Actor.Subject,
				Action: "tool.refused", Target: req.Name, Detail: map[string]any{"code": f.Code}}); err != nil {
				return err
			}
		}
		_, err := write(ctx, tx, req.Conversation, req.Turn, EntryToolResult, nil, result)
		return err
	})
	return result, err
}

// finish writes how the call ended. It does so even when the turn was stopped
// in the meantime.
func (s *Service) finish(ctx context.Context, b *bound, result ToolResult) (done ToolResult, err error) {
	stored, artifacts := fitLedger(result)
	err = s.insist(ctx, func(ctx context.Context) error {
		done, err = s.writeResult(ctx, b, stored, artifacts)
		return err
	})
	return done, err
}

func (s *Service) writeResult(ctx context.Context, b *bound, stored ToolResult, artifacts []artifact) (ToolResult, error) {
	err := s.commit(ctx, b.Conversation, func(ctx context.Context, tx pgx.Tx) error {
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
		if err := queries.CountCall(ctx, tx, db.CountCallParams{Turn: b.Turn, Failed: failedCalls(stored)}); err != nil {
			return err
		}
		_, err = write(ctx, tx, b.Conversation, b.Turn, EntryToolResult, &b.call, stored)
		return err
	})
	return stored, err
}

func failedCalls(r ToolResult) int32 {
	if r.IsError {
		return 1
	}
	return 0
}
