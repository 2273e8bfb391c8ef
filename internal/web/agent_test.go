package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
	"capstore/views"
)

func TestAgentShowsWhatIsAdopted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("greet", nil))
	s.further("greet", map[string]any{"timeoutSec": 9})
	page := s.as(max).get("/acme/settings/agent").status(200)
	for _, want := range []string{"1.0.0", "reads only", "Pinned to 1.0.0", "update to 1.0.1"} {
		if got := page.row("greet"); !strings.Contains(got, want) {
			t.Errorf("the row says %q, want %q in it", got, want)
		}
	}
	page.find(`a[href="` + views.AdoptPath("acme", "acme", "greet", "1.0.1") + `"]`)
	if len(page.Statements) > 5 {
		t.Errorf("the page takes %d statements", len(page.Statements))
	}
	viewer := s.as(vera).get("/acme/settings/agent").status(200)
	viewer.says("main", "Your role only looks here.")
	viewer.none(`a[href="` + views.EndAdoptionPath("acme", "acme", "greet") + `"]`)
	s.as(gus).get("/globex/settings/agent").status(200).says("main", "Nothing is adopted")
}

func TestEndAnAdoption(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("ground", nil))
	s.pin(max, "acme", s.tool("house", map[string]any{"requires": []string{"acme/ground"}}))
	path := views.EndAdoptionPath("acme", "acme", "ground")
	s.as(max).get(path).status(200).says("main", "Remove ground from the agent?", "acme/ground@1.0.0", "house")
	s.as(vera).post(path).status(http.StatusForbidden)
	member := s.as(max)
	member.post(path).leadsTo("/acme/settings/agent")
	member.get("/acme/settings/agent").says("main", "ground is not adopted any more.")
	member.post(path).status(http.StatusNotFound)
}

func TestServersAreWiredByHand(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	wrong := member.post("/acme/settings/agent/servers/new", "name", "docs", "url", "ftp://nowhere", "serves", "Not Good").status(http.StatusUnprocessableEntity)
	wrong.find("#field-url-error")
	wrong.find("#field-serves-error")
	if got := wrong.find("#field-name").AttrOr("value", ""); got != "docs" {
		t.Errorf("the name became %q", got)
	}
	member.post("/acme/settings/agent/servers/new", "name", "docs", "url", "https://docs.test/mcp", "serves", "finance, law").
		leadsTo(views.ToolPath("acme", "mcp:docs"))
	member.get(views.ToolPath("acme", "mcp:docs")).status(200).says("main", "Calls go over HTTP to https://docs.test/mcp.")
	again := member.post("/acme/settings/agent/servers/new", "name", "Docs", "url", "https://docs.test/mcp").status(http.StatusUnprocessableEntity)
	again.find("#field-name-error")
	if got := member.get("/acme/settings/agent").row("docs"); !strings.Contains(got, "https://docs.test/mcp") || !strings.Contains(got, "reads only") {
		t.Errorf("the row says %q", got)
	}
	remove := views.RemoveServerPath("acme", "docs")
	member.get(remove).status(200).says("main", "Remove the server docs?")
	s.as(vera).post(remove).status(http.StatusForbidden)
	member.post(remove).leadsTo("/acme/settings/agent")
	member.get(remove).status(http.StatusNotFound)
}

func TestInstructionsAndMode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const path = "/acme/settings/agent/instructions"
	member := s.as(max)
	form := member.get(path).status(200)
	form.says("main", "Only an admin of this workspace changes this.")
	form.find(`input[value=bypass][disabled]`)
	form.find(`input[value=ask][checked]`)
	member.post(path, "version", "0", "instructions", "Be\r\nbrief.", "note", "house rule").leadsTo("/acme/settings/agent")
	member.get("/acme/settings/agent").says("main", "Saved as version 1", "brief.")
	if got := s.config("acme").Instructions; got != "Be\nbrief." {
		t.Errorf("stored %q", got)
	}
	member.post(path, "version", "1", "instructions", "Be brief.", "permissionMode", "bypass").status(http.StatusForbidden)

	stale := member.post(path, "version", "0", "instructions", "Be long.").status(http.StatusConflict)
	stale.says("main", "Somebody else saved in the meantime", "Be long.")
	if got := stale.find("input[name=version]").AttrOr("value", ""); got != "1" {
		t.Errorf("saving again would still start from %q", got)
	}
	member.post(path, "version", "1", "instructions", "x", "note", strings.Repeat("n", 600)).status(http.StatusUnprocessableEntity).find("#field-note-error")
	s.as(ada).post(path, "version", "1", "instructions", "Be brief.", "permissionMode", "plan").leadsTo("/acme/settings/agent")
	if got := s.config("acme").PermissionMode; got != capability.ModePlan {
		t.Errorf("the mode is %q", got)
	}
}

