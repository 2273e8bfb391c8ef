package agent

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
)

const (
	// stopPoll is how often the end of a turn on another server is looked for.
	stopPoll = 50 * time.Millisecond
	// stopPatience is how long it is waited for. The request stands after that,
	// and a server that is gone does not keep its turns.
	stopPatience = 5 * time.Second
)

// StopTurn ends the open turn of the actor's conversation, on whatever server
// it runs, and one that waits for its member too. It returns when the end
// stands in the ledger: model and tools are cancelled, what was said is kept,
// questions are withdrawn. Nothing open is no fault.
func (s *Service) StopTurn(ctx context.Context, actor capability.Actor, conversation uuid.UUID) error {
	if _, err := s.Conversation(ctx, actor, conversation); err != nil {
		return err
	}
	deadline := time.NewTimer(stopPatience)
	defer deadline.Stop()
	for asked := uuid.Nil; ; {
		row, err := s.lastTurn(ctx, actor, conversation)
		if err != nil || !TurnState(row.State).Open() {
			return err
		}
		one := s.turns.find(conversation)
		switch {
		case one != nil:
			one.cancel(errStopped)
			select {
			case <-one.done:
				continue // it may have parked in this very moment
			case <-ctx.Done():
				return ctx.Err()
			}
		case row.State == string(TurnWaiting):
			if err := s.stopWaiting(ctx, conversation, row.Turn); err != nil {
				return err
			}
			continue
		case row.Stale:
			if _, err := s.interrupt(ctx, db.AbandonedTurnsRow{Turn: row.Turn, Conversation: conversation, Server: row.Server}, false); err != nil {
				return err
			}
			continue
		case asked != row.Turn:
			if err := queries.RequestStop(ctx, s.db, row.Turn); err != nil {
				return err
			}
			asked = row.Turn
		}
		select {
		case <-time.After(stopPoll):
		case <-deadline.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stopWaiting ends a turn that nobody works on because it waits.
func (s *Service) stopWaiting(ctx context.Context, conversation, turn uuid.UUID) error {
	return s.commit(ctx, conversation, func(ctx context.Context, tx pgx.Tx) error {
		ended, err := queries.EndWaitingTurn(ctx, tx, db.EndWaitingTurnParams{State: string(TurnStopped), Turn: turn})
		if err != nil || ended == 0 {
			return err // it went on, or was stopped, just now
		}
		return s.settleTurn(ctx, tx, conversation, turn, "stopped", EntryStop, stopped())
	})
}

func stopped() *Failure { return &Failure{Code: "stopped", Message: "You stopped this."} }
