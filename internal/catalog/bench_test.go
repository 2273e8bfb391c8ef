package catalog

import (
	"encoding/json"
	"fmt"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/pg/pgtest"
)

// BenchmarkBrowse shows what a page costs by words, order and size of the
// store: the words hold 0.01 %, 5 %, 33 % and 60 % of the rows. What is counted
// beside them is known from the page before, or counted anew.
func BenchmarkBrowse(b *testing.B) {
	pages := []Query{
		{Scope: ScopeStore, Sort: SortRelevance},
		{Q: "rare", Sort: SortRelevance}, {Q: "some", Sort: SortRelevance}, {Q: "common", Sort: SortRelevance},
		{Q: "common", Sort: SortNewest}, {Q: "common", Sort: SortAdopted},
		{Q: "rare common", Sort: SortRelevance}, {Q: "some common", Sort: SortNewest}, {Q: "common third", Sort: SortRelevance},
		{Q: "common", Tags: []string{"mail"}, Sort: SortRelevance}, {Kinds: []capability.Kind{capability.KindHook}, Sort: SortNewest},
	}
	for _, n := range []int{1_000, 10_000, 100_000} {
		db := pgtest.New(b)
		me := crowd(b, db, n)
		s := New(db, Options{})
		for _, q := range pages {
			for _, counts := range []string{"none", "known", "anew"} {
				q.Counts = counts != "none"
				b.Run(fmt.Sprintf("n=%d/q=%s/tags=%v/kinds=%v/%s/counts=%s", n, q.Q, q.Tags, q.Kinds, q.Sort, counts), func(b *testing.B) {
					for b.Loop() {
						if counts == "anew" {
							s = New(db, Options{})
						}
						if _, err := s.Browse(b.Context(), me, q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkPublish shows what a new version and its place in the index cost.
func BenchmarkPublish(b *testing.B) {
	db := pgtest.New(b)
	me := crowd(b, db, 1_000)
	s := New(db, Options{})
	n := 0
	for b.Loop() {
		n++
		spec, err := json.Marshal(map[string]any{"type": "command", "template": fmt.Sprintf("Say %d to the people.", n)})
		if err != nil {
			b.Fatal(err)
		}
		_, err = s.Publish(b.Context(), me, Publication{Name: "Greeting", Description: "Says something to the people.", Spec: spec})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGet shows what a detail page asks of the store.
func BenchmarkGet(b *testing.B) {
	s := New(pgtest.New(b), Options{})
	if err := s.SeedFirstParty(b.Context()); err != nil {
		b.Fatal(err)
	}
	me := capability.Actor{Workspace: "acme", Subject: "6b1f0f0e-0000-7000-8000-000000000000", Role: capability.RoleViewer}
	for b.Loop() {
		if _, err := s.Get(b.Context(), me, capability.FirstPartyOwner, "grafana"); err != nil {
			b.Fatal(err)
		}
	}
}
