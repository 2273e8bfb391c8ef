package catalog

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
)

var queries = db.New()

const putTerms = `
INSERT INTO capability_terms (shelf, term, kind, created_at, capability_pk, rank, adopters, changed)
SELECT s.shelf, t.term, $3, $4, $5, t.rank, $6, pg_current_xact_id()::text::bigint
FROM unnest($1::text[]) AS s (shelf), unnest($2::text[], $7::int[]) AS t (term, rank)`

// reindex rewrites the index rows of one capability from what the transaction
// sees of it. Every write to a capability ends with it.
func reindex(ctx context.Context, tx pgx.Tx, pk int64) error {
	row, err := queries.IndexSource(ctx, tx, pk)
	if err != nil {
		return fmt.Errorf("index capability %d: %w", pk, err)
	}
	if err := queries.ClearTerms(ctx, tx, pk); err != nil {
		return fmt.Errorf("clear terms: %w", err)
	}
	if row.TombstonedAt != nil || row.Content == nil {
		return nil
	}
	content, faults := capability.DecodeContent([]byte(*row.Content))
	if len(faults) > 0 {
		return fmt.Errorf("index %s/%s: stored content does not decode: %v", row.Source, row.ID, faults)
	}
	set := subjectMatter{
		source: row.Source, id: row.ID, reach: capability.Reach(row.Reach), tags: row.Tags,
		deprecated: row.Deprecated, content: content,
	}.terms()
	terms, ranks := set.ranked(popularity(row.Source, row.Adopters))
	_, err = tx.Exec(ctx, putTerms, shelves(row.Source, capability.Reach(row.Reach), row.Audiences), terms, text(row.Kind), row.CreatedAt, pk,
		row.Adopters, ranks)
	if err != nil {
		return fmt.Errorf("put terms: %w", err)
	}
	return nil
}

// Reindex rebuilds the whole index, one capability per transaction, so that
// the store stays usable meanwhile. It returns how many there were.
func (s *Service) Reindex(ctx context.Context) (int, error) {
	n, after := 0, int64(0)
	for {
		pks, err := queries.CapabilityKeys(ctx, s.db, after)
		if err != nil {
			return n, fmt.Errorf("list capabilities: %w", err)
		}
		if len(pks) == 0 {
			return n, nil
		}
		for _, pk := range pks {
			err := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
				if _, err := queries.LockAdopters(ctx, tx, pk); err != nil {
					return fmt.Errorf("lock capability: %w", err)
				}
				return reindex(ctx, tx, pk)
			})
			if err != nil {
				return n, err
			}
			n, after = n+1, pk
		}
	}
}

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
	n, err := queries.CountAdopters(ctx, tx, capabilityPK)
	if err != nil {
		return fmt.Errorf("count adopters: %w", err)
	}
	adopters := int32(n)
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
