package web_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
)

func (s *site) rules() []capability.PolicyRule {
	s.t.Helper()
	config, err := s.Workspace.Config(s.t.Context(), s.actor(ada, "acme"))
	must(s.t, err)
	return config.Config.Policy
}

func TestARuleIsWrittenChangedAndRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.as(ada)
	admin.get("/acme/settings/policies").status(200).find("a[href='/acme/settings/policies/new']")
	form := admin.get("/acme/settings/policies/new?match=mcp__mail__*").status(200)
	if got := form.find("input[name=match]").AttrOr("value", ""); got != "mcp__mail__*" {
		t.Errorf("the form begins with %q", got)
	}
	version := form.find("input[name=version]").AttrOr("value", "")
	admin.post("/acme/settings/policies/new", "version", version, "effect", "deny", "match", "mcp__mail__*", "tool", "send", "note", hostile,
		"arguments.0.path", "to", "arguments.0.op", "notEquals", "arguments.0.value", "team@acme.test",
		"arguments.1.path", "/n", "arguments.1.op", "greater", "arguments.1.value", "9007199254740993",
		"arguments.2.path", "", "arguments.2.op", "equals", "arguments.2.value", "").leadsTo("/acme/settings/policies")
	want := []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "mcp__mail__*", Tool: "send", Note: hostile, Arguments: []capability.ArgumentCondition{
		{Path: "/to", Op: capability.OpNotEquals, Value: []byte(`"team@acme.test"`)}, {Path: "/n", Op: capability.OpGreater, Value: []byte(`9007199254740993`)},
	}}}
	if diff := cmp.Diff(want, s.rules()); diff != "" {
		t.Fatal(diff)
	}
	list := admin.get("/acme/settings/policies").status(200)
	if got := list.text("main"); !strings.Contains(got, `/n is greater than 9007199254740993`) || !strings.Contains(got, hostile) {
		t.Errorf("the list says %s", got)
	}
	edit := admin.get("/acme/settings/policies/1").status(200)
	if got := edit.find("input[name='arguments.0.value']").AttrOr("value", ""); got != "team@acme.test" {
		t.Errorf("the value is %q", got)
	}
	version = edit.find("input[name=version]").AttrOr("value", "")
	admin.post("/acme/settings/policies/1", "version", version, "effect", "ask", "match", "*").leadsTo("/acme/settings/policies")
	if got := s.rules(); len(got) != 1 || got[0].Effect != capability.PolicyAsk {
		t.Errorf("rules %+v", got)
	}
	// The same form from another tab is about a rule that is no longer there.
	again := admin.post("/acme/settings/policies/1", "version", version, "effect", "deny", "match", "mine").status(409)
	if got := again.find("input[name=match]").AttrOr("value", ""); got != "mine" {
		t.Errorf("what was typed is lost: %q", got)
	}
	now := admin.get("/acme/settings/policies").find("form[action='/acme/settings/policies/1/delete'] input[name=version]").AttrOr("value", "")
	admin.post("/acme/settings/policies/1/delete", "version", now).leadsTo("/acme/settings/policies")
	if got := s.rules(); len(got) != 0 {
		t.Errorf("rules %+v", got)
	}
}

func TestARuleWithFaultsIsShownAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bad := s.as(ada).post("/acme/settings/policies/new", "version", "0", "effect", "maybe", "match", "",
		"arguments.0.path", "/to", "arguments.0.op", "less", "arguments.0.value", "many").status(422)
	for _, field := range []string{"#field-match[aria-invalid=true]", "#field-arguments-0-value[aria-invalid=true]"} {
		bad.find(field)
	}
	if got := bad.find("input[name='arguments.0.value']").AttrOr("value", ""); got != "many" {
		t.Errorf("what was typed is lost: %q", got)
	}
}

func TestOnlyAdminsChangePolicies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.policy(capability.PolicyRule{Effect: capability.PolicyAsk, Match: "*"})
	for _, email := range []string{max, vera} {
		c := s.as(email)
		page := c.get("/acme/settings/policies").status(200)
		page.none("form[action$='/delete']")
		c.get("/acme/settings/policies/new").status(403)
		c.post("/acme/settings/policies/new", "version", "1", "effect", "deny", "match", "*").status(403)
		c.post("/acme/settings/policies/1", "version", "1", "effect", "allow", "match", "*").status(403)
		c.post("/acme/settings/policies/1/delete", "version", "1").status(403)
	}
	s.as(ada).get("/acme/settings/policies/7").status(404)
	s.as(ada).get("/acme/settings/policies/x").status(404)
}
