package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/pg"
)

// shelf publishes n workspace tools named "Tool 01" and so on.
func (b *bundle) shelf(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		p := code(fmt.Sprintf("Tool %02d", i), "print(1)")
		p.Visibility = capability.ReachWorkspace
		b.publish(t, b.author, p)
	}
}

func ids(page catalog.Page) []string {
	out := []string{}
	for _, r := range page.Items {
		out = append(out, r.ID)
	}
	return out
}

// walk follows the cursors to the end, calling between before each further
// page.
func (b *bundle) walk(t *testing.T, q catalog.Query, between func(page int)) (pages [][]string, last catalog.Page) {
	t.Helper()
	for n := 0; ; n++ {
		page, err := b.store.Browse(t.Context(), b.viewer, q)
		if err != nil {
			t.Fatalf("page %d: %v", n, err)
		}
		pages = append(pages, ids(page))
		if page.NextCursor == "" {
			return pages, page
		}
		q.Cursor = page.NextCursor
		between(n)
	}
}

func TestWalkNeitherSkipsNorRepeats(t *testing.T) {
	t.Parallel()
	for _, sort := range []catalog.Sort{catalog.SortCreated, catalog.SortNewest} {
		t.Run(string(sort), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.shelf(t, 12)
			pages, _ := b.walk(t, catalog.Query{Sort: sort, Limit: 5}, func(page int) {
				// Published, edited, deprecated and shared meanwhile.
				p := code(fmt.Sprintf("Late %02d", page), "print(1)")
				p.Visibility = capability.ReachWorkspace
				b.publish(t, b.author, p)
				b.publish(t, b.author, code("Tool 06", fmt.Sprint("edited ", page)))
				err := b.store.Update(t.Context(), b.admin, "acme", "tool-07", catalog.Patch{Reach: reachOf(capability.ReachPublic)})
				wantCode(t, err, "")
			})
			seen := slices.Concat(pages...)
			for i := range 12 {
				id := fmt.Sprintf("tool-%02d", i)
				if n := count(seen, id); n != 1 {
					t.Errorf("%s came %d times in %v", id, n, pages)
				}
			}
			if !slices.IsSortedFunc(seen, strings.Compare) && sort == catalog.SortCreated && len(seen) == 12 {
				t.Errorf("out of order: %v", seen)
			}
		})
	}
}

func count(all []string, s string) int {
	n := 0
	for _, have := range all {
		if have == s {
			n++
		}
	}
	return n
}

func TestMovingOrdersRepeatNothing(t *testing.T) {
	t.Parallel()
	for _, q := range []catalog.Query{
		{Sort: catalog.SortAdopted}, {Sort: catalog.SortRelevance}, {Sort: catalog.SortRelevance, Q: "tool"},
		{Sort: catalog.SortRelevance, Q: "tool says"}, {Sort: catalog.SortAdopted, Q: "tool"},
	} {
		t.Run(fmt.Sprintf("%s %q", q.Sort, q.Q), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.shelf(t, 12)
			for i := range 6 {
				b.adopt(t, fmt.Sprintf("tool-%02d", i), "acme")
			}
			q.Limit = 3
			pages, _ := b.walk(t, q, func(page int) {
				// What led falls to the end, and what was last rises.
				b.unadopt(t, fmt.Sprintf("tool-%02d", page), "acme")
				b.adopt(t, fmt.Sprintf("tool-%02d", 11-page), "acme")
			})
			seen := slices.Concat(pages...)
			for _, id := range seen {
				if n := count(seen, id); n != 1 {
					t.Errorf("%s came %d times in %v", id, n, pages)
				}
			}
			if len(seen) < 6 {
				t.Errorf("only %v", pages)
			}
		})
	}
}

// adopt writes what the workspace's agent config would.
func (b *bundle) adopt(t *testing.T, id, workspace string) {
	b.adoption(t, id, `INSERT INTO adoptions (workspace, capability_pk, version_pk, channel, name_fold, adoption)
		SELECT $2, c.pk, c.latest_pk, 'tool', c.id, '{}' FROM capabilities c WHERE c.pk = $1`, workspace)
}

func (b *bundle) unadopt(t *testing.T, id, workspace string) {
	b.adoption(t, id, `DELETE FROM adoptions WHERE capability_pk = $1 AND workspace = $2`, workspace)
}

func (b *bundle) adoption(t *testing.T, id, sql, workspace string) {
	t.Helper()
	err := b.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		var pk int64
		if err := tx.QueryRow(ctx, `SELECT pk FROM capabilities WHERE source = 'acme' AND id = $1`, id).Scan(&pk); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sql, pk, workspace); err != nil {
			return err
		}
		return catalog.CountAdopters(ctx, tx, pk)
	})
	if err != nil {
		t.Errorf("adoption of %s: %v", id, err)
	}
}

