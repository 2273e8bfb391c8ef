package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
)

var queries = db.New()

// listKey names one list of the index.
type listKey struct{ shelf, term, kind string }

func (k listKey) compare(o listKey) int {
	return cmp.Or(cmp.Compare(k.shelf, o.shelf), cmp.Compare(k.term, o.term), cmp.Compare(k.kind, o.kind))
}

// reindex brings the index rows of one capability in line with what the
// transaction sees of it. Every write to a capability ends with it.
func reindex(ctx context.Context, tx pgx.Tx, pk int64) error {
	row, err := queries.IndexSource(ctx, tx, pk)
	if err != nil {
		return fmt.Errorf("index capability %d: %w", pk, err)
	}
	want, err := wanted(row)
	if err != nil {
		return err
	}
	have, err := queries.TermsOf(ctx, tx, pk)
	if err != nil {
		return fmt.Errorf("terms of capability: %w", err)
	}
	if !slices.Equal(row.Facets, want.filters) {
		if err := queries.SetFacets(ctx, tx, db.SetFacetsParams{Pk: pk, Facets: want.filters}); err != nil {
			return fmt.Errorf("set facets: %w", err)
		}
	}
	return settle(ctx, tx, row, want, have)
}

// entry is what the index holds of one capability.
type entry struct {
	ranks     map[listKey]int32
	filters   []string
	spellings []spelling
}

// wanted lists where the capability belongs, with its ranks: nowhere when it
// is tombstoned or has no live version.
func wanted(row db.IndexSourceRow) (entry, error) {
	e := entry{ranks: map[listKey]int32{}, filters: []string{}}
	if row.TombstonedAt != nil || row.Content == nil {
		return e, nil
	}
	content, faults := capability.DecodeContent([]byte(*row.Content))
	if len(faults) > 0 {
		return e, fmt.Errorf("index %s/%s: stored content does not decode: %v", row.Source, row.ID, faults)
	}
	m := subjectMatter{
		source: row.Source, id: row.ID, reach: capability.Reach(row.Reach), tags: row.Tags, deprecated: row.Deprecated, content: content,
	}
	return m.entry(text(row.Kind), shelves(row.Source, m.reach, row.Audiences), row.Adopters), nil
}

func (m subjectMatter) entry(kind string, shelves []string, adopters int32) entry {
	e := entry{ranks: map[listKey]int32{}, filters: m.filters(), spellings: m.spellings()}
	ranks := m.ranks(adopters)
	for _, shelf := range shelves {
		for term, rank := range ranks {
			e.ranks[listKey{shelf, term, kind}] = rank
		}
	}
	return e
}

// settle writes the difference between the rows that are wanted and those that
// there are.
func settle(ctx context.Context, tx pgx.Tx, row db.IndexSourceRow, want entry, have []db.TermsOfRow) error {
	var gone, moved []int64
	var ranks []int32
	steps := map[listKey]int32{} // by how much each list grows
	added := make(map[listKey]int32, len(want.ranks))
	for k, rank := range want.ranks {
		added[k], steps[k] = rank, 1
	}
	for _, h := range have {
		k := listKey{h.Shelf, h.Term, h.Kind}
		rank, stays := want.ranks[k]
		switch {
		case !stays:
			gone, steps[k] = append(gone, h.List), -1
			continue
		case rank != h.Rank:
			moved, ranks = append(moved, h.List), append(ranks, rank)
		}
		delete(added, k)
		delete(steps, k)
	}
	touch(steps)
	ids, err := grow(ctx, tx, steps)
	if err != nil {
		return err
	}
	if err := spell(ctx, tx, want.spellings, added); err != nil {
		return err
	}
	if len(gone) > 0 {
		if err := queries.DropTerms(ctx, tx, db.DropTermsParams{CapabilityPk: row.Pk, Lists: gone}); err != nil {
			return fmt.Errorf("drop terms: %w", err)
		}
	}
	if err := move(ctx, tx, row.Pk, moved, ranks); err != nil {
		return err
	}
	return put(ctx, tx, row, added, ids)
}

