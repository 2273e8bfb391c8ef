package web_test

import (
	"strings"
	"testing"
)

// invite makes an invitation as an admin does and returns the path of its link.
func (s *site) invite(role, email string) string {
	s.t.Helper()
	made := s.as(ada).post("/acme/settings/members/invite", "role", role, "email", email).status(200)
	link := strings.TrimSpace(made.text("#invitation-link"))
	path, ok := strings.CutPrefix(link, base)
	if !ok || !strings.HasPrefix(path, "/invite/") {
		s.t.Fatalf("the link is %q", link)
	}
	if got := made.Header.Get("Cache-Control"); got != "no-store" {
		s.t.Errorf("the page with the link may be kept: %q", got)
	}
	return path
}

func TestJoinWithANewAccount(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := s.invite("member", "new@acme.test")
	browser := s.stranger()
	page := browser.get(link).status(200)
	if got := page.find("input[name=email][readonly]").AttrOr("value", ""); got != "new@acme.test" {
		t.Errorf("the invited address is %q", got)
	}
	if got := page.find("main a[href^='/login']").AttrOr("href", ""); got != "/login?next="+strings.ReplaceAll(link, "/", "%2F") {
		t.Errorf("signing in leads to %q", got)
	}
	bad := browser.post(link+"/join", "email", "new@acme.test", "name", "Nia", "password", "short").status(422)
	bad.find("#field-password[aria-invalid=true]")
	if got := bad.find("input[name=name]").AttrOr("value", ""); got != "Nia" {
		t.Errorf("the name typed became %q", got)
	}
	taken := browser.post(link+"/join", "email", lone, "name", "Nia", "password", goodPassword).status(422)
	taken.find("a[href='#field-email']")
	browser.post(link+"/join", "email", "new@acme.test", "name", "Nia", "password", goodPassword).leadsTo("/acme/store")
	browser.get("/acme/settings/members").status(200)
	s.stranger().get(link).status(404)
}

func TestJoinAsWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := s.invite("viewer", "")
	browser := s.as(lone)
	browser.get(link).status(200).find("form[action='" + link + "'] button[type=submit]")
	browser.post(link).leadsTo("/acme/store")
	second := s.invite("admin", "")
	browser.post(second).leadsTo("/acme/store")
	browser.get(second).leadsTo("/acme/store")
	s.as(gus).get(second).status(200) // who is a member already leaves the link to another
	used := s.as(gus).get(link).status(404)
	if unknown := s.as(gus).get("/invite/unknown").status(404); used.text("main h1 + p") != unknown.text("main h1 + p") {
		t.Error("a used link and an unknown one read differently")
	}
}

func TestAnInvitationIsForItsAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := s.invite("admin", "new@acme.test")
	other := s.as(lone)
	other.get(link).status(200).find("form[action='" + link + "'] button[aria-disabled=true]")
	other.post(link).status(403)
	other.post("/logout", "next", link).leadsTo(link)
	other.get(link).status(200).find("form[action='" + link + "/join']")
}
