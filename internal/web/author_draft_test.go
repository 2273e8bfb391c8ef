package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"capstore/internal/catalog"
	"capstore/views"
)

// draftOf is the id of the draft that the page's form belongs to.
func (a *answer) draft() string {
	a.t.Helper()
	return a.find("#author-live input[name=draft]").AttrOr("value", "")
}

// draftFields are what the page's form sends of its draft.
func (a *answer) draftFields() []string {
	a.t.Helper()
	var out []string
	for _, name := range []string{"draft", "draftTab", "draftRevision"} {
		out = append(out, name, a.find("#author-live input[name="+name+"]").AttrOr("value", ""))
	}
	return out
}

func (s *site) drafts(email, ws string) []catalog.Draft {
	s.t.Helper()
	list, err := s.Catalog.Drafts(s.t.Context(), s.actor(email, ws))
	must(s.t, err)
	return list
}

func TestADraftIsKeptContinuedAndPublished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.get("/acme/store/new?kind=hook").status(200)
	sent := with(append(page.fields("#author"), "op", views.OpSave), "name", "Watch", "spec.matcher", "mcp__*", "note", "First")
	saved := member.post("/acme/store/new?kind=hook", sent...).status(http.StatusSeeOther)
	at := saved.Header.Get("Location")
	if at != views.NewDraftPath("acme", "hook", page.draft()) {
		t.Fatalf("leads to %s", at)
	}
	member.get("/acme/store/mine").status(200).find(`[hx-get="/acme/store/new/drafts"]`)
	list := member.get("/acme/store/new/drafts").status(200)
	list.find(`main a[href="` + strings.ReplaceAll(at, "&", "&") + `"]`)
	member.htmx().get("/acme/store/new/drafts").status(200).says("section", "1 draft")
	again := member.get(at).status(200)
	for name, want := range map[string]string{"name": "Watch", "spec.matcher": "mcp__*"} {
		if got := again.find("[name='"+name+"']").AttrOr("value", ""); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	again.says("textarea[name=note]", "First")
	for _, who := range []string{ada, vera} {
		s.as(who).get(at).status(http.StatusNotFound)
	}
	member.get(views.NewDraftPath("acme", "code", page.draft())).status(http.StatusNotFound)
	member.get(views.NewDraftPath("acme", "hook", "nonsense")).status(http.StatusNotFound)
	publish := with(append(again.fields("#author"), "op", "publish"), "description", "Watches.", "spec.code", "print('{}')")
	member.post("/acme/store/new?kind=hook", publish...).leadsTo("/acme/store/acme/watch")
	if left := s.drafts(max, "acme"); len(left) != 0 {
		t.Errorf("the draft is there still: %v", left)
	}
	member.get(at).status(http.StatusNotFound)
}

func TestADraftIsKeptByItself(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.get("/acme/store/new?kind=command").status(200)
	sent := with(page.fields("#author"), "name", "Explain")
	live := member.htmx().post("/acme/store/new?kind=command", sent...).status(200)
	live.find("#author-live [data-saved]")
	if got := live.Header.Get("HX-Replace-Url"); got != views.NewDraftPath("acme", "command", page.draft()) {
		t.Errorf("the address becomes %q", got)
	}
	// The answer was lost on the way: the same form saves again all the same.
	member.htmx().post("/acme/store/new?kind=command", with(sent, "name", "Explain it")...).status(200).find("[data-saved]")
	if list := s.drafts(max, "acme"); len(list) != 1 || list[0].Name != "Explain it" || list[0].Revision != 2 {
		t.Fatalf("kept %+v", list)
	}
	// Another tab saves; this one must not write over it.
	other := member.get(views.NewDraftPath("acme", "command", page.draft())).status(200)
	member.htmx().post("/acme/store/new?kind=command", with(other.fields("#author"), "name", "Theirs")...).status(200).find("[data-saved]")
	stale := member.htmx().post("/acme/store/new?kind=command", with(sent, "name", "Mine")...).status(200)
	stale.none("[data-saved]")
	stale.find(`#author-live a[href="` + views.NewDraftPath("acme", "command", page.draft()) + `"]`)
	kept := member.post("/acme/store/new?kind=command", append(with(sent, "name", "Mine"), "op", "save")...).status(http.StatusConflict)
	if got := kept.find("input[name=name]").AttrOr("value", ""); got != "Mine" {
		t.Errorf("what was typed became %q", got)
	}
	if list := s.drafts(max, "acme"); list[0].Name != "Theirs" {
		t.Fatalf("written over: %+v", list)
	}
	over := kept.find("button[value='save:over']").AttrOr("value", "")
	member.post("/acme/store/new?kind=command", append(kept.fields("#author"), "op", over)...).status(http.StatusSeeOther)
	if list := s.drafts(max, "acme"); len(list) != 1 || list[0].Name != "Mine" {
		t.Errorf("kept %+v", list)
	}
}

