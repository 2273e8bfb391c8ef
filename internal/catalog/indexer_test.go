package catalog_test

import (
	"testing"

	"capstore/internal/catalog"
)

// An index that an older server made is made anew, once.
func TestAnOlderIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.shelf(t, 3)
	want := b.dump(t)
	for i, n := range []int{3, 0} {
		if i == 0 {
			b.exec(t, `UPDATE capability_lists SET n = 0`)
			b.exec(t, `DELETE FROM capability_terms`)
			b.exec(t, `DELETE FROM capability_words`)
			b.exec(t, `UPDATE capabilities SET facets = '{}'`)
		}
		done, err := b.store.Refresh(t.Context())
		wantCode(t, err, "")
		if done != n || b.dump(t) != want {
			t.Errorf("round %d went through %d", i, done)
		}
	}
	x := catalog.NewIndexer(b.store)
	wantCode(t, x.Start(t.Context()), "")
	x.Stop()
}
