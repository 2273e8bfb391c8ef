package web_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ignoreReference lets two answers differ in their reference numbers.
var ignoreReference = cmp.Transformer("reference", func(s string) string {
	return regexp.MustCompile(`[A-Z2-7]{10}`).ReplaceAllString(s, "REF")
})

func TestErrorPagesSayWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	viewer := s.as(vera)
	for _, tc := range []struct {
		path   string
		status int
	}{
		{"/acme/nothing/here", 404},
		{"/acme/settings/members/invite", 403},
	} {
		page := viewer.get(tc.path).status(tc.status)
		page.find("main h1")
		page.find("main code")
		page.find("main a.btn")
		page.find(".sidebar a[href='/acme/store']")
		if tc.status == 403 && !strings.Contains(page.text("main"), "admin") {
			t.Errorf("%s does not say who can: %s", tc.path, page.text("main"))
		}
	}
}

func TestFaultsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.as(vera)
	browser.header.Set("Accept-Language", "ko")
	for _, path := range []string{"/acme/settings/members/invite", "/acme/nothing"} {
		if main := browser.get(path).text("main p"); regexp.MustCompile(`[a-z]{3}`).MatchString(main) {
			t.Errorf("%s speaks English: %s", path, main)
		}
	}
	bad := browser.post("/workspaces/new", "workspaceName", "", "slug", "NO").status(422)
	if got := bad.text("#field-slug-error"); regexp.MustCompile(`[a-z]{3}`).MatchString(got) {
		t.Errorf("the field's fault speaks English: %s", got)
	}
}

func TestAFragmentFailsWithAToast(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got := s.as(vera).htmx().get("/acme/settings/members/invite").status(403)
	got.none("html[lang]")
	got.find("[hx-swap-oob] .toast")
}

// Without a database nothing can be known of the reader; the page says so in
// his browser's language and never what failed inside.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.as(ada)
	browser.header.Set("Accept-Language", "ko")
	s.db.Close()
	page := browser.get("/acme/settings/members").status(503)
	page.find("html[lang=ko] main h1")
	page.find("main code")
	for _, leak := range []string{"pgx", "pool", "dial tcp", "SELECT"} {
		if strings.Contains(page.Body, leak) {
			t.Errorf("the page says %q", leak)
		}
	}
	s.stranger().get("/login").status(503)
	s.stranger().get("/healthz").status(200)
	s.stranger().get("/readyz").status(503)
}