// touch marks every shelf and kind of which a list changes: what was counted
// over them no longer holds.
func touch(steps map[listKey]int32) {
	for _, k := range slices.Collect(maps.Keys(steps)) {
		steps[listKey{k.shelf, everything, k.kind}] += 0
	}
}

// grow changes the size of lists and makes the missing ones. It locks them in
// one order, so that writers wait for each other instead of blocking.
func grow(ctx context.Context, tx pgx.Tx, steps map[listKey]int32) (map[listKey]int64, error) {
	keys := make([]listKey, 0, len(steps))
	for k := range steps {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, listKey.compare)
	shelf, term, kind, by := make([]string, len(keys)), make([]string, len(keys)), make([]string, len(keys)), make([]int32, len(keys))
	for i, k := range keys {
		shelf[i], term[i], kind[i], by[i] = k.shelf, k.term, k.kind, steps[k]
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO capability_lists (shelf, term, kind, n, changed)
		SELECT *, pg_current_xact_id() FROM unnest($1::text[], $2::text[], $3::text[], $4::int[])
		ON CONFLICT (shelf, term, kind) DO UPDATE SET n = capability_lists.n + excluded.n, changed = excluded.changed
		RETURNING id, shelf, term, kind`, shelf, term, kind, by)
	if err != nil {
		return nil, fmt.Errorf("grow lists: %w", err)
	}
	ids := make(map[listKey]int64, len(keys))
	var id int64
	var k listKey
	_, err = pgx.ForEachRow(rows, []any{&id, &k.shelf, &k.term, &k.kind}, func() error {
		ids[k] = id
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("grow lists: %w", err)
	}
	return ids, nil
}

// spell adds the words that the capability did not hold before to those that
// one may mistype, in one order for all writers. Words stay when nothing holds
// them any more: then they lead to no list.
func spell(ctx context.Context, tx pgx.Tx, all []spelling, added map[listKey]int32) error {
	fresh := map[string]bool{}
	for k := range added {
		fresh[k.term] = true
	}
	var p db.MissingWordsParams
	for _, s := range all {
		if fresh[s.term] {
			p.Words, p.Terms = append(p.Words, s.word), append(p.Terms, s.term)
		}
	}
	if len(p.Words) == 0 {
		return nil
	}
	missing, err := queries.MissingWords(ctx, tx, p)
	if err != nil {
		return fmt.Errorf("look for words: %w", err)
	}
	if err := queries.PutWords(ctx, tx, wordRows(missing)); err != nil {
		return fmt.Errorf("put words: %w", err)
	}
	return nil
}

func move(ctx context.Context, tx pgx.Tx, pk int64, lists []int64, ranks []int32) error {
	if len(lists) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE capability_terms t SET rank = m.rank, changed = pg_current_xact_id()
		FROM unnest($2::bigint[], $3::int[]) AS m (list, rank)
		WHERE t.capability_pk + 0 = $1::bigint AND t.list = m.list`, pk, lists, ranks)
	if err != nil {
		return fmt.Errorf("move terms: %w", err)
	}
	return nil
}

func put(ctx context.Context, tx pgx.Tx, row db.IndexSourceRow, added map[listKey]int32, ids map[listKey]int64) error {
	lists, ranks := make([]int64, 0, len(added)), make([]int32, 0, len(added))
	for k, rank := range added {
		lists, ranks = append(lists, ids[k]), append(ranks, rank)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO capability_terms (list, created_at, capability_pk, rank, adopters, changed)
		SELECT p.list, $1, $2, p.rank, $3, pg_current_xact_id()
		FROM unnest($4::bigint[], $5::int[]) AS p (list, rank)`, row.CreatedAt, row.Pk, row.Adopters, lists, ranks)
	if err != nil {
		return fmt.Errorf("put terms: %w", err)
	}
	return nil
}

// Reindex brings the index in line with the capabilities, one per transaction,
// so that the store stays usable meanwhile. It is for a server whose words are
// cut or weighed otherwise than before. It returns how many there were.
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
