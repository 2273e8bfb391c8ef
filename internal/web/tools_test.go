package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/i18n"
	"capstore/internal/secret"
	"capstore/internal/workspace"
	"capstore/views"
)

func TestEveryReasonHasWords(t *testing.T) {
	t.Parallel()
	for _, reason := range capability.Reasons {
		for _, l := range []i18n.Locale{i18n.English, i18n.Korean} {
			if !l.Has("reason." + string(reason)) {
				t.Errorf("%s has no words for %s", l.Lang(), reason)
			}
		}
	}
}

// tool publishes a code tool in acme that a member's agent could carry.
func (s *site) tool(id string, more map[string]any) catalog.VersionInfo {
	s.t.Helper()
	return s.publish(ada, "acme", catalog.Publication{
		ID: id, Name: id, Description: "Does " + id + ".", Spec: greetSpec(s.t, more), Visibility: capability.ReachWorkspace,
	})
}

// further publishes the next version of a tool.
func (s *site) further(id string, more map[string]any) catalog.VersionInfo {
	s.t.Helper()
	return s.publish(ada, "acme", catalog.Publication{ID: id, Name: id, Description: "Does " + id + ".", Spec: greetSpec(s.t, more)})
}

// row is the text of the list's row of that name.
func (a *answer) row(name string) string {
	a.t.Helper()
	for _, li := range a.Doc.Find("li.row").EachIter() {
		if li.Find(".row-link").Text() == name {
			return strings.Join(strings.Fields(li.Text()), " ")
		}
	}
	a.t.Fatalf("no row %q in:\n%s", name, a.text("main"))
	return ""
}

func (a *answer) says(selector string, words ...string) {
	a.t.Helper()
	text := a.text(selector)
	for _, w := range words {
		if !strings.Contains(text, w) {
			a.t.Errorf("%q does not say %q: %s", selector, w, text)
		}
	}
}

func TestToolsSayWhyEachIsOnOrOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("adopted", nil))
	s.tool("published", nil)
	s.pin(max, "acme", s.tool("waiting", map[string]any{"requiredSecrets": []map[string]any{{"name": "API_KEY"}}}))
	s.publish(max, "acme", catalog.Publication{ID: "mine", Name: "mine", Description: "Mine.", Spec: greetSpec(t, nil), Visibility: capability.ReachPrivate})
	page := s.as(max).get("/acme/settings/tools").status(200)
	for name, want := range map[string]string{
		"adopted":   "On: adopted by the workspace",
		"published": "Off: published here, adopted by nobody yet",
		"waiting":   "Waiting: it needs setup first (API_KEY)",
		"mine":      "Off: your own, until you switch it on",
	} {
		if got := page.row(name); !strings.Contains(got, want) {
			t.Errorf("%s says %q, want %q in it", name, got, want)
		}
	}
	page.find(`#scope-personal`)
	page.says("[role=status]", "1 of 4")
	if len(page.Statements) > 5 {
		t.Errorf("the list takes %d statements:\n%s", len(page.Statements), strings.Join(page.Statements, "\n"))
	}
	found := s.as(max).get("/acme/settings/tools?q=PUBL").status(200)
	if got := found.Doc.Find("li.row").Length(); got != 1 {
		t.Errorf("the filter leaves %d rows", got)
	}
	s.as(max).get("/acme/settings/tools?q=zzz").status(200).says("main", "Nothing here matches “zzz”")
}

func TestSwitchesAreTheMembersOwnAndTakenBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.tool("greet", nil)
	s.pin(max, "acme", v)
	path := views.ToolPath("acme", string(capability.CapabilityKey("acme", "greet")))
	member := s.as(max)
	member.post(path, "enabled", "false").leadsTo("/acme/settings/tools")
	page := member.get("/acme/settings/tools").status(200)
	page.says("main", "greet is off for you.")
	if got := page.row("greet"); !strings.Contains(got, "Off: you switched it off") || !strings.Contains(got, "follow the workspace") {
		t.Errorf("the row says %q", got)
	}
	if got := s.as(ada).get("/acme/settings/tools").row("greet"); !strings.Contains(got, "On: adopted") {
		t.Errorf("another member's row says %q", got)
	}
	undo := page.find(`form[action="` + path + `"] input[name=enabled]`).First()
	if got := undo.AttrOr("value", ""); got != "follow" {
		t.Errorf("undo would set %q", got)
	}
	member.post(path, "enabled", "follow", "next", "/acme/settings/agent").leadsTo("/acme/settings/agent")
	if got := member.get("/acme/settings/tools").row("greet"); !strings.Contains(got, "On: adopted") {
		t.Errorf("after following the row says %q", got)
	}
	member.post(path, "enabled", "false", "next", "//evil.test").leadsTo("/acme/settings/tools")
}

func TestASwitchAnswersHtmxWithItsList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("greet", nil))
	path := views.ToolPath("acme", string(capability.CapabilityKey("acme", "greet")))
	member := s.as(max).htmx()
	member.post(path, "enabled", "false").leadsTo("/acme/settings/tools")
	fragment := member.get("/acme/settings/tools").status(200)
	fragment.none("nav")
	fragment.find("#switches")
	fragment.find(`[hx-swap-oob] form[action="` + path + `"]`)
	member.get("/acme/settings/tools").status(200).none("[hx-swap-oob]")
}