func TestADraftThatIsGoneIsSaidAndSavedAnew(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.get("/acme/store/new?kind=environment").status(200)
	sent := with(page.fields("#author"), "name", "Lab")
	saved := member.htmx().post("/acme/store/new?kind=environment", sent...).status(200)
	ask := member.get(views.DiscardDraftPath("acme", page.draft())).status(200)
	ask.says("main", "Discard the draft Lab?")
	s.as(ada).get(views.DiscardDraftPath("acme", page.draft())).status(http.StatusNotFound)
	s.as(ada).post("/acme/store/new/drafts", "draft", page.draft()).status(http.StatusNotFound)
	member.post("/acme/store/new/drafts", ask.fields("main form")...).leadsTo("/acme/store/mine")
	member.post("/acme/store/new/drafts", "draft", "x").status(http.StatusNotFound)
	later := with(sent, "draftRevision", saved.find("input[name=draftRevision]").AttrOr("value", ""))
	gone := member.post("/acme/store/new?kind=environment", append(later, "op", "save")...).status(http.StatusConflict)
	gone.find("button[value='save:new']")
	member.post("/acme/store/new?kind=environment", append(gone.fields("#author"), "op", "save:new")...).status(http.StatusSeeOther)
	if list := s.drafts(max, "acme"); len(list) != 1 || list[0].Name != "Lab" {
		t.Errorf("kept %+v", list)
	}
}

func TestADraftHoldsNoSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	token := "ghp_" + strings.Repeat("a1B2", 8)
	page := member.get("/acme/store/new?kind=delegation").status(200)
	sent := append(page.fields("#author"), "op", "save",
		"spec.env.0.name", "DEPLOY_TOKEN", "spec.env.0.from", "literal", "spec.env.0.value", "hunter2hunter2")
	kept := member.post("/acme/store/new?kind=delegation", with(sent, "name", "Worker", "spec.instructions", "Use "+token+" to push.")...).status(200)
	kept.find(`main a[href="#field-spec-instructions"]`)
	kept.find(`main a[href="#field-spec-env-0-value"]`)
	kept.says("textarea[name='spec.instructions']", token) // what was typed stays where it was typed
	list := s.drafts(max, "acme")
	if len(list) != 1 {
		t.Fatalf("kept %+v", list)
	}
	d, err := s.Catalog.Draft(t.Context(), s.actor(max, "acme"), list[0].ID)
	must(t, err)
	for _, secret := range []string{token, "hunter2"} {
		if strings.Contains(string(d.Form), secret) {
			t.Errorf("the draft holds %s", secret)
		}
	}
	if !strings.Contains(string(d.Form), "to push") {
		t.Error("the rest of the text is gone as well")
	}
}

func TestADraftOfAnEditGoesOnFromItsVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.post("/acme/store/new?kind=code", codeForm...).status(http.StatusSeeOther)
	page := member.get("/acme/store/acme/shout/edit").status(200)
	sent := append(with(page.fields("#author"), "spec.code", "print('draft')"), "op", "save")
	at := member.post("/acme/store/acme/shout/edit", sent...).status(http.StatusSeeOther).Header.Get("Location")
	faster := member.get("/acme/store/acme/shout/edit").status(200)
	member.post("/acme/store/acme/shout/edit", append(with(faster.fields("#author"), "spec.code", "print('faster')"), "op", "publish")...).status(http.StatusSeeOther)
	again := member.get(at).status(200)
	again.says("textarea[name='spec.code']", "print('draft')")
	if base := again.find("input[name=base]").AttrOr("value", ""); base != "1.0.0" {
		t.Errorf("it goes on from %s", base)
	}
	stale := member.post("/acme/store/acme/shout/edit", append(again.fields("#author"), "op", "publish")...).status(http.StatusConflict)
	stale.says("textarea[name='spec.code']", "print('draft')")
	member.post("/acme/store/acme/shout/edit", append(stale.fields("#author"), "op", "publish")...).status(http.StatusSeeOther)
	if got := s.latest(max, "acme", "shout"); got.Version != "1.0.2" || len(s.drafts(max, "acme")) != 0 {
		t.Errorf("version %s, drafts %v", got.Version, s.drafts(max, "acme"))
	}
	for _, path := range []string{"/acme/store/acme/shout/edit?draft=" + url.QueryEscape(at), "/acme/store/acme/shout/edit?draft=1d7a835f-0000-4000-8000-000000000000"} {
		member.get(path).status(http.StatusNotFound)
	}
}

// What no database holds is said beside what was typed, which stays.
func TestADraftThatCannotBeKeptStaysInTheForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.get("/acme/store/new?kind=skill").status(200)
	sent := with(append(page.fields("#author"), "op", views.OpSave), "name", "Kept\x00", "spec.instructions", "Much work.")
	again := member.post("/acme/store/new?kind=skill", sent...).status(http.StatusConflict)
	if !strings.HasPrefix(again.text("textarea[name='spec.instructions']"), "Much work.") || len(s.drafts(max, "acme")) != 0 {
		t.Error("the text is gone")
	}
}
