package web_test

import (
	"strings"
	"testing"

	"capstore/internal/identity"
)

const goodPassword = "correct horse battery"

// setPassword gives somebody without a password one.
func (s *site) setPassword(email, password string) {
	s.t.Helper()
	must(s.t, s.Root.Identity.ChangePassword(s.t.Context(), s.subject(email), "", password, ""))
}

func TestProfile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.as(max)
	bad := browser.post("/account", "name", "", "locale", "ko", "theme", "dark").status(422)
	bad.find("#field-name[aria-invalid=true]")
	bad.find("select[name=locale] option[value=ko][selected]")
	saved := browser.post("/account", "name", "Max M.", "locale", "ko", "theme", "dark")
	saved.leadsTo("/account")
	if got := strings.Join(saved.Header.Values("Set-Cookie"), " "); !strings.Contains(got, "theme=; Path=/; Max-Age=0") {
		t.Errorf("this machine's theme stays before the account's: %q", got)
	}
	page := browser.get("/account").status(200)
	page.find("html[lang=ko][data-theme=dark]")
	page.find("[role=status], [role=alert], .callout")
	if got := page.find("input[name=name]").AttrOr("value", ""); got != "Max M." {
		t.Errorf("the name is %q", got)
	}
}

func TestChangePasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.setPassword(max, goodPassword)
	here, elsewhere := s.as(max), s.as(max)
	bad := here.post("/account/security", "password", "not this", "newPassword", "a longer one than that").status(422)
	bad.find("#field-password[aria-invalid=true]")
	if strings.Contains(bad.Body, "a longer one") {
		t.Error("the password came back")
	}
	here.post("/account/security", "password", goodPassword, "newPassword", "short").status(422).find("#field-newpassword[aria-invalid=true]")
	here.post("/account/security", "password", goodPassword, "newPassword", "another horse battery").leadsTo("/account/security")
	here.get("/account").status(200)
	elsewhere.get("/account").leadsTo("/login?next=%2Faccount")
}

func TestSessionsEndOneByOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	here, elsewhere, foreign := s.as(max), s.as(max), s.as(gus)
	list := here.get("/account/security").status(200)
	if n := list.find("li.row").Length(); n != 2 {
		t.Fatalf("%d sessions, want 2", n)
	}
	other := list.find("li.row input[name=session]").AttrOr("value", "")
	foreign.post("/account/security/sessions", "session", other).status(404)
	elsewhere.get("/account").status(200)
	here.post("/account/security/sessions", "session", other).leadsTo("/account/security")
	elsewhere.get("/account").leadsTo("/login?next=%2Faccount")
	s.as(max)
	here.post("/account/security/sessions").leadsTo("/account/security")
	here.get("/account/security").status(200).none("li.row input[name=session]")
}

func TestTokenIsShownOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.as(max)
	browser.get("/account/tokens").status(200).find("a[href='/account/tokens/new']")
	form := browser.get("/account/tokens/new").status(200)
	if n := form.find("select[name=workspace] option").Length(); n != 2 {
		t.Errorf("%d workspaces to choose from, want 2", n)
	}
	bad := browser.post("/account/tokens/new", "workspace", "globex", "name", "", "scope", "all", "expires", "x").status(422)
	bad.find("#field-name[aria-invalid=true]")
	bad.find("a[href='#field-scope']")
	bad.find("#field-expires[aria-invalid=true]")
	bad.find("select[name=workspace] option[value=globex][selected]")
	made := browser.post("/account/tokens/new", "workspace", "acme", "name", "laptop", "scope", "write", "expires", "7").status(200)
	credential := strings.TrimSpace(made.text("#credential"))
	if !strings.HasPrefix(credential, identity.TokenPrefix) || made.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("credential %q, kept as %q", credential, made.Header.Get("Cache-Control"))
	}
	who, err := s.Root.Identity.ByToken(t.Context(), credential, "acme")
	if err != nil || who.Scope != "write" {
		t.Fatalf("the token speaks for %+v, %v", who, err)
	}
	list := browser.get("/account/tokens").status(200)
	if strings.Contains(list.Body, credential) {
		t.Error("the credential is shown again")
	}
	id := list.find("input[name=token]").AttrOr("value", "")
	s.as(gus).post("/account/tokens/revoke", "token", id).status(404)
	browser.post("/account/tokens/revoke", "token", id).leadsTo("/account/tokens")
	if _, err := s.Root.Identity.ByToken(t.Context(), credential, "acme"); err == nil {
		t.Error("a revoked token still works")
	}
	s.as(lone).post("/account/tokens/new", "workspace", "acme", "name", "x", "scope", "read", "expires", "7").status(403)
}

func TestHintsStayAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.as(max)
	browser.post("/account/hints", "hint", "first-steps", "next", "/acme/store").leadsTo("/acme/store")
	browser.post("/account/hints", "hint", "first-steps", "next", "https://evil.test/").leadsTo("/")
	who, err := s.Root.Identity.PrincipalOf(t.Context(), s.subject(max), "")
	must(t, err)
	if len(who.Dismissed) != 1 || who.Dismissed[0] != "first-steps" {
		t.Errorf("put away: %q", who.Dismissed)
	}
}
