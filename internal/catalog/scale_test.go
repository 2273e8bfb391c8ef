package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

// crowd loads n public capabilities of acme and globex, with words in 0.01 %,
// 5 % and 60 % of them and a long tail, and gathers statistics. It returns a
// viewer of acme with some of everything on his shelves.
func crowd(t testing.TB, db *pg.DB, n int) capability.Actor {
	t.Helper()
	me := uuid.Must(uuid.NewV7())
	own := capability.Access{Source: "acme", Reach: capability.ReachPrivate, CreatedBy: me.String()}
	// One connection for all: temporary tables and the time limit are its own.
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%.60s: %v", sql, err)
		}
	}
	run(`SET statement_timeout = 0`)
	run(`INSERT INTO users (id, email, name) VALUES ($1, 'me@example.com', 'Me')`, me)
	run(`INSERT INTO workspaces (slug, name) VALUES ('acme', 'Acme'), ('globex', 'Globex'), ('umbra', 'Umbra')`)
	run(`INSERT INTO memberships (workspace, subject, role) VALUES ('acme', $1, 'member')`, me)
	// Row by row the keys would be checked and the indexes kept; whole, they
	// are built in a tenth of the time.
	var restore []string
	rows, err := conn.Query(t.Context(), `SELECT 'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
		FROM pg_constraint WHERE conrelid IN ('capability_terms'::regclass, 'capability_versions'::regclass, 'capabilities'::regclass)
			AND contype IN ('p', 'f') AND (contype = 'f' OR conrelid = 'capability_terms'::regclass)
		UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'capability_terms'::regclass AND NOT indisprimary`)
	if err == nil {
		restore, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		t.Fatal(err)
	}
	run(`DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
			WHERE conrelid IN ('capability_terms'::regclass, 'capability_versions'::regclass, 'capabilities'::regclass)
				AND contype IN ('p', 'f') AND (contype = 'f' OR conrelid = 'capability_terms'::regclass)
		LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', r.t, r.conname); END LOOP;
		FOR r IN SELECT indexrelid::regclass AS i FROM pg_index WHERE indrelid = 'capability_terms'::regclass
		LOOP EXECUTE format('DROP INDEX %s', r.i); END LOOP;
	END $$`)
	// Of a thousand, ten are acme's own, five shared with it, two private to me.
	run(`CREATE TEMP TABLE made AS SELECT i, md5(i::text) AS h,
			'2026-01-01'::timestamptz + make_interval(secs => (i * 7919::bigint) % 10000019) AS at,
			(ARRAY['mcp','code','skill','environment','delegation','hook','command'])[1 + i % 7] AS kind,
			CASE WHEN i % 1000 < 10 THEN 'workspace' WHEN i % 1000 < 15 THEN 'subset' WHEN i % 1000 < 17 THEN 'private' ELSE 'public' END AS reach,
			CASE WHEN i % 1000 < 10 OR i % 1000 IN (15, 16) OR i % 20 = 3 THEN 'acme' ELSE 'globex' END AS source,
			CASE WHEN i % 50 = 0 THEN i % 37 ELSE 0 END AS adopters
		FROM generate_series(1, $1) AS i`, n)
	run(`INSERT INTO capabilities (pk, source, id, kind, reach, audiences, created_by, created_at, adopters, latest_version, latest_pk, facets)
		OVERRIDING SYSTEM VALUE
		SELECT i, source, 'cap-' || i, kind, reach, ARRAY['*'], $1, at, adopters, '1.0.0', i,
			ARRAY['s:' || source, 'r:' || reach, 't:' || (ARRAY['finance','mail','ops','text'])[1 + i % 4],
				'd:' || (ARRAY['live-data','code','writing'])[1 + i % 3], 'x:' || (ARRAY['text','remote','python'])[1 + i % 3]] FROM made`, me)
	run(`INSERT INTO capability_versions (pk, capability_pk, version, sort_key, kind, name, description, content, digest, created_by, created_at)
		OVERRIDING SYSTEM VALUE
		SELECT i, i, '1.0.0', 'x', kind, 'Capability ' || i, repeat(h || ' ', 6), '{}', h, $1, at FROM made`, me)
	run(`CREATE TEMP TABLE found AS
		SELECT CASE reach WHEN 'public' THEN $1 WHEN 'workspace' THEN $2 WHEN 'subset' THEN $3 ELSE $4 END AS shelf,
			t.term, kind, at, i, 64 * (1 + (i * t.weight) % 90) + 1 + adopters AS rank, adopters
		FROM made CROSS JOIN LATERAL (VALUES
			('', 1), ('s:' || source, 2), ('r:' || reach, 3), ('t:' || (ARRAY['finance','mail','ops','text'])[1 + i % 4], 5),
			('d:' || (ARRAY['live-data','code','writing'])[1 + i % 3], 7),
			('x:' || (ARRAY['text','remote','python'])[1 + i % 3], 1), ('w:a' || i % 2003, 11), ('w:b' || i % 5003, 13),
			('w:c' || left(h, 3), 17), ('w:' || h, 19),
			(CASE WHEN i % 5 < 3 THEN 'w:common' END, 23), (CASE WHEN i % 20 = 0 THEN 'w:some' END, 29),
			(CASE WHEN i % 10000 = 0 THEN 'w:rare' END, 31), (CASE WHEN i % 3 = 0 THEN 'w:third' END, 37)
		) AS t (term, weight) WHERE t.term IS NOT NULL`,
		publicAudience, workspaceAudience("acme"), sharedMark+workspaceAudience("acme"), own.Audiences()[0])
	run(`INSERT INTO capability_lists (shelf, term, kind, n) SELECT shelf, term, kind, count(*) FROM found GROUP BY 1, 2, 3`)
	run(`INSERT INTO capability_terms (list, created_at, capability_pk, rank, adopters, changed)
		SELECT l.id, f.at, f.i, f.rank, f.adopters, '1' FROM found f JOIN capability_lists l USING (shelf, term, kind)`)
	run(`INSERT INTO capability_words (key, word, term)
		SELECT left(w.word, n) || substr(w.word, n + 2), w.word, 'w:' || w.word
		FROM (SELECT md5(i::text) AS word FROM generate_series(1, least($1, 20000)) AS i) AS w, generate_series(0, 8) AS n ON CONFLICT DO NOTHING`, n)
	for _, sql := range restore {
		run(sql)
	}
	run(`SELECT setval(pg_get_serial_sequence('capabilities', 'pk'), $1), setval(pg_get_serial_sequence('capability_versions', 'pk'), $1)`, n)
	run(`VACUUM ANALYZE`)
	run(`RESET statement_timeout`)
	return capability.Actor{Workspace: "acme", Subject: me.String(), Role: capability.RoleMember}
}

