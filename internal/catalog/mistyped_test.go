package catalog_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func TestMistypedWords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	add := func(name string, reach capability.Reach, tags ...string) {
		p := code(name, "print(1)")
		p.Visibility, p.Tags = reach, tags
		b.publish(t, b.author, p)
	}
	add("Invoice sync", capability.ReachWorkspace, "accounting")
	add("Invoice archive", capability.ReachWorkspace)
	add("Calender export", capability.ReachWorkspace)
	add("Calendar import", capability.ReachWorkspace)
	add("Zebrafish secret", capability.ReachPrivate)
	for typed, want := range map[string]struct {
		found     []string
		corrected string
	}{
		"invoice":         {[]string{"invoice-archive", "invoice-sync"}, ""},
		"invioce":         {[]string{"invoice-archive", "invoice-sync"}, "invoice"},
		"invoce sync":     {[]string{"invoice-sync"}, "invoice sync"},
		"invoice snc":     {[]string{}, ""}, // three letters may be anything
		"acounting invo":  {[]string{"invoice-sync"}, "accounting invo"},
		"imvoice archve":  {[]string{"invoice-archive"}, "invoice archive"},
		"calender":        {[]string{"calender-export", "calendar-import"}, ""},
		"calendar":        {[]string{"calendar-import", "calender-export"}, ""},
		"zebrafsh":        {[]string{}, ""}, // what one may not read is no word
		"invvoicce":       {[]string{}, ""},
		"accountin":       {[]string{"invoice-sync"}, ""}, // the word as far as it was typed
		"invoice nothing": {[]string{}, ""},
	} {
		page, err := b.store.Browse(t.Context(), b.viewer, catalog.Query{Q: typed, Sort: catalog.SortRelevance, Counts: true})
		wantCode(t, err, "")
		if diff := cmp.Diff(want.found, ids(page)); diff != "" || page.Corrected != want.corrected || page.Total.N != len(want.found) {
			t.Errorf("%q is taken for %q, %d in all:\n%s", typed, page.Corrected, page.Total.N, diff)
		}
	}
	page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Q: "zebrafsh"})
	wantCode(t, err, "")
	if len(page.Items) != 1 || page.Corrected != "zebrafish" {
		t.Errorf("to its creator %v, for %q", ids(page), page.Corrected)
	}
}

// A walk is about what its first page was about, even when the mistyped word is
// written meanwhile.
func TestAWalkKeepsWhatAWordWasTakenFor(t *testing.T) {
	t.Parallel()
	for _, sort := range []catalog.Sort{catalog.SortCreated, catalog.SortRelevance} {
		b := setup(t)
		b.shelf(t, 6)
		pages, _ := b.walk(t, catalog.Query{Q: "toool", Sort: sort, Limit: 2}, func(page int) {
			for i := range 3 {
				if page > 1 {
					break
				}
				p := code(fmt.Sprintf("%s toool %d", sort, 3*page+i), "print(1)")
				p.Visibility = capability.ReachWorkspace
				b.publish(t, b.author, p)
			}
		})
		seen := 0
		for _, id := range []string{"tool-00", "tool-01", "tool-02", "tool-03", "tool-04", "tool-05"} {
			for _, page := range pages {
				seen += count(page, id)
			}
		}
		if seen != 6 {
			t.Errorf("%s: %v", sort, pages)
		}
	}
}
