package web_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

// signer is a code tool of globex that wants a secret and offers to write.
func (s *site) signer(readOnly bool) catalog.VersionInfo {
	s.t.Helper()
	spec := `{"type":"code","language":"python","isReadOnly":` + map[bool]string{true: "true", false: "false"}[readOnly] + `,
		"code":"print('{}') # <script>alert(1)</script>","parametersSchema":{"type":"object"},
		"requiredSecrets":[{"name":"SIGN_KEY","description":"Any text."}],"egress":["api.example.com"]}`
	p := catalog.Publication{Name: "signer", Description: "Signs.", Spec: []byte(spec)}
	if _, err := s.Catalog.Get(s.t.Context(), s.actor(gus, "globex"), "globex", "signer"); err != nil {
		p.Visibility = capability.ReachPublic
	}
	return s.publish(gus, "globex", p)
}

func TestAdoptingForeignCode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.signer(false)
	const path = "/acme/store/globex/signer/adopt"
	member := s.as(max)

	page := member.get(path).status(200)
	page.find("input[name=consentDigest]:not([checked])")
	page.find("input[name=writeTool]:not([checked])")
	page.find("input[name=host]:not([checked])")
	page.find("select[name='secretBindings.SIGN_KEY']")
	page.none("main script")
	if code := page.text("main pre, main .code"); !strings.Contains(code, "alert(1)") {
		t.Error("the source that is agreed to is not shown")
	}

	refused := member.post(path, "version", v.Version, "newSecret.SIGN_KEY", "a-canary-value").status(422)
	if refused.text("[id^=field-consent][id$=-error]") == "" {
		t.Errorf("missing consent is not told at its box: %s", refused.text("form, .error-summary"))
	}
	if strings.Contains(refused.Body, "a-canary-value") {
		t.Error("the form gives a secret's value back")
	}

	member.post(path, "version", v.Version, "consentDigest", v.Digest, "secretBindings.SIGN_KEY", "SIGN_KEY", "host", "api.example.com").
		leadsTo("/acme/store/globex/signer")
	config, err := s.Workspace.Config(t.Context(), s.actor(max, "acme"))
	must(t, err)
	got := config.Config.Adopted("globex", "signer")
	if got == nil || got.Version != v.Version || got.ConsentDigest != v.Digest || got.EnableWrite ||
		got.SecretBindings["SIGN_KEY"] != "SIGN_KEY" || len(got.Egress) != 1 {
		t.Fatalf("adopted %+v", got)
	}

	member.post(path, "version", v.Version, "consentDigest", v.Digest, "secretBindings.SIGN_KEY", "SIGN_KEY", "writeTool", "signer").
		leadsTo("/acme/store/globex/signer")
	config, err = s.Workspace.Config(t.Context(), s.actor(max, "acme"))
	must(t, err)
	if got := config.Config.Adopted("globex", "signer"); !got.EnableWrite || len(got.Egress) != 0 {
		t.Errorf("after the second form %+v", got)
	}
	member.get(path).find("input[name=writeTool][checked]")

	member.post("/acme/store/globex/signer/unadopt").leadsTo("/acme/settings/agent")
	config, err = s.Workspace.Config(t.Context(), s.actor(max, "acme"))
	must(t, err)
	if config.Config.Adopted("globex", "signer") != nil {
		t.Error("it is still adopted")
	}
}

func TestWhatCannotBeAdoptedSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.signer(true)
	skill := catalog.Publication{
		Name: "how-to", Description: "How.", Visibility: capability.ReachPublic, Spec: []byte(`{"type":"skill","instructions":"Step by step."}`),
	}
	s.publish(gus, "globex", skill)
	s.publish(max, "acme", catalog.Publication{
		Name: "mine", Description: "Mine.", Visibility: capability.ReachPrivate, Spec: []byte(`{"type":"command","template":"x"}`),
	})
	for name, tc := range map[string]struct {
		who, path, says string
	}{
		"a viewer":            {vera, "/acme/store/globex/signer/adopt", "member or admin"},
		"a skill":             {max, "/acme/store/globex/how-to/adopt", "copied"},
		"a private one":       {max, "/acme/store/acme/mine/adopt", "private"},
		"withdrawn or absent": {max, "/acme/store/globex/signer/adopt?version=9.9.9", ""},
	} {
		browser := s.as(tc.who)
		page := browser.get(tc.path)
		if tc.says == "" {
			page.status(404)
			continue
		}
		if text := page.status(200).text("main"); !strings.Contains(text, tc.says) {
			t.Errorf("%s: the page does not say why: %s", name, text)
		}
		if got := browser.post(tc.path); got.Status < 400 {
			t.Errorf("%s: the server took it: %d", name, got.Status)
		}
	}
	config, err := s.Workspace.Config(t.Context(), s.actor(max, "acme"))
	must(t, err)
	if len(config.Config.Capabilities) != 0 {
		t.Errorf("adopted %+v", config.Config.Capabilities)
	}
}