// browses are the kinds of page that a store of any size has to serve.
func browses() map[string]Query {
	out := map[string]Query{}
	words := map[string]string{"no word": "", "rare": "rare", "some": "some", "common": "common", "two common": "common third", "rare and common": "common rare", "three": "some common third", "absent": "zzzz", "mistyped": "cmomon", "two mistyped": "rrae comon"}
	filters := map[string]Query{
		"":               {},
		"store":          {Scope: ScopeStore},
		"mine":           {Scope: ScopeMine},
		"kind":           {Kinds: []capability.Kind{capability.KindHook}},
		"tag and domain": {Tags: []string{"mail"}, Domains: []string{"live-data"}},
		"works here":     {WorksHere: true},
		"source, reach":  {Sources: []string{"acme"}, Reach: []capability.Reach{capability.ReachPublic, capability.ReachWorkspace}},
	}
	for word, q := range words {
		for filter, base := range filters {
			for _, sort := range []Sort{SortCreated, SortNewest, SortAdopted, SortRelevance} {
				if !walked(filter) && (sort == SortCreated || sort == SortAdopted) {
					continue
				}
				base.Q, base.Sort, base.Counts = q, sort, sort == SortNewest // they are the same in every order
				out[fmt.Sprintf("%s/%s/%s", word, filter, sort)] = base
			}
		}
	}
	return out
}

// walked reports whether pages of the filter are looked at in every order and
// from the middle too; the others differ from them in their lists alone.
func walked(filter string) bool { return filter == "" || filter == "tag and domain" }

// deep is a cursor somewhere in the middle.
func deep(t *testing.T, q Query, v capability.Viewer) string {
	q, err := q.check()
	if err != nil {
		t.Fatal(err)
	}
	key := int64(64 * 40)
	switch q.Sort {
	case SortCreated, SortNewest:
		key = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	case SortAdopted:
		key = 3
	}
	return cursor{Key: key, PK: 5000, Walk: "1099511627786:1099511627786:"}.encode(q.fingerprint(v))
}

func TestNoPlanScansTheStore(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	start := time.Now()
	me := crowd(t, db, 100_000)
	t.Logf("loaded in %s", time.Since(start).Round(time.Millisecond))
	before := scans(t, db)
	seen := map[string]bool{}
	for range 5 {
		checkPlans(t, db, me, seen)
	}
	// By now the server plans without looking at arguments. What really ran
	// scanned nothing either.
	if after := scans(t, db); after != before {
		t.Errorf("sequential scans of the store's tables: %d before, %d after", before, after)
	}
}