func TestPagesBackwards(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.shelf(t, 9)
	for _, q := range []catalog.Query{
		{Sort: catalog.SortCreated}, {Sort: catalog.SortNewest}, {Sort: catalog.SortAdopted}, {Sort: catalog.SortRelevance},
		{Sort: catalog.SortRelevance, Q: "tool says"}, {Sort: catalog.SortNewest, Q: "does tool", Kinds: []capability.Kind{capability.KindCode}},
	} {
		q.Limit = 4
		pages, page := b.walk(t, q, func(int) {})
		if len(slices.Concat(pages...)) != 9 {
			t.Errorf("%+v: forwards %v", q, pages)
		}
		for i := len(pages) - 2; i >= 0; i-- {
			q.Cursor = page.PrevCursor
			var err error
			page, err = b.store.Browse(t.Context(), b.viewer, q)
			wantCode(t, err, "")
			if diff := cmp.Diff(pages[i], ids(page)); diff != "" {
				t.Errorf("%+v: page %d backwards:\n%s", q, i, diff)
			}
		}
		if page.PrevCursor != "" || page.NextCursor == "" {
			t.Errorf("%+v: the first page has the cursors %q and %q", q, page.PrevCursor, page.NextCursor)
		}
	}
}

func TestCursorIsBoundToItsQuery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.shelf(t, 4)
	base := catalog.Query{Q: "tool", Limit: 2}
	page, err := b.store.Browse(t.Context(), b.viewer, base)
	wantCode(t, err, "")
	good := page.NextCursor
	flipped := []byte(good)
	flipped[len(flipped)-3] ^= 1
	tests := map[string]struct {
		who    capability.Actor
		change func(q *catalog.Query)
		code   string
	}{
		"same":            {b.viewer, func(*catalog.Query) {}, ""},
		"other page size": {b.viewer, func(q *catalog.Query) { q.Limit = 1 }, ""},
		"other words":     {b.viewer, func(q *catalog.Query) { q.Q = "code" }, "bad_cursor"},
		"other order":     {b.viewer, func(q *catalog.Query) { q.Sort = catalog.SortNewest }, "bad_cursor"},
		"other viewer":    {b.admin, func(*catalog.Query) {}, "bad_cursor"},
		"damaged":         {b.viewer, func(q *catalog.Query) { q.Cursor = string(flipped) }, "bad_cursor"},
		"cut":             {b.viewer, func(q *catalog.Query) { q.Cursor = good[:9] }, "bad_cursor"},
		"no cursor":       {b.viewer, func(q *catalog.Query) { q.Cursor = "'; drop table--" }, "bad_cursor"},
	}
	for name, tt := range tests {
		q := base
		q.Cursor = good
		tt.change(&q)
		_, err := b.store.Browse(t.Context(), tt.who, q)
		t.Run(name, func(t *testing.T) { wantCode(t, err, tt.code) })
	}
}

