package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// Whatever is published, edited, moved between shelves and deleted while one
// walks, by whom and in what order: what was there throughout, visible to the
// reader and found by his query, comes exactly once, and nothing comes twice.
func TestAWalkSeesWhatWasThereThroughoutOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rapid.Check(t, func(t *rapid.T) {
		w := walker{b: b, round: roundWord()}
		q := catalog.Query{
			Q:     rapid.SampledFrom([]string{w.round, w.round + " tool", w.slip()}).Draw(t, "words"),
			Sort:  rapid.SampledFrom([]catalog.Sort{catalog.SortCreated, catalog.SortNewest}).Draw(t, "order"),
			Limit: rapid.IntRange(1, 5).Draw(t, "limit"),
		}
		n := rapid.IntRange(1, 12).Draw(t, "there before")
		for i := range n {
			w.publish(t, i, rapid.SampledFrom([]capability.Reach{capability.ReachWorkspace, capability.ReachPublic}).Draw(t, "reach"))
		}
		gone := map[string]bool{}
		var seen []string
		for page := 0; ; page++ {
			got, err := b.store.Browse(context.Background(), b.viewer, q)
			if err != nil {
				t.Fatalf("page %d: %v", page, err)
			}
			seen = append(seen, ids(got)...)
			if q.Cursor = got.NextCursor; q.Cursor == "" {
				break
			}
			w.writeAtOnce(t, n, gone)
			if page > 40 {
				t.Fatal("the walk does not end")
			}
		}
		for i := range n {
			id := w.id(i)
			if c := count(seen, id); c != 1 && !(gone[id] && c == 0) {
				t.Fatalf("%s came %d times in %v", id, c, seen)
			}
		}
		slices.Sort(seen)
		if len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Fatalf("some came twice: %v", seen)
		}
	})
}

// walker writes capabilities whose names share a word of the round.
type walker struct {
	b     *bundle
	round string
	late  int
}

// roundWord is a word that nothing else holds, the same draws or not.
func roundWord() string {
	id := uuid.New()
	word := make([]byte, 12)
	for i := range word {
		word[i] = 'a' + id[i]%26
	}
	return string(word)
}

func (w *walker) id(i int) string { return fmt.Sprintf("%s-tool-%d", w.round, i) }

// slip is the round's word mistyped.
func (w *walker) slip() string { return w.round[:5] + w.round[6:] }

func (w *walker) publish(t *rapid.T, i int, reach capability.Reach) {
	p := code(fmt.Sprintf("%s tool %d", w.round, i), "print(1)")
	p.ID, p.Visibility = w.id(i), reach
	if _, err := w.b.store.Publish(context.Background(), w.b.admin, p); err != nil {
		t.Fatalf("publish: %v", err)
	}
}

// writeAtOnce draws some writes and runs them side by side.
func (w *walker) writeAtOnce(t *rapid.T, n int, gone map[string]bool) {
	ctx := context.Background()
	var writes []func() error
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, min(n, 3), rapid.ID[int]).Draw(t, "touched") {
		id := w.id(i)
		if gone[id] {
			continue
		}
		switch rapid.SampledFrom([]string{"edit", "move", "delete", "deprecate"}).Draw(t, "write") {
		case "edit":
			p := code(fmt.Sprintf("%s tool %d", w.round, i), fmt.Sprintf("print(%d)", w.late))
			p.ID = id
			writes = append(writes, func() error { _, err := w.b.store.Publish(ctx, w.b.admin, p); return err })
		case "move":
			reach := rapid.SampledFrom([]capability.Reach{capability.ReachWorkspace, capability.ReachPublic}).Draw(t, "to")
			writes = append(writes, func() error { return w.b.store.Update(ctx, w.b.admin, "acme", id, catalog.Patch{Reach: &reach}) })
		case "deprecate":
			writes = append(writes, func() error {
				return w.b.store.Update(ctx, w.b.admin, "acme", id, catalog.Patch{Deprecated: &catalog.Deprecation{Note: "Old."}})
			})
		case "delete":
			gone[id] = true
			writes = append(writes, func() error { return w.b.store.Delete(ctx, w.b.admin, "acme", id) })
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "new") {
		if w.late++; w.late > 20 { // else a walk by the oldest first has no end
			break
		}
		p := code(fmt.Sprintf("%s tool late %d", w.round, w.late), "print(1)")
		p.ID, p.Visibility = w.id(100+w.late), capability.ReachPublic
		writes = append(writes, func() error { _, err := w.b.store.Publish(ctx, w.b.admin, p); return err })
	}
	var wg sync.WaitGroup
	errs := make([]error, len(writes))
	for i, write := range writes {
		wg.Go(func() { errs[i] = write() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("write: %v", err)
		}
	}
}
