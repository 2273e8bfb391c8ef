package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/pg"
)

// sweepEvery is how often turns that nobody works on any more are settled.
const sweepEvery = 10 * time.Second

// Settle ends the turns and the calls of servers that are gone and returns how
// many turns, and calls outside them, that were. Alone says that no other
// server works on this database, so that every open one in it was left behind;
// otherwise only those of a server that has fallen silent were. None of them is
// repeated: whether a call had an effect is not known.
func (s *Service) Settle(ctx context.Context, alone bool) (int, error) {
	own := []uuid.UUID{}
	for _, one := range s.turns.list() {
		own = append(own, one.id)
	}
	turns, err := queries.AbandonedTurns(ctx, s.db, db.AbandonedTurnsParams{Own: own, Everything: alone, Stale: staleAfter})
	if err != nil {
		return 0, pg.Fault(err)
	}
	n := 0
	for _, row := range turns {
		settled, err := s.interrupt(ctx, row, alone)
		if err != nil {
			return n, err
		}
		if settled {
			n++
		}
	}
	calls, err := queries.AbandonedCalls(ctx, s.db, alone)
	if err != nil {
		return n, pg.Fault(err)
	}
	for _, row := range calls {
		var settled bool
		err := s.commit(ctx, row.Conversation, func(ctx context.Context, tx pgx.Tx) (err error) {
			settled, err = settleCall(ctx, tx, row.Conversation, row.Turn, row.Call, ToolResult{Name: row.Tool})
			return err
		})
		if err != nil {
			return n, err
		}
		if settled {
			n++
		}
	}
	return n, nil
}

// interrupt ends a turn that its server left behind, with its calls.
func (s *Service) interrupt(ctx context.Context, row db.AbandonedTurnsRow, alone bool) (settled bool, err error) {
	err = s.commit(ctx, row.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		ended, err := queries.InterruptTurn(ctx, tx, db.InterruptTurnParams{Turn: row.Turn, Server: row.Server, Everything: alone, Stale: staleAfter})
		if err != nil || ended == 0 {
			return err // its own server, or another sweep, was quicker
		}
		settled = true
		calls, err := queries.CallsOfTurn(ctx, tx, row.Turn)
		if err != nil {
			return err
		}
		for _, c := range calls {
			var started ToolCall
			if err := json.Unmarshal(c.Payload, &started); err != nil {
				return fmt.Errorf("call %s cannot be read: %w", c.Call, err)
			}
			if _, err := settleCall(ctx, tx, row.Conversation, row.Turn, c.Call, ToolResult{Name: started.Name, Ref: started.Ref}); err != nil {
				return err
			}
		}
		return s.settleTurn(ctx, tx, row.Conversation, row.Turn, stopOf(TurnInterrupted), EntryError, interruption())
	})
	return settled, err
}

// settleCall writes that nobody knows how the call ended, once.
func settleCall(ctx context.Context, tx pgx.Tx, conversation, turn, call uuid.UUID, result ToolResult) (settled bool, err error) {
	ended, err := queries.EndCall(ctx, tx, call)
	if err != nil || ended == 0 {
		return false, err // its own server, or another sweep, was quicker
	}
	f := failure(errLost)
	result.IsError, result.Code, result.Message, result.Action = true, f.Code, f.Message, f.Action
	_, err = write(ctx, tx, conversation, turn, EntryToolResult, &call, result)
	return true, err
}

func (s *Service) sweepLoop(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if n, err := s.Settle(ctx, false); err != nil {
				s.log.WarnContext(ctx, "agent: sweep failed", "error", err)
			} else if n > 0 {
				s.log.InfoContext(ctx, "agent: interrupted turns settled", "turns", n)
			}
			if _, _, err := s.sweepApprovals(ctx); err != nil {
				s.log.WarnContext(ctx, "agent: approvals not swept", "error", err)
			}
			if _, err := s.workspace.SweepStaged(ctx); err != nil {
				s.log.WarnContext(ctx, "agent: staged files not swept", "error", err)
			}
		}
	}
}

// endsBy is when a call counts as left behind.
func endsBy(b *bound) time.Duration { return timeoutOf(b) + callSlack }