func TestSwitchingOffWhatOthersLeanOnAsksFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("ground", nil))
	s.pin(max, "acme", s.tool("house", map[string]any{"requires": []string{"acme/ground"}}))
	path := views.ToolPath("acme", string(capability.CapabilityKey("acme", "ground")))
	member := s.as(max)
	question := member.post(path, "enabled", "false").status(200)
	question.says("main", "Switch off ground?", "house")
	if got := member.get("/acme/settings/tools").row("ground"); !strings.Contains(got, "On: adopted") {
		t.Errorf("it went off unasked: %q", got)
	}
	member.post(path, "enabled", "false", "confirmed", "1").leadsTo("/acme/settings/tools")
	if got := member.get("/acme/settings/tools").row("house"); !strings.Contains(got, "Leans on acme/ground") {
		t.Errorf("what leans on it says %q", got)
	}
}

func TestToolPageBindsSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("signer", map[string]any{"requiredSecrets": []map[string]any{{"name": "SIGN_KEY", "description": "From the vault."}}}))
	key := string(capability.CapabilityKey("acme", "signer"))
	path := views.ToolPath("acme", key)
	member := s.as(max)
	page := member.get(path).status(200)
	page.says("main", "Runs as a Python program in this server's sandbox, without a network.", "code__signer", "From the vault.", "not bound")
	if len(page.Statements) > 6 {
		t.Errorf("the page takes %d statements:\n%s", len(page.Statements), strings.Join(page.Statements, "\n"))
	}
	page.find(`a[href="` + views.NewSecretPath("acme", "SIGN_KEY", false, path) + `"]`)
	if _, err := s.Secrets.Set(t.Context(), s.actor(max, "acme"), secret.NewSecret{Name: "VAULT_KEY", Value: secret.NewValue("v")}); err != nil {
		t.Fatal(err)
	}
	wrong := member.post(views.ToolSecretsPath("acme", key), "secretBindings.SIGN_KEY", "not a name").status(http.StatusUnprocessableEntity)
	wrong.find("#field-secretbindings-sign-key-error")
	member.post(views.ToolSecretsPath("acme", key), "secretBindings.SIGN_KEY", "VAULT_KEY").leadsTo(path)
	ready := member.get(path).status(200)
	ready.says("main", "ready", "On: adopted by the workspace")
	ready.find(`a[href="` + views.NewChatPath("acme", "code__signer") + `"]`)

	viewer := s.as(vera).get(path).status(200)
	viewer.says("main", "Your role only looks here.")
	viewer.none(`select[name="secretBindings.SIGN_KEY"]`)
	s.as(vera).post(views.ToolSecretsPath("acme", key), "secretBindings.SIGN_KEY", "").status(http.StatusForbidden)
	s.as(vera).post(path, "enabled", "false").leadsTo("/acme/settings/tools")
}

func TestAskingAServerShowsWhatItOffers(t *testing.T) {
	t.Parallel()
	stub := mcptest.New(t, `{"name":"find","description":"Finds it.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
		{"name":"odd","inputSchema":{"type":"string"}}`)
	s := newSite(t)
	key := string(s.server(stub.URL, "library", "declared"))
	member, path := s.as(max), views.ToolPath("acme", key)
	before := member.get(path).status(200)
	before.says("main", "As its author lists them.", "mcp__library__declared")
	member.post(views.ToolProbePath("acme", key)).leadsTo(path)
	after := member.get(path).status(200)
	after.says("main", "library: 1 usable, 1 refused.", "mcp__library__find", "Finds it.", "odd: ")
	if strings.Contains(after.text("table"), "declared") {
		t.Errorf("what its author declared still stands there: %s", after.text("table"))
	}
	after.find(`a[href="` + views.NewChatPath("acme", "mcp__library__find") + `"]`)

	member.post(path, "enabled", "false").leadsTo("/acme/settings/tools")
	member.post(views.ToolProbePath("acme", key)).status(http.StatusNotFound)
	member.get(path).status(200).none(`form[action="` + views.ToolProbePath("acme", key) + `"]`)
}

func TestAskingAServerInTroubleSaysSo(t *testing.T) {
	t.Parallel()
	stub := mcptest.New(t, "")
	stub.Fail(hostileText)
	s := newSite(t)
	key := string(s.server(stub.URL, "broken", "declared"))
	member, path := s.as(max), views.ToolPath("acme", key)
	member.post(views.ToolProbePath("acme", key)).leadsTo(path)
	page := member.get(path).status(200)
	page.says("main", "broken could not be asked for its tools.")
	page.harmless()
}

func TestWhatCannotRunSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.tool("bad", nil)
	s.pin(max, "acme", v)
	s.pin(max, "acme", s.tool("denied", nil))
	must(t, s.Catalog.Block(t.Context(), s.actor(ada, "acme"), "acme", "bad", v.Version, "It leaks."))
	_, err := s.Workspace.Change(t.Context(), s.actor(ada, "acme"), workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "*denied*", Note: "House rule."}}
		return nil
	})
	must(t, err)
	member := s.as(max)
	member.get(views.ToolPath("acme", "capability:acme/bad")).status(200).says("main", "Its owner blocked this version: It leaks.")
	member.get("/acme/settings/agent").says("main", "Denied: *denied* House rule.")
	list := member.get("/acme/settings/tools")
	if got := list.row("denied"); !strings.Contains(got, "Off: a policy of the workspace denies it") {
		t.Errorf("the row says %q", got)
	}
	if got := list.row("bad"); !strings.Contains(got, "Stopped: its owner blocked this version") {
		t.Errorf("the row says %q", got)
	}
}
