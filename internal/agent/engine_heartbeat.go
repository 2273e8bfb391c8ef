package agent

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"capstore/db"
)

const (
	// stopEvery is how often a server looks for turns that another one was
	// asked to stop; it reads nothing while it has no turn.
	stopEvery = 400 * time.Millisecond
	// beatEvery is how many of those looks make a heartbeat.
	beatEvery = 5
	// staleAfter is the silence, in seconds of the database's clock, after which
	// a turn's server counts as gone.
	staleAfter = 20.0
)

// heartbeats keeps this server's turns alive in the database, all with one
// statement, and stops those that another server was asked to stop.
func (s *Service) heartbeats(ctx context.Context) {
	tick := time.NewTicker(stopEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		list := s.turns.list()
		if len(list) == 0 {
			continue
		}
		if err := s.beat(ctx, list, n%beatEvery == 0); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "agent: heartbeat failed", "error", err)
		}
	}
}

func (s *Service) beat(ctx context.Context, list []*turn, alive bool) error {
	ids := make([]uuid.UUID, len(list))
	for i, one := range list {
		ids[i] = one.id
	}
	stops, err := queries.StopsRequested(ctx, s.db, ids)
	if err != nil {
		return err
	}
	var mine []uuid.UUID
	if alive {
		if mine, err = queries.Heartbeat(ctx, s.db, db.HeartbeatParams{Turns: ids, Server: s.server}); err != nil {
			return err
		}
	}
	for _, one := range list {
		switch {
		case slices.Contains(stops, one.id):
			one.cancel(errStopped)
		case alive && !slices.Contains(mine, one.id): // ended elsewhere; or by itself just now, which does no harm
			one.cancel(errTurnOver)
		}
	}
	return nil
}
