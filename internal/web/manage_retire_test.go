package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// adopted is a public tool of acme in two versions: globex pins the older one,
// acme itself the newer.
func (s *site) adopted() *client {
	s.t.Helper()
	first := s.offer(max, "acme", catalog.Publication{ID: "tool", Name: "tool", Spec: greetSpec(s.t, nil), Visibility: capability.ReachWorkspace})
	s.promote(ada, "acme", "tool", capability.ReachPublic)
	s.pin(gus, "globex", first)
	s.pin(max, "acme", s.offer(max, "acme", catalog.Publication{ID: "tool", Name: "tool", Spec: greetSpec(s.t, map[string]any{"timeoutSec": 5})}))
	return s.as(max)
}

func TestAnActSaysForHowManyItIsBeforeItIsDone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.adopted()
	for path, want := range map[string][]string{
		manage + "/version?op=withdraw&version=1.0.0": {"1 workspace pins this version. It keeps it"},
		manage + "/version?op=block&version=1.0.0":    {"1 workspace pins this version. It stops there at once", "1 workspace pins another version and notices nothing"},
		manage + "/version?op=block&version=1.0.1":    {"Acme Logistics is one of them", "1.0.0 becomes the latest version again"},
		manage + "/delete":                            {"stops at once for the 2 workspaces", "Acme Logistics is one of them", "cannot be brought back"},
		manage + "/deprecation":                       {"2 workspaces that adopted it read this"},
	} {
		page := member.get(path).status(200)
		page.says("main", want...)
		if strings.Contains(strings.ToLower(page.text("main")), "globex") {
			t.Errorf("%s names an adopter: %s", path, page.text("main"))
		}
		if len(page.Statements) > 6 {
			t.Errorf("%s takes %d statements:\n%s", path, len(page.Statements), strings.Join(page.Statements, "\n"))
		}
	}
	if line, err := s.Catalog.Versions(t.Context(), s.actor(max, "acme"), "acme", "tool"); err != nil || line[0].State != catalog.Live {
		t.Errorf("looking did something: %v, %v", line, err)
	}
	member.get(manage + "/version?op=nonsense&version=1.0.0").status(http.StatusNotFound)
	member.get(manage + "/version?op=withdraw&version=9.9.9").status(http.StatusNotFound)
	s.as(vera).get(manage + "/delete").status(http.StatusForbidden)
	s.as(gus).get("/globex/store/acme/tool/manage/delete").status(http.StatusForbidden)
}

func TestASuccessorIsPickedByASearch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.adopted()
	s.offer(max, "acme", catalog.Publication{ID: "greet-better", Name: "greet better", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	s.offer(ada, "acme", catalog.Publication{ID: "kept", Name: "greet kept", Spec: greetSpec(t, nil)})

	found := member.get(manage + "/deprecation?q=greet&deprecated.note=Because.").status(200)
	found.find("input[type=radio][value='acme/greet-better']")
	found.none("input[type=radio][value='acme/kept']")
	found.none("input[type=radio][value='acme/tool']")
	found.says("textarea[name='deprecated.note']", "Because.") // what was typed stays
	part := member.htmx().get(manage + "/deprecation?q=greet").status(200)
	part.find("#successors input[value='acme/greet-better']")
	part.none("main")

	set := []string{"op", "set", "deprecated.successor", "acme/greet-better", "deprecated.note", "Because."}
	shown := member.post(manage+"/deprecation", set...).status(200)
	shown.says("#successors", "2 workspaces that adopted it read this", "1 of them cannot see acme/greet-better")
	if s.held(max, "acme", "tool").Deprecated != nil {
		t.Error("it is deprecated by looking")
	}
	seen := shown.find("input[name=seen]").AttrOr("value", "")
	member.post(manage+"/deprecation", append(set, "seen", seen)...).leadsTo(manage + "#part-deprecation")
	if d := s.held(max, "acme", "tool").Deprecated; d == nil || d.Successor != "acme/greet-better" {
		t.Errorf("deprecation %+v", d)
	}
	member.undo(manage)
	if d := s.held(max, "acme", "tool").Deprecated; d != nil {
		t.Errorf("taken back, it is still %+v", d)
	}
	for _, nowhere := range []string{"acme/kept", "acme/nowhere", "acme/tool"} {
		member.post(manage+"/deprecation", "op", "set", "deprecated.successor", nowhere).
			status(http.StatusUnprocessableEntity).find("#field-deprecated-successor-error")
	}
}
