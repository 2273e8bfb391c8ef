package web_test

import (
	"testing"
)

func TestStrangerIsSentToSignInAndBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.stranger().get("/account").leadsTo("/login?next=%2Faccount")
	page := s.stranger().get("/login?next=%2Faccount").status(200)
	if got := page.find("form[action='/login'] input[name=next]").AttrOr("value", ""); got != "/account" {
		t.Fatalf("next is %q", got)
	}
}

func TestSignInAndOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	browser := s.stranger()
	s.setPassword(ada, goodPassword)
	browser.post("/login", "email", ada, "password", goodPassword, "next", "//evil.test/x").leadsTo("/")
	browser.get("/account").status(200)
	browser.post("/logout").leadsTo("/login")
	browser.get("/account").leadsTo("/login?next=%2Faccount")
}

func TestTooManySignInsSaySoOnThePage(t *testing.T) {
	t.Parallel()
	browser := newSite(t).stranger()
	wrong := browser.post("/login", "email", ada, "password", "not this one").status(422)
	if got := wrong.find("input[name=email]").AttrOr("value", ""); got != ada {
		t.Errorf("the e-mail typed became %q", got)
	}
	wrong.none("input[name=password][value]:not([value=''])")
	var last *answer
	for range 30 {
		if last = browser.post("/login", "email", ada, "password", "not this one"); last.Status == 429 {
			break
		}
	}
	last.status(429)
	last.find("form[action='/login'] input[name=email]")
	if last.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
