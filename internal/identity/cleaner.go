package identity

import (
	"context"
	"log/slog"
	"time"

	"capstore/db"
	"capstore/internal/lifecycle"
	"capstore/internal/pg"
)

const cleanEvery = 10 * time.Minute

// Cleaner removes what has expired in the background: sessions, sign-in failures
// that count no more, and uploads that nobody went on to import.
type Cleaner struct {
	lifecycle.Base
	db      *pg.DB
	q       *db.Queries
	ticks   <-chan time.Time // tests set it; nil is every cleanEvery
	cleaned lifecycle.Signal[error]
}

// NewCleaner returns a cleaner that is not started.
func NewCleaner(database *pg.DB) *Cleaner { return &Cleaner{db: database, q: db.New()} }

// Start begins the cleaning.
func (c *Cleaner) Start(ctx context.Context) error { return c.Run(ctx, c.loop) }

func (c *Cleaner) loop(ctx context.Context, ready func()) {
	ticks := c.ticks
	if ticks == nil {
		ticker := time.NewTicker(cleanEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	ready()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			err := c.clean(ctx)
			if err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "identity: clean", slog.Any("error", err))
			}
			c.cleaned.Send(err)
		}
	}
}

func (c *Cleaner) clean(ctx context.Context) error {
	if _, err := c.q.PruneSessions(ctx, c.db); err != nil {
		return err
	}
	if _, err := c.q.SweepStagedImports(ctx, c.db); err != nil {
		return err
	}
	_, err := c.q.PruneFailures(ctx, c.db, failureWindow.Seconds())
	return err
}