func TestBrowseRefusesBadQueries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	many := make([]string, 21)
	for path, q := range map[string]catalog.Query{
		"/limit": {Limit: 201}, "/sort": {Sort: "best"}, "/scope": {Scope: "all"}, "/kind": {Kinds: []capability.Kind{"plugin"}},
		"/reach": {Reach: []capability.Reach{"all"}}, "/q": {Q: strings.Repeat("long ", 200)}, "": {Tags: many},
	} {
		_, err := b.store.Browse(t.Context(), b.viewer, q)
		if f := wantCode(t, err, "invalid"); f.Fields[0].Path != path {
			t.Errorf("%+v: fault at %q", q, f.Fields[0].Path)
		}
	}
	for _, words := range []string{"\x00", "'; --", "\xff\xfe", "%_", `"phrase"`, "!!!", "a:* & b", "\u202e"} {
		page, err := b.store.Browse(t.Context(), b.viewer, catalog.Query{Q: words, Tags: []string{words}, Sources: []string{words}, Counts: true})
		wantCode(t, err, "")
		if len(page.Items) != 0 {
			t.Errorf("%q finds %v", words, ids(page))
		}
	}
	for _, bytes := range []string{"a\x00b", "\xff"} {
		_, err := b.store.Browse(t.Context(), b.viewer, catalog.Query{Sources: []string{bytes}})
		wantCode(t, err, "invalid_text")
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	wantCode(t, b.store.SeedFirstParty(ctx), "")
	add := func(who capability.Actor, p catalog.Publication, tags ...string) {
		p.Tags = tags
		b.publish(t, who, p)
	}
	mail := code("Mail Merge", "print(1)")
	mail.Visibility = capability.ReachPublic
	add(b.admin, mail, "Mail", "office")
	hook := catalog.Publication{Name: "Stop Mail", Description: "Holds mail back.", Visibility: capability.ReachWorkspace,
		Spec: json.RawMessage(`{"type":"hook","event":"before_tool","language":"bash","code":"exit 0","serves":["mail-flow"]}`)}
	add(b.author, hook, "mail")
	add(b.author, code("Own Mail Draft", "print(2)"), "mail", "draft")
	tests := []struct {
		name string
		q    catalog.Query
		want []string
	}{
		{"tag in any case", catalog.Query{Tags: []string{"MAIL"}}, []string{"mail-merge", "own-mail-draft", "stop-mail"}},
		{"two tags", catalog.Query{Tags: []string{"mail", "draft"}}, []string{"own-mail-draft"}},
		{"kind", catalog.Query{Kinds: []capability.Kind{capability.KindHook}, Q: "mail"}, []string{"stop-mail"}},
		{"reach", catalog.Query{Reach: []capability.Reach{capability.ReachPrivate, capability.ReachPublic}, Sources: []string{"acme"}}, []string{"mail-merge", "own-mail-draft"}},
		{"domain", catalog.Query{Domains: []string{"mail-flow"}}, []string{"stop-mail"}},
		{"mine", catalog.Query{Scope: catalog.ScopeMine}, []string{"mail-merge", "own-mail-draft", "stop-mail"}},
		{"store", catalog.Query{Scope: catalog.ScopeStore, Q: "mail"}, []string{"mail-merge"}},
		{"source", catalog.Query{Sources: []string{"_capstore", "acme"}, Q: "explain"}, []string{"explain", "incident-triage"}},
		{"all words", catalog.Query{Q: "mail nothing"}, []string{}},
		{"stop words aside", catalog.Query{Q: "the mail of merge"}, []string{"mail-merge"}},
		{"a tool that it provides", catalog.Query{Q: "query_prometheus"}, []string{"grafana"}},
		{"words of the instructions", catalog.Query{Q: "severity timeline rollback roll", Kinds: []capability.Kind{capability.KindSkill}}, []string{}},
		{"other forms of a word", catalog.Query{Q: "incidents triaging"}, []string{"incident-triage"}},
	}
	for _, tt := range tests {
		tt.q.Counts = true
		page, err := b.store.Browse(ctx, b.author, tt.q)
		wantCode(t, err, "")
		got := ids(page)
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		if page.Total != (catalog.Count{N: len(tt.want)}) {
			t.Errorf("%s: total %+v", tt.name, page.Total)
		}
	}
}

func TestKoreanIsFoundByItsWords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := code("송장 추출기", "print(1)")
	p.Description = "첨부된 송장에서 금액과 날짜를 뽑아 표로 만듭니다. 請求書にも対応。"
	p.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, p)
	for q, want := range map[string]int{
		"송장": 1, "송": 1, "추출": 1, "송장을": 1, "금액": 1, "날짜": 1, "송장 표로": 1, "첨부": 1, "영수증": 0, "장": 0, "請求書": 1, "請求": 1, "納品書": 0,
	} {
		page, err := b.store.Browse(t.Context(), b.viewer, catalog.Query{Q: q})
		wantCode(t, err, "")
		if len(page.Items) != want {
			t.Errorf("%q finds %d, want %d", q, len(page.Items), want)
		}
	}
}

func TestRelevance(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	wantCode(t, b.store.SeedFirstParty(ctx), "")
	add := func(name, description string) {
		p := code(name, "print(1)")
		p.Description, p.Visibility = description, capability.ReachPublic
		b.publish(t, b.admin, p)
	}
	add("Dashboards", "Draws what Grafana shows, and more.")
	add("Grafana Backup Of Everything", "Saves it all.")
	add("Grafanaut", "Travels.")
	order := func(q string) []string {
		page, err := b.store.Browse(ctx, b.viewer, catalog.Query{Q: q, Sort: catalog.SortRelevance})
		wantCode(t, err, "")
		return ids(page)
	}
	if diff := cmp.Diff([]string{"grafana", "grafana-backup-of-everything", "grafanaut", "dashboards"}, order("grafana")); diff != "" {
		t.Errorf("grafana:\n%s", diff)
	}
	if got := order(""); len(got) < 9 || slices.Index(got, "dashboards") < 8 {
		t.Errorf("without words what ships with capstore does not lead: %v", got)
	}
	err := b.store.Update(ctx, b.admin, "acme", "grafana-backup-of-everything", catalog.Patch{Deprecated: &catalog.Deprecation{Note: "Use the built-in one."}})
	wantCode(t, err, "")
	if got := order("grafana"); slices.Index(got, "grafana-backup-of-everything") < slices.Index(got, "grafanaut") {
		t.Errorf("a deprecated one leads: %v", got)
	}
}

func TestRowSaysWhatTheWorkspaceHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	p := code("Public Tool", "v1")
	p.Visibility = capability.ReachPublic
	b.publish(t, b.admin, p)
	b.adopt(t, "public-tool", "globex")
	b.adopt(t, "public-tool", "initech")
	b.publish(t, b.admin, code("Public Tool", "v2"))
	row := func(who capability.Actor) catalog.Row {
		counted, counter := pg.Counted(ctx)
		page, err := b.store.Browse(counted, who, catalog.Query{Q: "public tool", Counts: true})
		wantCode(t, err, "")
		if len(page.Items) != 1 || counter.Count() > 2 {
			t.Fatalf("%d rows by %d statements", len(page.Items), counter.Count())
		}
		return page.Items[0]
	}
	if r := row(b.other); !r.InWorkspace() || r.Pinned != "1.0.0" || !r.UpdateAvailable || r.Version != "1.0.1" || r.Adopters != 2 {
		t.Errorf("to an adopter: %+v", r)
	}
	if r := row(b.author); r.InWorkspace() || r.UpdateAvailable || r.Adopters != 2 {
		t.Errorf("to one who did not adopt it: %+v", r)
	}
	counted, counter := pg.Counted(ctx)
	c, err := b.store.Get(counted, b.other, "acme", "public-tool")
	wantCode(t, err, "")
	if c.Pinned != "1.0.0" || !c.UpdateAvailable || counter.Count() != 1 {
		t.Errorf("detail by %d statements: %+v", counter.Count(), c)
	}
	// Those who pin a withdrawn version still see it; nobody else does.
	wantCode(t, b.store.Withdraw(ctx, b.admin, "acme", "public-tool", "1.0.0"), "")
	_, err = b.store.Version(ctx, b.other, "acme", "public-tool", "1.0.0")
	wantCode(t, err, "")
	b.unadopt(t, "public-tool", "globex")
	_, err = b.store.Version(ctx, b.other, "acme", "public-tool", "1.0.0")
	wantCode(t, err, "not_found")
}

func TestReindexChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wantCode(t, b.store.SeedFirstParty(t.Context()), "")
	b.shelf(t, 3)
	b.adopt(t, "tool-01", "acme")
	dump := func() string {
		var s string
		err := b.db.QueryRow(t.Context(), `SELECT string_agg(concat_ws(' ', l.shelf, l.term, l.kind, l.n, t.capability_pk, t.rank, t.adopters, t.changed), E'\n'
			ORDER BY l.shelf, l.term, l.kind, t.capability_pk) FROM capability_lists l LEFT JOIN capability_terms t ON t.list = l.id`).Scan(&s)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := dump()
	n, err := b.store.Reindex(t.Context())
	wantCode(t, err, "")
	if n != 12 {
		t.Errorf("reindexed %d", n)
	}
	if diff := cmp.Diff(before, dump()); diff != "" {
		t.Errorf("reindexing changed:\n%s", diff)
	}
	var wrong int
	err = b.db.QueryRow(t.Context(), `SELECT count(*) FROM capability_lists l WHERE n <> (SELECT count(*) FROM capability_terms t WHERE t.list = l.id)`).Scan(&wrong)
	if err != nil || wrong != 0 {
		t.Errorf("%d lists with a wrong size: %v", wrong, err)
	}
}

func TestAdoptersAreCountedUnderContention(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := code("Popular", "v1")
	p.Visibility = capability.ReachPublic
	b.publish(t, b.admin, p)
	var wg sync.WaitGroup
	for _, workspace := range []string{"acme", "globex", "initech"} {
		wg.Go(func() { b.adopt(t, "popular", workspace) })
	}
	wg.Wait()
	c, err := b.store.Get(t.Context(), b.viewer, "acme", "popular")
	wantCode(t, err, "")
	if c.Adopters != 3 {
		t.Errorf("%d adopters", c.Adopters)
	}
	preview, err := b.store.PreviewReach(t.Context(), b.admin, "acme", "popular", capability.ReachSubset, nil)
	wantCode(t, err, "")
	if preview.Adopters != 3 || preview.Losing != 2 {
		t.Errorf("preview %+v", preview)
	}
}
