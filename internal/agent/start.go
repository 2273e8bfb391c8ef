package agent

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/secret"
)

// start is the moment at which the call begins: authority as it is now and the
// ledger row commit together, so that none starts after a revocation has
// committed. It fails closed: when the check cannot be made, the call is refused.
func (s *Service) start(ctx context.Context, snap *registry.Snapshot, b *bound) error {
	call, err := uuid.NewV7()
	if err != nil {
		return err
	}
	b.call = call
	return s.commit(ctx, b.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.hold(ctx, tx, b.Turn); err != nil {
			return err
		}
		if err := s.authorizeIn(ctx, tx, b); err != nil {
			return err
		}
		if err := b.consume(ctx, tx); err != nil {
			return err
		}
		if err := queries.StartCall(ctx, tx, db.StartCallParams{
			Call: call, Conversation: b.Conversation, Turn: b.Turn, Tool: b.Name, Seconds: (endsBy(b) + afterTakes(snap, b.Name)).Seconds(),
		}); err != nil {
			return err
		}
		if names := b.secretNames(); len(names) > 0 {
			if err := secret.Used(ctx, tx, b.Actor, string(b.entry.Row.Key), names); err != nil {
				return err
			}
		}
		if b.tool.Write {
			if err := pg.Audit(ctx, tx, pg.Entry{Workspace: b.Actor.Workspace, Subject: b.Actor.Subject,
				Action: "tool.write", Target: string(b.entry.Row.Key) + "@" + b.entry.Row.Version,
				Detail: map[string]any{"tool": b.Name, "raw": b.tool.Raw, "call": call, "digest": b.entry.Row.Digest}}); err != nil {
				return err
			}
		}
		_, err := write(ctx, tx, b.Conversation, b.Turn, EntryToolCall, &call, b.record(snap))
		return err
	})
}

func (b *bound) record(snap *registry.Snapshot) ToolCall {
	return ToolCall{
		Name: b.Name, Raw: b.tool.Raw, Key: string(b.entry.Row.Key), Source: b.entry.Row.Source, ID: b.entry.Row.ID,
		Version: b.entry.Row.Version, Digest: b.entry.Row.Digest, Epoch: snap.Epoch, Snapshot: snap.Digest,
		Caller: b.Caller, Ref: b.Ref, Write: b.tool.Write, Arguments: b.Arguments, Hints: b.hints, Secrets: b.secretNames(),
	}
}
