package web_test

import "testing"

func TestStrangerIsSentToSignInAndBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.stranger().get("/account").leadsTo("/login?next=%2Faccount")
	page := s.stranger().get("/login?next=%2Faccount").status(200)
	if got := page.find("form[action='/login'] input[name=next]").AttrOr("value", ""); got != "/account" {
		t.Fatalf("next is %q", got)
	}
}
