package registry

import (
	"context"
	"time"

	"capstore/db"
	"capstore/internal/pg"
)

const (
	// graceTime is how long a superseded epoch is kept for the turn that may
	// just have bound it and has not been written down yet.
	graceTime = time.Hour
	// keepEpochs are kept of each world for its timeline, whatever refers to
	// them.
	keepEpochs = 20
	// pruneBatch bounds one statement.
	pruneBatch = 1000
)

// Prune deletes the epochs that no turn refers to and that are neither recent
// nor superseded only within grace, then the bodies of skills that neither the
// library nor a kept epoch refers to, and what was learnt of servers that
// nobody carries.
func (r *Registry) Prune(ctx context.Context, grace time.Duration) error {
	err := inBatches(func() (int64, error) {
		return queries.PruneEpochs(ctx, r.db, db.PruneEpochsParams{Grace: grace.Seconds(), Keep: keepEpochs, Count: pruneBatch})
	})
	if err != nil {
		return err
	}
	err = inBatches(func() (int64, error) {
		return queries.PruneSkillBodies(ctx, r.db, db.PruneSkillBodiesParams{Grace: grace.Seconds(), Count: pruneBatch})
	})
	if err != nil {
		return err
	}
	_, err = queries.PruneObservations(ctx, r.db)
	return pg.Fault(err)
}

// inBatches repeats a bounded deletion until it finds less than it may take.
func inBatches(prune func() (int64, error)) error {
	for {
		n, err := prune()
		if err != nil || n < pruneBatch {
			return pg.Fault(err)
		}
	}
}
