package agent

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/pg"
)

// sweepEvery is how often calls that nobody works on any more are settled.
const sweepEvery = 30 * time.Second

// Settle marks the calls of servers that are gone as interrupted and returns
// how many. Alone says that no other server works on this database, so that
// every call in it was left behind; otherwise only those past their time are.
// None of them is repeated: whether it had an effect is not known.
func (s *Service) Settle(ctx context.Context, alone bool) (int, error) {
	rows, err := queries.AbandonedCalls(ctx, s.db, alone)
	if err != nil {
		return 0, pg.Fault(err)
	}
	n := 0
	for _, row := range rows {
		settled, err := s.settleOne(ctx, row)
		if err != nil {
			return n, err
		}
		if settled {
			n++
		}
	}
	return n, nil
}

func (s *Service) settleOne(ctx context.Context, row db.AbandonedCallsRow) (settled bool, err error) {
	call := row.Call
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		ended, err := queries.EndCall(ctx, tx, call)
		if err != nil || ended == 0 {
			return err // its own server, or another sweep, was quicker
		}
		settled = true
		_, err = write(ctx, tx, row.Conversation, row.Turn, EntryToolResult, &call, ToolResult{
			Name: row.Tool, IsError: true, Code: "interrupted",
			Message: "The server stopped while this was running. Whether it had an effect is not known.",
			Action:  "Look at what it works on before you run it again.",
		})
		return err
	})
	return settled, err
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
				s.log.InfoContext(ctx, "agent: interrupted calls settled", "calls", n)
			}
			if _, err := s.workspace.SweepStaged(ctx); err != nil {
				s.log.WarnContext(ctx, "agent: staged files not swept", "error", err)
			}
		}
	}
}

// endsBy is when a call counts as left behind.
func endsBy(b *bound) time.Duration { return timeoutOf(b) + callSlack }
