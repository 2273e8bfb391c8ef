package web_test

import "testing"

var firstAdmin = []string{
	"name", "Ada", "email", ada, "password", goodPassword, "workspaceName", "Acme Logistics", "slug", "acme",
}

func TestSetupMakesTheFirstAdminOnce(t *testing.T) {
	t.Parallel()
	browser := emptySite(t).stranger()
	browser.get("/login").leadsTo("/setup")
	page := browser.get("/setup").status(200)
	page.none("input[name=token]")
	bad := browser.post("/setup", "name", "Ada", "email", "no address", "password", "short", "slug", "login").status(422)
	for _, field := range []string{"email", "password", "slug"} {
		bad.find("#field-" + field + "[aria-invalid=true]")
	}
	if got := bad.find("input[name=name]").AttrOr("value", ""); got != "Ada" {
		t.Errorf("the name typed became %q", got)
	}
	if got := bad.find("input[name=password]").AttrOr("value", ""); got != "" {
		t.Errorf("the password came back: %q", got)
	}
	browser.post("/setup", firstAdmin...).leadsTo("/acme/store")
	browser.get("/acme/settings/members").status(200).find("input[name=role], select[name=role]")
	browser.post("/setup", firstAdmin...).leadsTo("/login")
	browser.get("/setup").leadsTo("/login")
}

func TestSetupAsksForTheServersToken(t *testing.T) {
	t.Parallel()
	s := emptySite(t)
	token := s.Root.Identity.RequireSetupToken()
	browser := s.stranger()
	browser.get("/setup").status(200).find("input[name=token]")
	browser.post("/setup", append([]string{"token", "guess"}, firstAdmin...)...).status(422).find("#field-token[aria-invalid=true]")
	browser.post("/setup", append([]string{"token", token}, firstAdmin...)...).leadsTo("/acme/store")
}
