package catalog

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
)

// Loaded is a capability with one version, as Load takes it.
type Loaded struct {
	Source, ID string
	Reach      capability.Reach // subset is not among them
	Tags       []string
	Creator    uuid.UUID
	CreatedAt  time.Time
	Adopters   int
	Content    capability.Content
}

// Load puts many capabilities into the store at once, through the same index
// as Publish and without its checks, audit and change feed: their sources
// exist, none of them is there, and their content is valid. It is for stores
// made for measuring. One transaction holds the store's tables from beginning
// to end and builds their indexes anew, which takes a tenth of the time of
// keeping them. With times above 1 each is put there so often, under as many
// ids: the database copies faster than we cut words. It returns how many there
// were.
func (s *Service) Load(ctx context.Context, all iter.Seq[Loaded], times int) (n int, err error) {
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err = load(ctx, tx, all, max(1, times))
		return err
	})
	return n, err
}

func load(ctx context.Context, tx pgx.Tx, all iter.Seq[Loaded], times int) (int, error) {
	if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL maintenance_work_mem = '1GB';
		SET LOCAL synchronous_commit = off; LOCK TABLE capabilities, capability_versions, capability_lists, capability_terms, capability_words`); err != nil {
		return 0, fmt.Errorf("lock the store: %w", err)
	}
	rebuild, err := dropIndexes(ctx, tx)
	if err != nil {
		return 0, err
	}
	l := &loader{tx: tx, times: int32(times), ids: map[listKey]int64{}, sizes: map[int64]int32{}, words: map[string]string{}}
	if err := l.begin(ctx); err != nil {
		return 0, err
	}
	for batch := range batches(all, 5000) {
		if err := l.put(ctx, batch); err != nil {
			return l.n, err
		}
	}
	if err := l.multiply(ctx); err != nil {
		return l.n, err
	}
	if err := l.finish(ctx); err != nil {
		return l.n, err
	}
	for _, sql := range rebuild {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return l.n, fmt.Errorf("%.80s: %w", sql, err)
		}
	}
	return l.n * times, nil
}

// heavy are the tables whose indexes cost most to keep row by row.
const heavy = "('capability_terms'::regclass, 'capability_words'::regclass)"

// dropIndexes takes the keys and indexes of the index's own tables away, and
// the references to and from capabilities, and returns what makes them again.
func dropIndexes(ctx context.Context, tx pgx.Tx) (rebuild []string, err error) {
	rows, err := tx.Query(ctx, `
		SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
			format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)), contype = 'f'
		FROM pg_constraint
		WHERE contype = 'p' AND conrelid IN `+heavy+`
			OR contype = 'f' AND conrelid IN ('capability_terms'::regclass, 'capability_versions'::regclass, 'capabilities'::regclass)
		UNION ALL
		SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid), false
		FROM pg_index WHERE indrelid IN `+heavy+` AND NOT indisprimary`)
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	var drops, last []string
	var drop, add string
	var reference bool
	_, err = pgx.ForEachRow(rows, []any{&drop, &add, &reference}, func() error {
		drops = append(drops, drop)
		if reference {
			last = append(last, add)
		} else {
			rebuild = append(rebuild, add)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	for _, sql := range drops {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return nil, fmt.Errorf("%.80s: %w", sql, err)
		}
	}
	return append(rebuild, last...), nil
}

func batches[T any](all iter.Seq[T], size int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		batch := make([]T, 0, size)
		for v := range all {
			if batch = append(batch, v); len(batch) == size {
				if !yield(batch) {
					return
				}
				batch = batch[:0]
			}
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// loader keeps the lists that it met, and writes their sizes at the end.
type loader struct {
	tx          pgx.Tx
	n           int
	times       int32
	first       int64 // the last capability that was there before
	pk, version int64 // the last ones used
	list        int64
	before      int64 // the last list that was there before
	ids         map[listKey]int64
	sizes       map[int64]int32
	words       map[string]string // to their terms
}

func (l *loader) begin(ctx context.Context) error {
	err := l.tx.QueryRow(ctx, `SELECT coalesce((SELECT max(pk) FROM capabilities), 0), coalesce((SELECT max(pk) FROM capability_versions), 0),
		coalesce((SELECT max(id) FROM capability_lists), 0)`).Scan(&l.pk, &l.version, &l.list)
	if err != nil {
		return fmt.Errorf("find the ends: %w", err)
	}
	l.before, l.first = l.list, l.pk
	rows, err := l.tx.Query(ctx, `SELECT id, shelf, term, kind FROM capability_lists`)
	if err != nil {
		return fmt.Errorf("read lists: %w", err)
	}
	var id int64
	var k listKey
	_, err = pgx.ForEachRow(rows, []any{&id, &k.shelf, &k.term, &k.kind}, func() error {
		l.ids[k] = id
		return nil
	})
	if err != nil {
		return fmt.Errorf("read lists: %w", err)
	}
	return nil
}

// row is a capability on its way into the tables.
type loadedRow struct {
	Loaded
	pk, version int64
	audiences   []string
	entry       entry
	canonical   []byte
}

func (l *loader) put(ctx context.Context, batch []Loaded) error {
	rows := make([]loadedRow, len(batch))
	for i, c := range batch {
		l.n, l.pk, l.version = l.n+1, l.pk+1, l.version+1
		canonical, err := c.Content.Canonical()
		if err != nil {
			return fmt.Errorf("content of %s/%s: %w", c.Source, c.ID, err)
		}
		m := subjectMatter{source: c.Source, id: c.ID, reach: c.Reach, tags: c.Tags, content: c.Content}
		audiences := capability.Access{Source: c.Source, Reach: c.Reach, CreatedBy: c.Creator.String()}.Audiences()
		e := m.entry(string(c.Content.Spec.Kind()), shelves(c.Source, c.Reach, audiences), int32(c.Adopters))
		rows[i] = loadedRow{c, l.pk, l.version, audiences, e, canonical}
	}
	if err := l.copy(ctx, "capabilities", []string{"pk", "source", "id", "kind", "reach", "audiences", "name_fold", "tags", "created_by",
		"created_at", "updated_at", "latest_version", "latest_pk", "adopters", "facets"}, rows, func(r loadedRow) []any {
		return []any{r.pk, r.Source, r.ID, string(r.Content.Spec.Kind()), string(r.Reach), r.audiences, capability.FoldName(r.Content.Name),
			r.Tags, r.Creator, r.CreatedAt, r.CreatedAt, capability.FirstVersion, r.version, r.Adopters, r.entry.filters}
	}); err != nil {
		return err
	}
	first, err := capability.ParseVersion(capability.FirstVersion)
	if err != nil {
		return err
	}
	if err := l.copy(ctx, "capability_versions", []string{"pk", "capability_pk", "version", "sort_key", "kind", "name", "description",
		"content", "digest", "serves", "created_by", "created_at"}, rows, func(r loadedRow) []any {
		_, domains, _ := discoverable(r.Content.Spec)
		return []any{r.version, r.pk, capability.FirstVersion, first.SortKey(), string(r.Content.Spec.Kind()), r.Content.Name,
			r.Content.Description, string(r.canonical), r.Content.Digest(), append([]string{}, domains...), r.Creator, r.CreatedAt}
	}); err != nil {
		return err
	}
	return l.putTerms(ctx, rows)
}

func (l *loader) copy(ctx context.Context, table string, columns []string, rows []loadedRow, values func(loadedRow) []any) error {
	_, err := l.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return values(rows[i]), nil }))
	if err != nil {
		return fmt.Errorf("copy into %s: %w", table, err)
	}
	return nil
}

func (l *loader) putTerms(ctx context.Context, rows []loadedRow) error {
	var xid string
	if err := l.tx.QueryRow(ctx, `SELECT pg_current_xact_id()::text`).Scan(&xid); err != nil {
		return fmt.Errorf("name the transaction: %w", err)
	}
	type term struct {
		list int64
		row  int
		rank int32
	}
	var terms []term
	for i, r := range rows {
		for k, rank := range r.entry.ranks {
			id, ok := l.ids[k]
			if !ok {
				l.list++
				id = l.list
				l.ids[k] = id
			}
			l.sizes[id]++
			terms = append(terms, term{id, i, rank})
		}
		for _, s := range r.entry.spellings {
			l.words[s.word] = s.term
		}
	}
	slices.SortFunc(terms, func(a, b term) int { return cmp.Or(cmp.Compare(a.list, b.list), cmp.Compare(a.row, b.row)) })
	_, err := l.tx.CopyFrom(ctx, pgx.Identifier{"capability_terms"}, []string{"list", "created_at", "capability_pk", "rank", "adopters", "changed"},
		pgx.CopyFromSlice(len(terms), func(i int) ([]any, error) {
			t, r := terms[i], rows[terms[i].row]
			return []any{t.list, r.CreatedAt, r.pk, t.rank, int32(r.Adopters), xid}, nil
		}))
	if err != nil {
		return fmt.Errorf("copy into capability_terms: %w", err)
	}
	return nil
}

// multiply copies what was put, each copy a second younger.
func (l *loader) multiply(ctx context.Context) error {
	if l.times == 1 {
		return nil
	}
	for _, sql := range []string{
		`INSERT INTO capability_versions (pk, capability_pk, version, sort_key, kind, name, description, content, digest, serves, created_by, created_at)
		OVERRIDING SYSTEM VALUE
		SELECT v.pk + k * $3::bigint, v.capability_pk + k * $3::bigint, v.version, v.sort_key, v.kind, v.name, v.description, v.content, v.digest, v.serves,
			v.created_by, v.created_at + make_interval(secs => k)
		FROM capability_versions v, generate_series(1, $2 - 1) AS k WHERE v.capability_pk > $1`,
		`INSERT INTO capabilities (pk, source, id, kind, reach, audiences, name_fold, tags, created_by, created_at, updated_at, latest_version, latest_pk, adopters, facets)
		OVERRIDING SYSTEM VALUE
		SELECT c.pk + k * $3::bigint, c.source, c.id || '-' || k, c.kind, c.reach, c.audiences, c.name_fold, c.tags, c.created_by,
			c.created_at + make_interval(secs => k), c.updated_at + make_interval(secs => k), c.latest_version, c.latest_pk + k * $3::bigint, c.adopters, c.facets
		FROM capabilities c, generate_series(1, $2 - 1) AS k WHERE c.pk > $1`,
		`INSERT INTO capability_terms (list, created_at, capability_pk, rank, adopters, changed)
		SELECT t.list, t.created_at + make_interval(secs => k), t.capability_pk + k * $3::bigint, t.rank, t.adopters, t.changed
		FROM capability_terms t, generate_series(1, $2 - 1) AS k WHERE t.capability_pk > $1`,
	} {
		if _, err := l.tx.Exec(ctx, sql, l.first, l.times, int64(l.n)); err != nil {
			return fmt.Errorf("%.40s: %w", sql, err)
		}
	}
	return nil
}

// finish writes the lists, the words and where the next keys begin.
func (l *loader) finish(ctx context.Context) error {
	keys := make([]listKey, 0, len(l.ids))
	for k, id := range l.ids {
		if id > l.before {
			keys = append(keys, k)
		} else if by := l.sizes[id]; by > 0 {
			if _, err := l.tx.Exec(ctx, `UPDATE capability_lists SET n = n + $2, changed = pg_current_xact_id() WHERE id = $1`, id, by*l.times); err != nil {
				return fmt.Errorf("grow lists: %w", err)
			}
		}
	}
	slices.SortFunc(keys, listKey.compare)
	_, err := l.tx.CopyFrom(ctx, pgx.Identifier{"capability_lists"}, []string{"id", "shelf", "term", "kind", "n"},
		pgx.CopyFromSlice(len(keys), func(i int) ([]any, error) {
			k := keys[i]
			return []any{l.ids[k], k.shelf, k.term, k.kind, l.sizes[l.ids[k]] * l.times}, nil
		}))
	if err != nil {
		return fmt.Errorf("copy into capability_lists: %w", err)
	}
	if err := l.putWords(ctx); err != nil {
		return err
	}
	_, err = l.tx.Exec(ctx, `SELECT setval(pg_get_serial_sequence('capabilities', 'pk'), max(pk)) FROM capabilities;
		SELECT setval(pg_get_serial_sequence('capability_versions', 'pk'), max(pk)) FROM capability_versions;
		SELECT setval(pg_get_serial_sequence('capability_lists', 'id'), max(id)) FROM capability_lists`)
	if err != nil {
		return fmt.Errorf("set the next keys: %w", err)
	}
	return nil
}

func (l *loader) putWords(ctx context.Context) error {
	var missing []db.MissingWordsRow
	known := map[string]bool{}
	rows, err := l.tx.Query(ctx, `SELECT DISTINCT word FROM capability_words`)
	if err != nil {
		return fmt.Errorf("read words: %w", err)
	}
	var word string
	if _, err := pgx.ForEachRow(rows, []any{&word}, func() error { known[word] = true; return nil }); err != nil {
		return fmt.Errorf("read words: %w", err)
	}
	for w, term := range l.words {
		if !known[w] {
			missing = append(missing, db.MissingWordsRow{Word: w, Term: term})
		}
	}
	p := wordRows(missing)
	_, err = l.tx.CopyFrom(ctx, pgx.Identifier{"capability_words"}, []string{"key", "word", "term"},
		pgx.CopyFromSlice(len(p.Keys), func(i int) ([]any, error) { return []any{p.Keys[i], p.Words[i], p.Terms[i]}, nil }))
	if err != nil {
		return fmt.Errorf("copy into capability_words: %w", err)
	}
	return nil
}
