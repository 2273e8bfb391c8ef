package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/browsertest"
)

func TestSettingsPagesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("greet", map[string]any{"requiredSecrets": []map[string]any{{"name": "API_KEY", "description": "From the vault."}}}))
	s.pin(max, "acme", s.tool("ground", nil))
	s.pin(max, "acme", s.tool("house", map[string]any{"requires": []string{"acme/ground"}}))
	s.further("greet", map[string]any{"timeoutSec": 9})
	_, err := s.Workspace.Change(t.Context(), s.actor(ada, "acme"), workspace.AnyVersion, "A server.", func(c *capability.AgentConfig) error {
		c.Instructions = "# House\n\nBe brief."
		c.MCPServers = []capability.RawServer{{Name: "docs", URL: "https://docs.test/mcp"}}
		return nil
	})
	must(t, err)
	skill, err := s.Workspace.CreateSkill(t.Context(), s.actor(max, "acme"), workspace.SkillInput{
		Name: "guide", Description: "A guide.", Version: "1.0.0",
		Spec: &capability.SkillSpec{Instructions: "# Guide\n\nOne.", Files: []capability.File{{Path: "scripts/a.py", Content: "print(1)\n"}}},
	})
	must(t, err)
	_, turn := s.ran(max, "code__ground")
	tab, server := s.browse(max)
	audit(t, tab, server, "/acme/settings/agent", views.HealthPath("acme", ""), views.SeenPath("acme", turn.String()), views.AgentHistoryPath("acme", "", "", ""), views.AgentInstructionsPath("acme"), views.NewServerPath("acme"),
		views.EndAdoptionPath("acme", "acme", "ground"), views.ToolsPath("acme", ""), views.ToolPath("acme", "capability:acme/greet"), views.ToolPath("acme", "mcp:docs"),
		views.SkillsPath("acme"), views.NewSkillPath("acme"), views.SkillPath("acme", skill.ID), views.SkillFilePath("acme", skill.ID, "scripts/a.py", false),
		views.SkillTabPath("acme", skill.ID, views.TabSkillStamps), views.EditSkillPath("acme", skill.ID), views.StampSkillPath("acme", skill.ID),
		views.PublishSkillPath("acme", skill.ID), views.DeleteSkillPath("acme", skill.ID))
}

// TestASwitchInABrowser goes the whole way with script: the list changes in
// place, the switch keeps the focus, the toast takes it back.
func TestASwitchInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("ground", nil))
	s.pin(max, "acme", s.tool("house", map[string]any{"requires": []string{"acme/ground"}}))
	tab, server := s.browse(max)
	tab.Visit(server+"/acme/settings/tools", browsertest.View{})
	browsertest.Eval[bool](tab, `window.here = true`)
	const toggle = `document.getElementById("switch-capability:acme%2Fhouse")`
	press := func(script string) {
		browsertest.Eval[bool](tab, `(() => { const e = `+script+`; e.focus(); e.click(); return true })()`)
	}

	press(toggle)
	browsertest.Wait(tab, toggle+`?.getAttribute("aria-checked") === "false"`)
	if !browsertest.Eval[bool](tab, `window.here === true && document.activeElement === `+toggle) {
		t.Errorf("the page was loaded anew or the focus is lost: %q", tab.Focused())
	}
	browsertest.Wait(tab, `!!document.querySelector("#toasts form")`)
	press(`document.querySelector("#toasts form button")`)
	browsertest.Wait(tab, toggle+`?.getAttribute("aria-checked") === "true"`)

	press(`document.getElementById("switch-capability:acme%2Fground")`)
	browsertest.Wait(tab, `document.querySelector("h1")?.textContent.includes("Switch off ground?")`)
	tab.Do(chromedp.Click(`form[action$="ground"] button[type=submit]`), chromedp.WaitVisible("#switches"))
	if row := s.as(max).get("/acme/settings/tools").row("ground"); !strings.Contains(row, "Off: you switched it off") {
		t.Errorf("the row says %q", row)
	}
	if troubles := tab.Troubles(); len(troubles) > 0 {
		t.Error(troubles)
	}
}
