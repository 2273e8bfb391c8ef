package catalog

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
)

// CountAdopters brings the number of workspaces that adopted the capability,
// or copied it as a skill, up to date with what the transaction sees. Whoever
// writes adoptions or takes skills calls it in the same transaction, for
// several capabilities in ascending order.
func CountAdopters(ctx context.Context, tx pgx.Tx, capabilityPK int64) error {
	// The lock first, in a statement of its own: the count then sees what the
	// writer before it committed.
	row, err := queries.LockAdopters(ctx, tx, capabilityPK)
	if err != nil {
		return fmt.Errorf("lock adopters: %w", err)
	}
	adopters, err := queries.CountAdopters(ctx, tx, capabilityPK)
	if err != nil {
		return fmt.Errorf("count adopters: %w", err)
	}
	if adopters == row.Adopters {
		return nil
	}
	if err := queries.SetAdopters(ctx, tx, db.SetAdoptersParams{Adopters: adopters, Pk: capabilityPK}); err != nil {
		return fmt.Errorf("set adopters: %w", err)
	}
	err = queries.SetTermAdopters(ctx, tx, db.SetTermAdoptersParams{
		Adopters: adopters, Scale: rankScale, Popularity: popularity(row.Source, adopters), Pk: capabilityPK,
	})
	if err != nil {
		return fmt.Errorf("set adopters of terms: %w", err)
	}
	return nil
}
