package web_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHomeLeadsToTheOnlyWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(ada).get("/").leadsTo("/acme/store")
	s.as(ada).get("/acme").leadsTo("/acme/store")
	s.as(ada).get("/?all=1").status(200).find("a.row-link[href='/acme/store']")
	both := s.as(max).get("/").status(200)
	if n := both.find("a.row-link").Length(); n != 2 {
		t.Errorf("%d workspaces, want 2", n)
	}
	if n := len(both.Statements); n != 2 {
		t.Errorf("%d statements, want the session's and the principal's: %q", n, both.Statements)
	}
	none := s.as(lone).get("/").status(200)
	none.find("main a[href='/workspaces/new'][data-variant=primary]")
	none.none("a.row-link")
}

func TestAWorkspaceIsNoneForOutsiders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	alien := s.as(gus)
	for _, path := range []string{"", "/settings/members", "/settings/secrets", "/settings/secrets/new", "/settings/members/invite"} {
		theirs, nobodys := alien.get("/acme"+path).status(404), alien.get("/nowhere"+path).status(404)
		if diff := cmp.Diff(theirs.text("main > *:not(footer)"), nobodys.text("main > *:not(footer)"), ignoreReference); diff != "" {
			t.Errorf("%s tells apart (-theirs +nobody's):\n%s", path, diff)
		}
		if diff := cmp.Diff(theirs.Statements, nobodys.Statements); diff != "" {
			t.Errorf("%s: statements differ:\n%s", path, diff)
		}
	}
}

func TestCreateWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.as(lone)
	for _, tc := range []struct{ name, slug, field string }{
		{"", "", "slug"},
		{"Acme again", "acme", "slug"},
		{"Mine", "account", "slug"},
		{"Mine", "NO!", "slug"},
		{"한빛물류", "", "slug"},
		{"two\nlines", "lines", "workspaceName"},
	} {
		bad := browser.post("/workspaces/new", "workspaceName", tc.name, "slug", tc.slug).status(422)
		field := "field-" + strings.ToLower(tc.field)
		bad.find("#" + field + "[aria-invalid=true]")
		bad.find("a[href='#" + field + "']")
		if got := bad.find("input[name=slug]").AttrOr("value", ""); got != tc.slug {
			t.Errorf("typed %q became %q", tc.slug, got)
		}
	}
	browser.post("/workspaces/new", "workspaceName", "Lone Müller & Co", "slug", "").leadsTo("/lone-muller-co/store")
	browser.get("/lone-muller-co/settings/members").status(200).find("a[href='/lone-muller-co/settings/members/invite']")
}
