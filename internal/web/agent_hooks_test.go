package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
)

// part publishes and pins a hook or a command.
func (s *site) part(id string, spec map[string]any, plugin string) catalog.VersionInfo {
	s.t.Helper()
	raw, err := json.Marshal(spec)
	must(s.t, err)
	p := catalog.Publication{ID: id, Name: id, Description: "Does " + id + ".", Spec: raw, Visibility: capability.ReachWorkspace}
	if plugin != "" {
		p.Provenance, err = json.Marshal(map[string]string{"plugin": plugin})
		must(s.t, err)
	}
	v := s.publish(ada, "acme", p)
	s.pin(ada, "acme", v)
	return v
}

// rowIn is the row of the name within a section of the page.
func (a *answer) rowIn(section, name string) *goquery.Selection {
	a.t.Helper()
	for _, li := range a.find(`section[aria-labelledby="` + section + `"]`).Find("li.row").EachIter() {
		if li.Find(".row-link").Text() == name {
			return li
		}
	}
	a.t.Fatalf("no row %q in %s:\n%s", name, section, a.text("main"))
	return nil
}

func (a *answer) inRow(section, name string, words ...string) {
	a.t.Helper()
	got := strings.Join(strings.Fields(a.rowIn(section, name).Text()), " ")
	for _, want := range words {
		if !strings.Contains(got, want) {
			a.t.Errorf("%s says %q, want %q in it", name, got, want)
		}
	}
}

func TestAgentListsHooksAndCommands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	guard := map[string]any{"type": "hook", "event": "before_tool", "matcher": "code__*", "language": "bash", "code": `echo 'not <b>today</b>' >&2; exit 2`}
	s.part("guard", guard, "toolbox")
	s.part("notes", map[string]any{"type": "hook", "event": "turn_end", "language": "bash", "code": "exit 0"}, "")
	s.part("gone", map[string]any{"type": "hook", "event": "after_tool", "language": "bash", "code": "exit 0", "failureMode": "fail-closed"}, "")
	s.part("weekly", map[string]any{"type": "command", "template": "Report on $1.", "argumentHint": "TEAM", "allowedTools": []string{"Read"}}, "")
	s.pin(max, "acme", s.tool("greet", nil))
	member := s.as(max)

	page := member.get("/acme/settings/agent").status(200)
	page.inRow("hooks", "guard", "before a tool is called", "watches code__*", "denies when it fails", "from the plugin toolbox")
	page.inRow("hooks", "notes", "when a turn ends", "is skipped when it fails")
	page.inRow("commands", "weekly", "/weekly TEAM", "meant for Read; grants nothing")
	try := member.get(page.rowIn("commands", "weekly").Find("a.btn, a[href*='/chat']").AttrOr("href", "")).status(200)
	if got := try.text("textarea[name=text]"); got != "/weekly " && got != "/weekly" {
		t.Errorf("the composer holds %q", got)
	}
	if strings.Contains(page.rowIn("hooks", "guard").Text(), "Last, in your conversations") {
		t.Error("a hook that has said nothing has a last word")
	}
	if page.rowIn("hooks", "guard").Find("button[type=submit]:not([disabled])").Length() > 0 {
		t.Error("a required hook can be switched off")
	}

	conv, err := s.Agent.NewConversation(t.Context(), s.actor(max, "acme"))
	must(t, err)
	_, done, err := s.Agent.Begin(t.Context(), s.actor(max, "acme"), conv.ID, agent.Ask{Tool: "code__greet", Arguments: json.RawMessage(`{"name":"Kim"}`)})
	must(t, err)
	<-done
	_, err = s.db.Exec(t.Context(), `UPDATE capabilities SET tombstoned_at = now() WHERE id = 'gone'`)
	must(t, err)
	page = member.get("/acme/settings/agent").status(200)
	page.inRow("hooks", "guard", "Last, in your conversations: denied · code__greet · not <b>today</b>")
	member.get(views.ToolPath("acme", "capability:acme/gone")).status(200).says("main", "It cannot be reached any more.")
	page.inRow("hooks", "gone", "It cannot run, so whatever it watches is denied.")
	s.as(vera).get("/acme/settings/agent").status(200).inRow("hooks", "guard", "watches code__*")
	if other := s.as(vera).get("/acme/settings/agent"); strings.Contains(other.rowIn("hooks", "guard").Text(), "today") {
		t.Error("somebody sees what hooks said to others")
	}

	switched := member.post(views.ToolPath("acme", "capability:acme/notes"), "enabled", "false", "next", "/acme/settings/agent").status(http.StatusSeeOther)
	switched.leadsTo("/acme/settings/agent")
	member.get("/acme/settings/agent").inRow("hooks", "notes", "follow the workspace")
	member.post(views.ToolPath("acme", "capability:acme/guard"), "enabled", "false").status(http.StatusForbidden)
}
