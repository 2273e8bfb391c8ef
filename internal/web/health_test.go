package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// ran lets the person's agent run a tool by hand, and returns the conversation
// and the turn.
func (s *site) ran(email, tool string) (conversation, turn uuid.UUID) {
	s.t.Helper()
	actor := s.actor(email, "acme")
	c, err := s.Agent.NewConversation(s.t.Context(), actor)
	must(s.t, err)
	turn, done, err := s.Agent.Begin(s.t.Context(), actor, c.ID, agent.Ask{Tool: tool, Arguments: []byte(`{}`)})
	must(s.t, err)
	<-done
	return c.ID, turn
}

func TestHealthPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("greet", map[string]any{"requiredSecrets": []map[string]any{{"name": "API_KEY", "description": "From the vault."}}}))
	s.pin(max, "acme", s.tool("ground", nil))
	conversation, turn := s.ran(max, "code__ground")

	page := s.as(max).get("/acme/settings/agent/health").status(200)
	if first := page.text("main section[aria-labelledby=entries] h3:first-of-type"); !strings.HasPrefix(first, "Needs setup") {
		t.Errorf("the first group is %q", first)
	}
	if row := page.row("greet"); !strings.Contains(row, "API_KEY") {
		t.Errorf("the row says %q", row)
	}
	page.find("main svg[role=img]")
	page.find(fmt.Sprintf("main a[href='/acme/settings/agent/health/turns/%s']", turn))
	page.none("main select")
	if len(page.Statements) > 7 { // two are the frame's, two bind the world
		t.Errorf("%d statements: %q", len(page.Statements), page.Statements)
	}
	page.Doc.Find("main .row-link").Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		s.as(max).get(href).status(200)
	})
	only := s.as(max).get("/acme/settings/agent/health?standing=needs_setup&kind=code").status(200)
	if n := only.find("main .row-link").Length(); n != 1 {
		t.Errorf("%d rows need setup", n)
	}

	seen := s.as(max).get(fmt.Sprintf("/acme/chat/%s/turns/%s", conversation, turn)).status(200)
	if text := seen.text("main table"); !strings.Contains(text, "ground") || !strings.Contains(text, "1.0.0") {
		t.Errorf("the turn saw %q", text)
	}
	s.as(max).get("/acme/chat/" + conversation.String()).status(200).find(fmt.Sprintf("a[href='/acme/chat/%s/turns/%s']", conversation, turn))
	s.as(max).get(fmt.Sprintf("/acme/chat/%s/turns/%s", uuid.New(), turn)).status(404)
	s.as(vera).get("/acme/settings/agent/health/turns/" + turn.String()).status(404)
	s.as(ada).get(fmt.Sprintf("/acme/chat/%s/turns/%s", conversation, turn)).status(404)
	of := s.as(ada).get("/acme/settings/agent/health/turns/" + turn.String()).status(200)
	if strings.Contains(of.Body, conversation.String()) {
		t.Error("an admin is told the conversation")
	}
}

// TestSeeAsMember holds that an admin sees the very world that the member's
// turns bind, but for what is private to him.
func TestSeeAsMember(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.tool("ground", nil))
	s.publish(max, "acme", catalog.Publication{
		ID: "secret-thing", Name: "secret-thing", Description: "Mine alone.", Spec: greetSpec(t, nil), Visibility: capability.ReachPrivate,
	})
	on := true
	_, err := s.Workspace.SetSwitch(t.Context(), s.actor(max, "acme"), capability.CapabilityKey("acme", "secret-thing"), &on)
	must(t, err)
	bound, err := s.Agent.Bind(t.Context(), s.actor(max, "acme"))
	must(t, err)

	_, err = s.db.Exec(t.Context(), `INSERT INTO misreads (workspace, tool) VALUES ('acme', 'code__ground'), ('acme', 'code__secret_thing'), ('acme', 'code__secret-thing')`)
	must(t, err)

	subject := s.subject(max)
	page := s.as(ada).get("/acme/settings/agent/health?member=" + subject).status(200)
	page.find("main [title='" + bound.Digest + "']")
	page.says("section[aria-labelledby=misreads]", "code__ground")
	if text := page.text("main"); strings.Contains(text, "secret-thing") || strings.Contains(text, "secret_thing") {
		t.Error("what is private to a member is shown")
	}
	if text := page.text("main"); !strings.Contains(text, "Private to this member: Code tool 1") {
		t.Errorf("no count of what is private in %q", text)
	}
	page.find("main select option[selected][value='" + subject + "']")
	if own := s.as(max).get("/acme/settings/agent/health").status(200); !strings.Contains(own.text("main"), "secret-thing") || !strings.Contains(own.text("section[aria-labelledby=misreads]"), "secret") {
		t.Error("a member does not see his own")
	}
	s.as(max).get("/acme/settings/agent/health?member=" + s.subject(ada)).status(403)
	s.as(ada).get("/acme/settings/agent/health?member=" + uuid.NewString()).status(404)
	s.as(ada).get("/acme/settings/agent/health?member=x").status(404)
}
