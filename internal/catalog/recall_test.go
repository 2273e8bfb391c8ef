package catalog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/catalog/sample"
	"capstore/internal/pg"
)

// recalled is how many of a hundred questions must find a right answer among
// the first five.
const recalled = 95

func TestAStoreOfTenThousand(t *testing.T) {
	t.Parallel()
	b := setupWith(t, catalog.Options{Runtimes: func(context.Context) []catalog.Runtime { return []catalog.Runtime{catalog.RuntimePython} }})
	made := b.fill(t, 10_000)
	t.Run("what one looks for is among the first five", func(t *testing.T) {
		t.Parallel()
		b.recall(t, made)
	})
	for name, q := range map[string]catalog.Query{
		"everything":        {},
		"few":               {Q: "stripe invoice"},
		"thousands":         {Q: "invoice"},
		"more than is read": {Q: "team"},
		"a typo":            {Q: "strpie"},
		"chosen kinds":      {Q: "report", Kinds: []capability.Kind{capability.KindMCP, capability.KindSkill}},
		"a chosen tag":      {Tags: []string{"Finance"}, Sources: []string{"acme"}},
		"all chosen": {
			Q: "team", Kinds: []capability.Kind{capability.KindMCP}, Reach: []capability.Reach{capability.ReachPublic},
			Sources: []string{"globex"}, Domains: []string{"live-data"}, WorksHere: true,
		},
	} {
		t.Run("counts of "+name, func(t *testing.T) {
			t.Parallel()
			b.facets(t, q)
		})
	}
}

func (b *bundle) recall(t *testing.T, made sample.Store) {
	hits, asked := map[sample.Sort]int{}, map[sample.Sort]int{}
	for _, q := range made.Questions(40) {
		asked[q.Sort]++
		found, err := q.Answered(t.Context(), b.store, b.other)
		wantCode(t, err, "")
		if found {
			hits[q.Sort]++
		} else {
			t.Logf("%s: %q is not found", q.Sort, q.Typed)
		}
	}
	for _, sort := range sample.Sorts {
		if asked[sort] != 40 || hits[sort]*100 < recalled*asked[sort] {
			t.Errorf("%s: %d of %d", sort, hits[sort], asked[sort])
		}
	}
}

// facets holds every count beside a filter to what the filter gives.
func (b *bundle) facets(t *testing.T, q catalog.Query) {
	q.Counts, q.Limit = true, 1
	ctx, counter := pg.Counted(t.Context())
	page, err := b.store.Browse(ctx, b.author, q)
	wantCode(t, err, "")
	if counter.Count() > 2 {
		t.Errorf("%d statements", counter.Count())
	}
	check := func(what string, c catalog.FacetCount, chosen catalog.Query) {
		t.Helper()
		with, err := b.store.Browse(t.Context(), b.author, chosen)
		wantCode(t, err, "")
		if with.Total != c.Count || c.N == 0 {
			t.Errorf("%s %s counts %+v and gives %+v", what, c.Value, c.Count, with.Total)
		}
	}
	for _, c := range page.Facets.Kinds {
		chosen := q
		chosen.Kinds = []capability.Kind{capability.Kind(c.Value)}
		check("kind", c, chosen)
	}
	for _, c := range page.Facets.Reaches {
		chosen := q
		chosen.Reach = []capability.Reach{capability.Reach(c.Value)}
		check("reach", c, chosen)
	}
	for _, c := range page.Facets.Sources {
		chosen := q
		chosen.Sources = []string{c.Value}
		check("source", c, chosen)
	}
	for _, c := range page.Facets.Tags {
		chosen := q
		chosen.Tags = append([]string{c.Value}, q.Tags...)
		check("tag", c, chosen)
	}
	for _, c := range page.Facets.Domains {
		chosen := q
		chosen.Domains = append([]string{c.Value}, q.Domains...)
		check("domain", c, chosen)
	}
	works := q
	works.WorksHere = true
	check("works", catalog.FacetCount{Value: "here", Count: page.Facets.WorksHere}, works)
	if len(page.Facets.Tags) < 5 || len(page.Facets.Kinds) < 4 {
		t.Errorf("few are offered: %+v", page.Facets)
	}
}

// fill loads n generated capabilities of acme and globex.
func (b *bundle) fill(t testing.TB, n int) sample.Store {
	t.Helper()
	made := sample.Store{Seed: 1, N: n, Sources: []string{"acme", "globex"}, Creator: uuid.MustParse(b.author.Subject)}
	start := time.Now()
	loaded, err := b.store.Load(t.Context(), made.All(), 1)
	wantCode(t, err, "")
	if loaded != n {
		t.Fatalf("loaded %d", loaded)
	}
	b.exec(t, "VACUUM ANALYZE")
	t.Logf("loaded in %s", time.Since(start).Round(time.Millisecond))
	return made
}

// Loading a store is the same as publishing it.
func TestLoadedIsAsPublished(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t, 60)
	before := b.dump(t)
	n, err := b.store.Reindex(t.Context())
	wantCode(t, err, "")
	if n != 60 || b.dump(t) != before {
		t.Errorf("reindexing %d changed what was loaded", n)
	}
	page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Limit: 100, Counts: true})
	wantCode(t, err, "")
	if page.Total.N != 59 || len(page.Items) != 59 { // one is globex's own
		t.Errorf("%d of %d", len(page.Items), page.Total.N)
	}
	b.publish(t, b.author, code("After All", "print(1)"))
}

func TestLoadedManyTimes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := sample.Store{Seed: 1, N: 20, Sources: []string{"acme"}, Creator: uuid.MustParse(b.author.Subject)}
	n, err := b.store.Load(t.Context(), made.All(), 3)
	wantCode(t, err, "")
	page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Limit: 100, Counts: true})
	wantCode(t, err, "")
	if n != 60 || page.Total.N != 60 || len(page.Items) != 60 {
		t.Errorf("loaded %d: %d of %d", n, len(page.Items), page.Total.N)
	}
	b.publish(t, b.author, code("After All", "print(1)"))
}

// dump is the whole index, apart from when it was written.
func (b *bundle) dump(t testing.TB) (s string) {
	t.Helper()
	err := b.db.QueryRow(t.Context(), `SELECT concat(
		(SELECT string_agg(concat_ws(' ', l.shelf, l.term, l.kind, l.n, t.capability_pk, t.rank, t.adopters, t.created_at), E'\n'
			ORDER BY l.shelf, l.term, l.kind, t.capability_pk) FROM capability_lists l LEFT JOIN capability_terms t ON t.list = l.id),
		(SELECT string_agg(concat_ws(' ', w.key, w.word, w.term), E'\n' ORDER BY w.key, w.word) FROM capability_words w),
		(SELECT string_agg(concat_ws(' ', c.source, c.id, c.facets), E'\n' ORDER BY c.pk) FROM capabilities c))`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(s)
}
