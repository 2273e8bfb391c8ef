package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"capstore/internal/catalog"
	"capstore/views/browsertest"
)

// The panel in a browser: every way of looking at a comparison is clean, and
// with script its parts come into the page that is there.
func TestVersionsInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.twoVersions(
		skillSpec(t, numbered(60, 0, ""), "old.md", "kept\nas it is\n"),
		skillSpec(t, numbered(60, 30, "thirty"), "new.md", "kept\nas it is\n", "run.sh", "echo \u202e\n"))
	tab, server := s.browse(ada)
	audit(t, tab, server, path, path+"&view=split&part=%2Fspec%2Finstructions%401-26")

	tab.Visit(server+path, auditViews[0])
	tab.Do(chromedp.Click(`.diff-fold a`), chromedp.WaitVisible(`tr[data-run="1"]`))
	if n := browsertest.Eval[int](tab, `document.querySelectorAll('tr[data-run="1"]').length`); n != 26 {
		t.Errorf("%d lines are opened", n)
	}

	long := numbered(1300, 0, "")
	s.offer(ada, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: skillSpec(t, "# Do", "big.txt", long)})
	s.offer(ada, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: skillSpec(t, "# Do", "big.txt", strings.ReplaceAll(long, "line", "row"))})
	tab.Visit(server+"/acme/store/acme/guide?tab=versions", auditViews[0])
	rows := `document.querySelectorAll("#diff-0 .diff-add, #diff-0 .diff-del").length`
	tab.Do(chromedp.Click(`#diff-0 .diff-after a`))
	browsertest.Wait(tab, rows+" == 2600")
	tab.Do(chromedp.Click(`nav a[href*="view=split"]`), chromedp.WaitVisible(`.diff[data-wrap]`))
	browsertest.Wait(tab, `location.search.includes("view=split")`)
	for _, trouble := range tab.Troubles() {
		t.Error(trouble)
	}
}
