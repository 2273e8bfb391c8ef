package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// managed is a code tool of acme, made by Max and seen by its members.
func (s *site) managed() *client {
	s.t.Helper()
	s.offer(max, "acme", catalog.Publication{ID: "tool", Name: "tool", Spec: greetSpec(s.t, nil), Visibility: capability.ReachWorkspace})
	return s.as(max)
}

func (s *site) held(email, ws, id string) catalog.Capability {
	s.t.Helper()
	held, err := s.Catalog.Get(s.t.Context(), s.actor(email, ws), ws, id)
	must(s.t, err)
	return held
}

// undo presses the button of the notice that the page shows.
func (c *client) undo(page string) {
	c.t.Helper()
	form := c.get(page).status(200).find("main .callout form")
	var sent []string
	form.Find("input").Each(func(_ int, f *goquery.Selection) { sent = append(sent, f.AttrOr("name", ""), f.AttrOr("value", "")) })
	c.post(form.AttrOr("action", ""), sent...).status(http.StatusSeeOther)
}

const manage = "/acme/store/acme/tool/manage"

func TestAReachIsSetOnlyOnceItsEffectWasSeen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	s.pin(max, "acme", s.held(max, "acme", "tool").Latest.VersionInfo)
	shared := []string{"visibility", "subset", "sharedWith", "globex"}
	page := member.post(manage+"/reach", append(shared, "op", "preview")...).status(200)
	page.says("#part-reach ~ form, form", "Acme Logistics: 3 members can see it.", "Globex Finance: 2 members can see it.", "It stays for the 1 workspace that adopted it.")
	seen := page.find("input[name=seen]").AttrOr("value", "")
	// Another choice than the one that was looked at is shown first, too.
	other := member.post(manage+"/reach", "visibility", "private", "op", "apply", "seen", seen).status(200)
	other.says("main", "1 person can see it", "It stops at once for 1 of the 1 workspaces that adopted it", "Acme Logistics: 2 members cannot see it any more.")
	if got := s.held(max, "acme", "tool").Access.Reach; got != capability.ReachWorkspace {
		t.Fatalf("the reach is %s by looking", got)
	}
	member.post(manage+"/reach", append(shared, "op", "apply", "seen", seen)...).leadsTo(manage + "#part-reach")
	subset := func() {
		t.Helper()
		if got := s.held(max, "acme", "tool").Access; got.Reach != capability.ReachSubset || !cmp.Equal(got.SharedWith, []string{"globex"}) {
			t.Errorf("reach %s with %q", got.Reach, got.SharedWith)
		}
	}
	subset()
	member.undo(manage)
	if got := s.held(max, "acme", "tool").Access.Reach; got != capability.ReachWorkspace {
		t.Errorf("the reach is %s once it was taken back", got)
	}
	member.undo(manage) // and taken back again, targets and all
	subset()
	member.post(manage+"/reach", "visibility", "subset").status(http.StatusUnprocessableEntity).says("main", "Choose at least one workspace")
	member.post(manage+"/reach", "visibility", "public").status(http.StatusUnprocessableEntity).says("#field-visibility-error", "admin")
	member.post(manage+"/reach", append(shared, "op", "preview")...).status(200).says("main", "It has this reach already.")
}

func TestTagsMaintainersAndDeprecation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	s.offer(ada, "acme", catalog.Publication{ID: "other", Name: "other", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	member.post(manage+"/tags", "tags", "one, two,, ONE").leadsTo(manage + "#part-tags")
	member.post(manage+"/maintainers", "maintainers", s.subject(ada)).leadsTo(manage + "#part-maintainers")
	member.post(manage+"/deprecation", "op", "set").status(http.StatusUnprocessableEntity).find("#field-deprecated-note[aria-invalid=true]")
	member.post(manage+"/deprecation", "op", "set", "deprecated.successor", "nonsense").
		status(http.StatusUnprocessableEntity).find("#field-deprecated-successor-error")
	member.post(manage+"/deprecation", "op", "set", "deprecated.successor", "acme/other", "deprecated.note", "Use the other.").leadsTo(manage + "#part-deprecation")
	held := s.held(max, "acme", "tool")
	if !cmp.Equal(held.Tags, []string{"one", "two"}) || len(held.Maintainers) != 1 || held.Maintainers[0].Name != "Ada" {
		t.Errorf("tags %q, maintainers %v", held.Tags, held.Maintainers)
	}
	if diff := cmp.Diff(&catalog.Deprecation{Successor: "acme/other", Note: "Use the other."}, held.Deprecated); diff != "" {
		t.Error(diff)
	}
	page := member.get(manage).status(200)
	page.find("input[name=maintainers][checked][value='" + s.subject(ada) + "']")
	page.find("input[name=maintainers][disabled][value='" + s.subject(vera) + "']")
	page.none("input[name=maintainers][value='" + s.subject(max) + "']")
	member.post(manage+"/deprecation", "op", "lift").leadsTo(manage + "#part-deprecation")
	member.post(manage+"/tags", "tags", "").leadsTo(manage + "#part-tags")
	if held := s.held(max, "acme", "tool"); held.Deprecated != nil || len(held.Tags) != 0 {
		t.Errorf("deprecated %v, tags %q", held.Deprecated, held.Tags)
	}
}

func TestAChangeOnTopOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	sent := member.get(manage).status(200).find("form[action$='/tags#part-tags'] input[name=revision]").AttrOr("value", "")
	for _, unreadable := range []string{"x", "0", "-1", "1.5", "99999999999999999999"} {
		member.post(manage+"/tags", "tags", "none", "revision", unreadable).status(http.StatusBadRequest)
	}
	member.post(manage+"/tags", "tags", "first", "revision", sent).status(http.StatusSeeOther)
	late := member.post(manage+"/tags", "tags", "second", "revision", sent).status(http.StatusConflict)
	if got := late.find("input[name=tags]").AttrOr("value", ""); got != "second" {
		t.Errorf("what was typed became %q", got)
	}
	if got := s.held(max, "acme", "tool").Tags; !cmp.Equal(got, []string{"first"}) {
		t.Errorf("tags %q", got)
	}
}

func TestVersionsAreTakenBackAndBroughtBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	state := func() catalog.State {
		line, err := s.Catalog.Versions(t.Context(), s.actor(max, "acme"), "acme", "tool")
		must(t, err)
		return line[0].State
	}
	const version = manage + "/version"
	member.post(version, "version", "1.0.0", "op", "block").status(http.StatusUnprocessableEntity).find("#field-reason[aria-invalid=true]")
	member.get(version + "?version=1.0.0&op=revive").status(200).find("form button[aria-disabled=true]") // it is live
	for _, step := range []struct {
		op   string
		want catalog.State
	}{{"block", catalog.Blocked}, {"unblock", catalog.Live}, {"withdraw", catalog.Withdrawn}, {"revive", catalog.Live}} {
		member.post(version, "version", "1.0.0", "op", step.op, "reason", "It leaks.").leadsTo(manage + "#part-version")
		if got := state(); got != step.want {
			t.Errorf("after %s it is %s", step.op, got)
		}
	}
	member.undo(manage)
	if got := state(); got != catalog.Withdrawn {
		t.Errorf("the revival taken back leaves it %s", got)
	}
	member.post(version, "version", "1.0.0", "op", "revive").status(http.StatusSeeOther)
	member.get(manage).status(200)
	member.post(version, "version", "9.9.9", "op", "withdraw").status(http.StatusNotFound)
	member.post(version, "version", "1.0.0", "op", "nonsense").status(http.StatusNotFound)
}

func TestAuthorsPagesAskTheDatabaseLittle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	for path, most := range map[string]int{"/acme/store/new?kind=code": 2, "/acme/store/import": 2, "/acme/store/acme/tool/edit": 4, manage: 5} {
		if page := member.get(path).status(200); len(page.Statements) > most {
			t.Errorf("%s: %d statements, want %d at most:\n%s", path, len(page.Statements), most, strings.Join(page.Statements, "\n"))
		}
	}
}

func TestDeletingTakesTheIDTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	member.post(manage+"/delete", "confirm", "too").status(http.StatusUnprocessableEntity).find("#field-confirm[aria-invalid=true][value=too]")
	member.post(manage+"/delete", "confirm", "tool").leadsTo("/acme/store/mine")
	member.get(manage).status(http.StatusNotFound)
}

func TestWhoMayManage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.managed()
	s.user("mia@acme.test", "Mia")
	s.join("acme", "mia@acme.test", capability.RoleMember)
	must(t, s.Catalog.Update(t.Context(), s.actor(max, "acme"), "acme", "tool", catalog.Patch{Maintainers: &[]string{s.subject("mia@acme.test")}}))
	maintainer := s.as("mia@acme.test")
	page := maintainer.get(manage).status(200)
	page.find("section[aria-labelledby=part-delete] button[aria-disabled=true]")
	maintainer.get(manage + "/delete").status(200).find("form[action$='/delete'] button[aria-disabled=true]")
	page.find("form[action$='/maintainers#part-maintainers'] button[aria-disabled=true]")
	maintainer.post(manage+"/delete", "confirm", "tool").status(http.StatusForbidden)
	maintainer.post(manage + "/maintainers").status(http.StatusForbidden)
	maintainer.post(manage+"/version", "version", "1.0.0", "op", "withdraw").status(http.StatusForbidden)
	maintainer.post(manage+"/tags", "tags", "mine").status(http.StatusSeeOther)

	s.as(vera).get(manage).status(http.StatusForbidden)
	s.as(gus).get("/globex/store/acme/tool/manage").status(http.StatusNotFound)
	s.promote(ada, "acme", "tool", capability.ReachPublic)
	s.as(gus).get("/globex/store/acme/tool/manage").status(http.StatusForbidden)
	s.as(gus).post("/globex/store/acme/tool/manage/tags", "tags", "x").status(http.StatusForbidden)
}

func TestHostileTextInTheFormsStaysText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(max, "acme", catalog.Publication{
		ID: "tool", Name: "tool", Description: hostileText, Note: hostileText, Spec: greetSpec(t, map[string]any{"code": "# " + hostileText}),
		Visibility: capability.ReachWorkspace, Tags: []string{"<b>tag"},
	})
	must(t, s.Catalog.Block(t.Context(), s.actor(max, "acme"), "acme", "tool", "1.0.0", hostileText))
	member := s.as(max)
	for _, path := range []string{manage, "/acme/store/acme/tool/edit"} {
		page := member.get(path).status(200)
		page.harmless()
		page.says("main", "<img src=x onerror=alert(1)>")
	}
	found := member.upload("/acme/store/import", []string{"text", skillText(`"</script><img src=x>"`, `"<svg/onload=1>"`)})
	found.harmless()
	faulty := member.post("/acme/store/new?kind=code", "op", "publish", "name", hostileText, "spec.code", hostileText, "spec.requiredSecrets.0.name", hostileText)
	faulty.status(http.StatusUnprocessableEntity).harmless()
}