// A store of some thousands, changed all over and not vacuumed since, is where
// plans that read whole lists look cheapest.
func TestPlansHoldForAMiddlingStore(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	me := crowd(t, db, 10_000)
	if _, err := db.Exec(t.Context(), `UPDATE capability_terms SET rank = rank WHERE capability_pk % 5 = 0`); err != nil {
		t.Fatal(err)
	}
	checkPlans(t, db, me, map[string]bool{})
}

// shapeName is what decides the statements of a page: not which words it has,
// but how many and whether they are mistyped.
func shapeName(name string, q Query) string {
	word, rest, _ := strings.Cut(name, "/")
	return fmt.Sprintf("%d %t/%s", len(strings.Fields(q.Q)), strings.Contains(word, "mistyped"), rest)
}

// checkPlans gathers statistics anew and looks at the plan of every page, and
// where the pages were seen before at that of every statement: plans do not
// depend on arguments.
func checkPlans(t *testing.T, db *pg.DB, me capability.Actor, seen map[string]bool) {
	t.Helper()
	s := New(db, Options{})
	if _, err := db.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	again, done := len(seen) > 0, map[string]bool{}
	for name, q := range browses() {
		if again && done[shapeName(name, q)] {
			continue
		}
		done[shapeName(name, q)] = true
		cursors := []string{""}
		if walked(strings.Split(name, "/")[1]) {
			cursors = append(cursors, deep(t, q, me.Viewer()))
		}
		for _, cursor := range cursors {
			q.Cursor = cursor
			for _, st := range statementsOf(t, s, me, q) {
				seen[st.sql.String()] = true
				checkPlan(t, db, fmt.Sprintf("%s, cursor %q", name, cursor), st)
			}
		}
	}
}

// scans returns how often the store's tables were read from end to end.
func scans(t *testing.T, db *pg.DB) (n int) {
	t.Helper()
	for _, conn := range db.AcquireAllIdle(t.Context()) {
		if _, err := conn.Exec(t.Context(), "SELECT pg_stat_force_next_flush()"); err != nil {
			t.Fatal(err)
		}
		conn.Release()
	}
	err := db.QueryRow(t.Context(), `SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname LIKE 'capabilit%'`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// statementsOf runs the query and returns what it ran, arguments included.
func statementsOf(t *testing.T, s *Service, me capability.Actor, q Query) []*statement {
	t.Helper()
	ctx, counter := pg.Counted(t.Context())
	// One that has counted nothing yet.
	if _, err := New(s.db, s.opts).Browse(ctx, me, q); err != nil {
		t.Fatalf("browse %+v: %v", q, err)
	}
	if n := counter.Count(); n > 2 {
		t.Errorf("browse %+v ran %d statements", q, n)
	}
	q, err := q.check()
	if err != nil {
		t.Fatal(err)
	}
	at, err := decodeCursor(q.Cursor, q.fingerprint(me.Viewer()))
	if err != nil {
		t.Fatal(err)
	}
	if q.WorksHere {
		q.works = s.works(t.Context())
	}
	words, _ := queryWords(q.Q)
	at.spell(words)
	shelves := shelvesOf(me.Viewer(), q.Scope)
	asked := append(q.groups(me.Viewer(), words), group{terms: []string{wholeTerm(splitWords(q.Q))}})
	look := &statement{args: lookupArgs(shelves, words, asked)}
	look.sql.WriteString(lookup)
	f, err := s.look(t.Context(), shelves, words, asked)
	if err != nil {
		t.Fatal(err)
	}
	groups := q.groups(me.Viewer(), words)
	p := f.plan(q, words, groups, at, me.Viewer())
	if q.Counts {
		p.facets = f.facetPlan(q, groups)
	}
	out := []*statement{look}
	if !p.empty() {
		out = append(out, p.page())
	}
	for _, st := range out {
		if !slices.Contains(counter.Statements(), st.sql.String()) {
			t.Fatalf("the explained statement is not one that ran:\n%.200s", st.sql.String())
		}
	}
	return out
}

// node is a node of an EXPLAIN plan.
type node struct {
	Type     string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Plans    []node `json:"Plans"`
}

func (n node) walk(visit func(node)) {
	visit(n)
	for _, sub := range n.Plans {
		sub.walk(visit)
	}
}

// checkPlan fails when the plan reads a table of the store from end to end.
func checkPlan(t *testing.T, db *pg.DB, name string, st *statement) {
	t.Helper()
	var raw []byte
	if err := db.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+st.sql.String(), st.args...).Scan(&raw); err != nil {
		t.Fatalf("explain %s: %v", name, err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(raw, &plans); err != nil {
		t.Fatal(err)
	}
	plans[0].Plan.walk(func(n node) {
		if strings.HasPrefix(n.Relation, "capabilit") && (n.Type == "Seq Scan" || n.Type == "Bitmap Heap Scan") {
			t.Errorf("%s: %s on %s", name, n.Type, n.Relation)
		}
	})
}
