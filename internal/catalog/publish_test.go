package catalog_test

import (
	"sync"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func TestPublishNew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := code("Count Words", "print(1)")
	p.Tags = []string{" text ", "Text", "count"}
	got := b.publish(t, b.author, p)
	v := got.Version
	if !got.Created || v.Source != "acme" || v.ID != "count-words" || v.Version != "1.0.0" || !v.Latest || v.Author.Name != "Ben" {
		t.Errorf("published %+v", got)
	}
	c, err := b.store.Get(t.Context(), b.author, "acme", "count-words")
	wantCode(t, err, "")
	if c.Access.Reach != capability.ReachPrivate || len(c.Tags) != 2 || c.Latest.Content.Digest() != v.Digest {
		t.Errorf("got %+v", c)
	}
	page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Counts: true})
	wantCode(t, err, "")
	if len(page.Items) != 1 || page.Items[0].Name != "Count Words" || page.Total != (catalog.Count{N: 1}) || !page.Items[0].Own {
		t.Errorf("page %+v", page)
	}
	for _, q := range []string{"count", "cou", "WORDS", "word", "says count", "count-w"} {
		for _, sort := range []catalog.Sort{catalog.SortCreated, catalog.SortNewest, catalog.SortAdopted, catalog.SortRelevance} {
			page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Q: q, Sort: sort, Counts: true})
			wantCode(t, err, "")
			if len(page.Items) != 1 || page.Total.N != 1 {
				t.Errorf("%q by %s found %+v", q, sort, page)
			}
		}
	}
	page, err = b.store.Browse(t.Context(), b.admin, catalog.Query{Counts: true})
	wantCode(t, err, "")
	if len(page.Items) != 0 || page.Total.N != 0 {
		t.Errorf("an admin browses another's private one: %+v", page)
	}
}

func TestTwentyWritersAtOnce(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name                       string
		body                       func(i int) string
		created, repeated, refused int
	}{
		{"equal content", func(int) string { return "same" }, 1, 19, 0},
		{"different content", func(i int) string { return "body " + string(rune('a'+i)) }, 1, 0, 19},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var mu sync.Mutex
			var wg sync.WaitGroup
			var created, repeated, refused int
			for i := range 20 {
				wg.Go(func() {
					p := code("Race", c.body(i))
					p.Version, p.Visibility = "1.0.0", capability.ReachWorkspace
					out, err := b.store.Publish(t.Context(), b.author, p)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err != nil:
						wantCode(t, err, "version_exists")
						refused++
					case out.Created:
						created++
					default:
						repeated++
					}
				})
			}
			wg.Wait()
			if created != c.created || repeated != c.repeated || refused != c.refused {
				t.Errorf("created %d, repeated %d, refused %d", created, repeated, refused)
			}
			versions, err := b.store.Versions(t.Context(), b.author, "acme", "race")
			wantCode(t, err, "")
			if len(versions) != 1 {
				t.Errorf("there are %d versions", len(versions))
			}
		})
	}
}