func (s *site) config(ws string) capability.AgentConfig {
	s.t.Helper()
	v, err := s.Workspace.Config(s.t.Context(), s.actor(ada, ws))
	must(s.t, err)
	return v.Config
}

func TestHistoryComparesTwoVersions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.get("/acme/settings/agent/history").status(200).says("main", "No changes yet")
	s.pin(max, "acme", s.tool("greet", nil))
	v := s.further("greet", map[string]any{"timeoutSec": 9})
	s.pin(ada, "acme", v)
	page := member.get("/acme/settings/agent/history").status(200)
	page.says("table", "Adoption acme/greet › version · 1.0.0 → 1.0.1", "Adoption acme/greet · added", "Ada", "Max")
	page.says("#compared", "From 1 to 2", "1.0.0", "1.0.1")
	member.get(views.AgentHistoryPath("acme", "2", "0", "")).status(200).says("#compared", "From 2 to 0", "removed")
	for _, path := range []string{
		views.AgentHistoryPath("acme", "1", "9", ""), views.AgentHistoryPath("acme", "x", "", ""), views.AgentHistoryPath("acme", "-1", "", ""),
	} {
		member.get(path).status(http.StatusNotFound)
	}
}

// TestHostileTextOfTheAgentStaysText puts markup and code wherever these pages
// show what others wrote.
func TestHostileTextOfTheAgentStaysText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const hostile = hostileText
	s.pin(max, "acme", s.publish(ada, "acme", catalog.Publication{
		ID: "h", Name: "h", Description: hostile, Visibility: capability.ReachWorkspace,
		Spec: greetSpec(t, map[string]any{"requiredSecrets": []map[string]any{{"name": "K", "description": hostile}}}),
	}))
	_, err := s.Workspace.Change(t.Context(), s.actor(max, "acme"), workspace.AnyVersion, hostile, func(c *capability.AgentConfig) error {
		c.Instructions = hostile + "\n[x](javascript:alert(1))"
		return nil
	})
	must(t, err)
	skill, err := s.Workspace.CreateSkill(t.Context(), s.actor(max, "acme"), workspace.SkillInput{
		Name: "hostile", Description: hostile, Version: "1.0.0", Note: hostile,
		Spec: &capability.SkillSpec{Instructions: hostile, License: hostile, AllowedTools: hostile, Files: []capability.File{{Path: "a.html", Content: hostile}}},
	})
	must(t, err)
	member := s.as(max)
	for _, path := range []string{
		"/acme/settings/tools", "/acme/settings/tools?q=" + "%3Cscript%3E", views.ToolPath("acme", "capability:acme/h"), "/acme/settings/agent",
		"/acme/settings/agent/history", "/acme/settings/agent/instructions", "/acme/settings/skills", views.SkillPath("acme", skill.ID),
		views.SkillFilePath("acme", skill.ID, "a.html", false), views.SkillTabPath("acme", skill.ID, views.TabSkillStamps), views.EditSkillPath("acme", skill.ID),
	} {
		member.get(path).status(200).harmless()
	}
}

func TestAdoptersSeeWhatBefellWhatTheyPin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10})})
	s.offer(gus, "globex", catalog.Publication{ID: "next", Name: "next", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	s.promote(gus, "globex", "next", capability.ReachPublic)
	member, actor := s.as(max), s.actor(gus, "globex")
	pages := []string{"/acme/settings/agent", "/acme/settings/tools", "/acme/settings/tools/capability:globex%2Fgreeter", "/acme/store?q=greeter", "/acme/store/globex/greeter"}
	everywhere := func(text, href string) {
		t.Helper()
		for _, path := range pages {
			page := member.get(path).status(200)
			page.says("main", text)
			if href != "" {
				page.find("main a[href='" + href + "']")
			}
		}
	}
	must(t, s.Catalog.Withdraw(t.Context(), actor, "globex", "greeter", "1.0.0"))
	everywhere("withdrawn", "")
	must(t, s.Catalog.Update(t.Context(), actor, "globex", "greeter", catalog.Patch{Deprecated: &catalog.Deprecation{Successor: "globex/next", Note: "Too polite."}}))
	everywhere("Too polite.", "/acme/store/globex/next")
	must(t, s.Catalog.Block(t.Context(), actor, "globex", "greeter", "1.0.0", "It leaks."))
	everywhere("It leaks.", "/acme/store/globex/next")
}
