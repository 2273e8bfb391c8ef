package web_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
)

const secretValue = "sk-live-0123456789"

func TestSecretGoesInAndNeverComesOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.get("/acme/settings/secrets").status(200).find("main a[href='/acme/settings/secrets/new'][data-variant=primary]")
	bad := member.post("/acme/settings/secrets/new", "name", "not a name", "value", secretValue).status(422)
	bad.find("#field-name[aria-invalid=true]")
	if got := bad.find("input[name=name]").AttrOr("value", ""); got != "not a name" || strings.Contains(bad.Body, secretValue) {
		t.Errorf("name %q; the value comes back: %v", got, strings.Contains(bad.Body, secretValue))
	}
	member.post("/acme/settings/secrets/new", "name", "API_KEY", "value", " ").status(422).find("#field-value[aria-invalid=true]")
	member.post("/acme/settings/secrets/new", "name", "API_KEY", "value", secretValue+"\r\n", "next", "/acme/store").leadsTo("/acme/store")
	for _, path := range []string{"/acme/settings/secrets", "/acme/settings/secrets/API_KEY", "/acme/settings/secrets/API_KEY/delete"} {
		if page := member.get(path).status(200); strings.Contains(page.Body, secretValue) || !strings.Contains(page.Body, "API_KEY") {
			t.Errorf("%s shows the value or lacks the name", path)
		}
	}
	s.wantSecret(max, "API_KEY", secretValue)
	member.post("/acme/settings/secrets/new", "name", "API_KEY", "value", "by mistake").status(422).find("#field-name[aria-invalid=true]")
	s.wantSecret(max, "API_KEY", secretValue)
	member.post("/acme/settings/secrets/API_KEY", "value", "-----BEGIN\r\nabc\r\n-----END").leadsTo("/acme/settings/secrets")
	s.wantSecret(max, "API_KEY", "-----BEGIN\nabc\n-----END")
	member.post("/acme/settings/secrets/API_KEY/delete", "next", "//evil.test").leadsTo("/acme/settings/secrets")
	member.get("/acme/settings/secrets/API_KEY").status(404)
}

func (s *site) wantSecret(email, name, want string) {
	s.t.Helper()
	got, missing, err := s.Secrets.Resolve(s.t.Context(), "acme", s.subject(email), []string{name})
	must(s.t, err)
	if len(missing) > 0 || got[name].Reveal() != want {
		s.t.Fatalf("%s is %q, want %q", name, got[name].Reveal(), want)
	}
}

func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(max).post("/acme/settings/secrets/new", "name", "API_KEY", "value", secretValue).status(303)
	s.as(max).post("/acme/settings/secrets/new", "name", "OWN_KEY", "value", secretValue, "personal", "1").status(303)
	viewer := s.as(vera)
	list := viewer.get("/acme/settings/secrets").status(200)
	list.none("a[href='/acme/settings/secrets/API_KEY']")
	if strings.Contains(list.Body, "OWN_KEY") {
		t.Error("a member's own secret shows to others")
	}
	viewer.get("/acme/settings/secrets/API_KEY").status(403)
	viewer.post("/acme/settings/secrets/API_KEY", "value", "x").status(403)
	viewer.post("/acme/settings/secrets/API_KEY/delete").status(403)
	viewer.get("/acme/settings/secrets/OWN_KEY?personal=1").status(404)
	viewer.get("/acme/settings/secrets/new").status(200).find("input[name=personal][value=''][disabled]")
	viewer.post("/acme/settings/secrets/new", "name", "MINE", "value", "x").status(403)
	viewer.post("/acme/settings/secrets/new", "name", "MINE", "value", "x", "personal", "1").leadsTo("/acme/settings/secrets")
	s.as(ada).post("/acme/settings/secrets/API_KEY", "value", "new").leadsTo("/acme/settings/secrets")
}

func TestOwnSecretsOnTheAccountPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(lone).get("/account/secrets").status(200).find("main a[href='/workspaces/new']")
	browser := s.as(max)
	browser.post("/globex/settings/secrets/new", "name", "G_KEY", "value", "x", "personal", "1", "next", "/account/secrets?workspace=globex").
		leadsTo("/account/secrets?workspace=globex")
	if page := browser.get("/account/secrets?workspace=globex").status(200); !strings.Contains(page.text("main"), "G_KEY") {
		t.Error("the secret is not listed")
	}
	if page := browser.get("/account/secrets").status(200); strings.Contains(page.text("main"), "G_KEY") {
		t.Error("a secret of another workspace is listed")
	}
	browser.get("/account/secrets?workspace=nowhere").status(404)
	s.as(ada).get("/account/secrets?workspace=globex").status(404)
}

func TestSecretsSayWhatUsesThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(ada).post("/acme/settings/secrets/new", "name", "API_KEY", "value", "x").status(303)
	v := s.publish(gus, "globex", catalog.Publication{
		Name: "tracking", Description: "Tracks parcels.", Visibility: capability.ReachPublic, Version: "1.0.0",
		Spec: capability.EncodeSpec(&capability.MCPSpec{
			URL: "https://mcp.example.com/mcp", RequiredSecrets: []capability.RequiredSecret{{Name: "TOKEN"}, {Name: "OTHER", Header: "X-Other"}},
		}),
	})
	_, err := s.Workspace.Adopt(t.Context(), s.actor(ada, "acme"), workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest,
		SecretBindings: map[string]string{"TOKEN": "API_KEY", "OTHER": "API_KEY"},
	})
	must(t, err)
	for _, path := range []string{"/acme/settings/secrets", "/acme/settings/secrets/API_KEY/delete"} {
		page := s.as(ada).get(path).status(200)
		if n := page.find("main a[href='/acme/store/globex/tracking']").Length(); n != 1 {
			t.Errorf("%s names its use %d times, want once", path, n)
		}
	}
	if page := s.as(ada).get("/acme/settings/secrets"); len(page.Statements) > 5 {
		t.Errorf("%d statements: %q", len(page.Statements), page.Statements)
	}
}