func TestCopyingASkill(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(gus, "globex", catalog.Publication{
		Name: "how-to", Description: "How.", Visibility: capability.ReachPublic, Version: "2.1.0",
		Spec: []byte(`{"type":"skill","instructions":"Step by step."}`),
	})
	s.as(vera).post("/acme/store/globex/how-to/copy").status(403)
	s.as(max).post("/acme/store/globex/how-to/copy").leadsTo("/acme/settings/skills")
	skills, err := s.Workspace.Skills(t.Context(), s.actor(vera, "acme"))
	must(t, err)
	if len(skills) != 1 || skills[0].Name != "how-to" {
		t.Fatalf("the library has %+v", skills)
	}
	s.as(max).post("/acme/store/globex/how-to/copy").status(409)
}

func TestARepinShowsWhatItChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.signer(true)
	member := s.as(max)
	member.post("/acme/store/globex/signer/adopt", "version", first.Version, "consentDigest", first.Digest).leadsTo("/acme/store/globex/signer")
	next := s.signer(false)
	page := member.get("/acme/store/globex/signer/adopt?version=" + next.Version).status(200)
	page.find("a[href*='base=" + first.Version + "']")
	if text := page.text("main section[aria-labelledby=adopt-powers]"); text == "" {
		t.Error("nothing is said of what the new version can do")
	}
	page.find("input[name=consentDigest]:not([checked])") // another text, another consent
	member.post("/acme/store/globex/signer/adopt", "version", next.Version, "consentDigest", first.Digest).status(422)
	config, err := s.Workspace.Config(t.Context(), s.actor(max, "acme"))
	must(t, err)
	if got := config.Config.Adopted("globex", "signer"); got.Version != first.Version {
		t.Errorf("the pin moved to %s without consent", got.Version)
	}
	_, err = s.Catalog.Version(t.Context(), s.actor(max, "acme"), "globex", "signer", "0.0.1")
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("an absent version: %v", err)
	}
}

// A workspace that lets a server write everything is asked anew about a tool
// that a later version brings.
func TestAWritingToolThatIsNewIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	server := func(tools, classes string) catalog.Publication {
		return catalog.Publication{ID: "desk", Name: "desk", Description: "A help desk.", Spec: []byte(
			`{"type":"mcp","url":"https://desk.example.com/mcp","write":true,"provides":[` + tools + `],"toolClasses":{` + classes + `}}`)}
	}
	first := server(`"search","answer","peek"`, `"search":"read","answer":"write","peek":"read"`)
	first.Visibility = capability.ReachPublic
	v := s.publish(gus, "globex", first)
	member, path := s.as(max), "/acme/store/globex/desk/adopt"
	member.post(path, "version", v.Version, "writeTool", "answer", "class.search", "read", "class.answer", "write", "class.peek", "read").status(303)
	must(t, s.allowAll(max, v))
	s.publish(gus, "globex", server(`"search","answer","peek","wipe"`, `"search":"read","answer":"write","peek":"write","wipe":"write"`))
	page := member.get(path).status(200)
	page.find("input[name=writeTool][value=answer][checked]")
	page.find("input[name=writeTool][value=wipe]:not([checked])")
	page.find("input[name=writeTool][value=peek]:not([checked])")
	if got := page.text("section[aria-labelledby=adopt-powers]"); !strings.Contains(got, "New power: These tools change things, or do not say that they only read: peek, wipe") {
		t.Errorf("the page says %q", got)
	}
}

// allowAll lets what was adopted write with all of its tools.
func (s *site) allowAll(email string, v catalog.VersionInfo) error {
	yes := true
	_, err := s.Workspace.Adopt(s.t.Context(), s.actor(email, "acme"), workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, EnableWrite: &yes, WriteTools: []string{},
	})
	return err
}
