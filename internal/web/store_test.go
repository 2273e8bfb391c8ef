package web_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
	"capstore/views"
)

// greetSpec is a code tool that greets, as JSON; more replaces or adds fields.
func greetSpec(t *testing.T, more map[string]any) json.RawMessage {
	t.Helper()
	spec := map[string]any{
		"type": "code", "language": "python", "isReadOnly": true,
		"code": "import json, os\nname = json.load(open(os.environ['CAPSTORE_INPUT']))['name']\nprint(name)\n",
		"parametersSchema": map[string]any{
			"type": "object", "required": []string{"name"},
			"properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": 40, "description": "Whom to greet"}},
		},
	}
	for k, v := range more {
		spec[k] = v
	}
	raw, err := json.Marshal(spec)
	must(t, err)
	return raw
}

func textSkill(t *testing.T, instructions string) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"type": "skill", "instructions": instructions})
	must(t, err)
	return raw
}

// offer publishes a capability, or its next version, as somebody in a workspace.
func (s *site) offer(email, ws string, p catalog.Publication) catalog.VersionInfo {
	s.t.Helper()
	if p.Description == "" {
		p.Description = "Does something useful."
	}
	return s.publish(email, ws, p)
}

// promote widens the reach of what an admin sees.
func (s *site) promote(email, ws, id string, reach capability.Reach, sharedWith ...string) {
	s.t.Helper()
	must(s.t, s.Catalog.Update(s.t.Context(), s.actor(email, ws), ws, id, catalog.Patch{Reach: &reach, SharedWith: &sharedWith}))
}

// greeter is a public code tool of globex.
func (s *site) greeter(more map[string]any) catalog.VersionInfo {
	s.t.Helper()
	v := s.offer(gus, "globex", catalog.Publication{
		ID: "greeter", Name: "greeter", Spec: greetSpec(s.t, more), Visibility: capability.ReachWorkspace, Tags: []string{"people", "text"},
	})
	s.promote(gus, "globex", "greeter", capability.ReachPublic)
	return v
}

func (s *site) pin(email, ws string, v catalog.VersionInfo) {
	s.t.Helper()
	_, err := s.Workspace.Adopt(s.t.Context(), s.actor(email, ws), workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest,
	})
	must(s.t, err)
}

// names are the capabilities that a list shows, in order.
func (a *answer) names() []string {
	return a.Doc.Find(".rows .row-link").Map(func(_ int, link *goquery.Selection) string { return strings.TrimSpace(link.Text()) })
}

func TestStoreListsWhatThereIsToDiscover(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{Name: "inner", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	s.offer(max, "acme", catalog.Publication{Name: "own-notes", Spec: textSkill(t, "Write notes."), Visibility: capability.ReachWorkspace})

	store := s.as(vera).get("/acme/store").status(200)
	if diff := cmp.Diff([]string{"greeter"}, store.names()); diff != "" {
		t.Errorf("the store lists (-want +got):\n%s", diff)
	}
	row := store.find(".rows .row")
	for _, want := range []string{"globex/greeter", "1.0.0", "Code tool", "Public", "people", "Does something useful."} {
		if !strings.Contains(row.Text(), want) {
			t.Errorf("the row lacks %q: %s", want, row.Text())
		}
	}
	if got := row.Find(".row-link").AttrOr("href", ""); got != "/acme/store/globex/greeter" {
		t.Errorf("the row leads to %q", got)
	}
	if got := store.text("#store-count"); got != "1 capability" {
		t.Errorf("heading: %q", got)
	}
	mine := s.as(vera).get("/acme/store/mine").status(200)
	if diff := cmp.Diff([]string{"own-notes"}, mine.names()); diff != "" {
		t.Errorf("mine lists (-want +got):\n%s", diff)
	}
	mine.find("header button[aria-disabled=true]") // a viewer is told why he cannot publish
}

func TestStoreFiltersLieInTheAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{
		Name: "letters", Spec: textSkill(t, "Write letters."), Visibility: capability.ReachWorkspace, Tags: []string{"text"},
	})
	s.promote(gus, "globex", "letters", capability.ReachPublic)
	member := s.as(max)

	all := member.get("/acme/store").status(200)
	if got := all.find("#chip-kind-code .chip-count").Text(); got != "1" {
		t.Errorf("count of code tools: %q", got)
	}
	code := all.find("#chip-kind-code").AttrOr("href", "")
	page := member.get(code).status(200)
	if diff := cmp.Diff([]string{"greeter"}, page.names()); diff != "" {
		t.Errorf("%s lists (-want +got):\n%s", code, diff)
	}
	page.find("#chip-kind-code[aria-current=true]")
	page.find("#chip-kind-skill")                                 // the other kinds keep their count
	page.find("input[type=hidden][form=store-search][name=kind]") // a search keeps the filter
	page.find(".chip[href='/acme/store']")                        // clear
	if got := page.find("#chip-kind-code").AttrOr("href", ""); got != "/acme/store" {
		t.Errorf("the chip that is on leads to %q", got)
	}
	tagged := member.get(page.find("#chip-tag-people").AttrOr("href", "")).status(200)
	if diff := cmp.Diff([]string{"greeter"}, tagged.names()); diff != "" {
		t.Errorf("tag lists (-want +got):\n%s", diff)
	}

	none := member.get("/acme/store?q=nothing-like-it&kind=code").status(200)
	none.find("#store-results a[href='/acme/store'].btn")
	for _, odd := range []string{"?kind=nonsense", "?sort=nonsense", "?cursor=nonsense", "?reach=x", "?q=" + strings.Repeat("a", 600)} {
		member.get("/acme/store" + odd).status(200)
	}
}

func TestStoreAnswersAFragmentToHtmx(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	part := s.as(max).htmx().get("/acme/store?q=greet").status(200)
	part.find("#store-results .row-link")
	part.none("nav[aria-label='Main']")
	if !strings.Contains(strings.Join(part.Header.Values("Vary"), ","), "HX-Request") {
		t.Error("a cache could take the fragment for the page")
	}
}

func TestStorePagesByKeyset(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range 35 {
		s.offer(max, "acme", catalog.Publication{
			Name: fmt.Sprintf("tool-%02d", i), Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace,
		})
	}
	member := s.as(max)
	first := member.get("/acme/store/mine").status(200)
	first.none("a[rel=prev]")
	second := member.get(first.find("a[rel=next]").AttrOr("href", "")).status(200)
	second.none("a[rel=next]")
	seen := append(first.names(), second.names()...)
	slices.Sort(seen)
	if len(seen) != 35 || len(slices.Compact(seen)) != 35 {
		t.Errorf("two pages show %d names, %d different", len(seen), len(slices.Compact(seen)))
	}
	back := member.get(second.find("a[rel=prev]").AttrOr("href", "")).status(200)
	if diff := cmp.Diff(first.names(), back.names()); diff != "" {
		t.Errorf("back again (-first +back):\n%s", diff)
	}
	if got := first.text("#store-count"); got != "35 capabilities" {
		t.Errorf("heading: %q", got)
	}
}

func TestStoreRowsSayWhatTheWorkspaceHas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	member := s.as(max)
	if got := member.get("/acme/store").text(".row .badge"); !strings.Contains(got, "in your workspace") || strings.Contains(got, "update") {
		t.Errorf("badges: %q", got)
	}
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10})})
	must(t, s.Catalog.Update(t.Context(), s.actor(gus, "globex"), "globex", "greeter", catalog.Patch{Deprecated: &catalog.Deprecation{Note: "Too polite."}}))
	if got := member.get("/acme/store").text(".row .badge"); !strings.Contains(got, "update 1.0.1") || !strings.Contains(got, "deprecated") {
		t.Errorf("badges: %q", got)
	}
}

func TestStoreRowsSayWhatNeedsSetup(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.greeter(map[string]any{"requiredSecrets": []map[string]any{{"name": "GREETING_KEY"}}})
	member := s.as(max)
	badges := func() string { return member.get("/acme/store").status(200).text(".row .badge") }
	if got := badges(); strings.Contains(got, "needs setup") {
		t.Errorf("before anyone adopted it: %q", got)
	}
	s.pin(max, "acme", v)
	if got := badges(); !strings.Contains(got, "needs setup") {
		t.Errorf("adopted without its secret: %q", got)
	}
	_, err := s.Workspace.BindSecrets(t.Context(), s.actor(max, "acme"), capability.CapabilityKey("globex", "greeter"), map[string]string{"GREETING_KEY": "OFFICE_KEY"})
	must(t, err)
	if got := badges(); !strings.Contains(got, "needs setup") {
		t.Errorf("bound to a secret that is not there: %q", got)
	}
	member.post("/acme/settings/secrets/new", "name", "OFFICE_KEY", "value", "0123456789", "personal", "1").status(303)
	if got := badges(); strings.Contains(got, "needs setup") {
		t.Errorf("with the member's own secret: %q", got)
	}
	if got := s.as(vera).get("/acme/store").text(".row .badge"); !strings.Contains(got, "needs setup") {
		t.Errorf("to somebody without one: %q", got)
	}
}

func TestMineTellsAnAdminOfWhatOthersHide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(max, "acme", catalog.Publication{Name: "diary", Spec: textSkill(t, "Secret things.")})
	s.offer(max, "acme", catalog.Publication{Name: "shared", Spec: textSkill(t, "Open things."), Visibility: capability.ReachWorkspace})
	admin := s.as(ada)
	list := admin.get("/acme/store/mine").status(200)
	list.find("#unlisted a[href='/acme/store/unlisted']")
	list.find("a[href='/acme/store/acme/shared/manage']")
	told := admin.get("/acme/store/unlisted").status(200)
	if got := told.text("main"); !strings.Contains(got, "Skill 1") || strings.Contains(told.Body, "diary") {
		t.Errorf("an admin is told %q", got)
	}
	admin.htmx().get("/acme/store/unlisted").status(200).says("#unlisted", "Skill 1")
	if got := s.as(max).get("/acme/store/unlisted").status(200).text("main"); strings.Contains(got, "Private to others") {
		t.Errorf("a member is told %q", got)
	}
}

func TestWhatHasNoVersionLeftIsStillFound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.managed()
	must(t, s.Catalog.Block(t.Context(), s.actor(max, "acme"), "acme", "tool", "1.0.0", "It leaks."))
	if got := member.get("/acme/store/mine").status(200).names(); len(got) != 0 {
		t.Fatalf("listed: %q", got)
	}
	member.htmx().get("/acme/store/unlisted").status(200).says("#unlisted", "1 is not listed")
	page := member.get("/acme/store/unlisted").status(200)
	page.find(".row a[href='/acme/store/acme/tool/manage']")
	page.says(".row", "1.0.0, was blocked: It leaks.")
	if got := s.as(gus).get("/globex/store/unlisted").status(200).text("main"); strings.Contains(got, "tool") {
		t.Errorf("another workspace is told %q", got)
	}
}

func TestAnAdminSettlesWhatAFormerMemberLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, id := range []string{"diary", "notes"} {
		s.offer(max, "acme", catalog.Publication{ID: id, Name: id, Spec: textSkill(t, "Kept.")})
	}
	must(t, s.Root.Identity.RemoveMember(t.Context(), s.actor(ada, "acme"), s.subject(max)))
	admin := s.as(ada)
	page := admin.get("/acme/store/unlisted").status(200)
	page.says("main", "Left by Max")
	take := admin.get(page.find("a[href='/acme/store/left/diary?op=take']").AttrOr("href", "")).status(200)
	take.says("main", "You become its creator in place of Max", "Private")
	admin.post("/acme/store/left/diary", "op", "take").leadsTo("/acme/store/acme/diary/manage")
	if got := s.held(ada, "acme", "diary").Creator.Name; got != "Ada" {
		t.Errorf("its creator is %s", got)
	}
	admin.post("/acme/store/left/notes", "op", "delete", "confirm", "note").status(422).find("#field-confirm[aria-invalid=true]")
	admin.post("/acme/store/left/notes", "op", "delete", "confirm", "notes").leadsTo("/acme/store/unlisted")
	admin.get("/acme/store/left/notes?op=take").status(404)
	admin.get("/acme/store/left/diary?op=delete").status(404) // not left any more
	s.as(vera).get("/acme/store/left/diary?op=take").status(403)
}

func TestFirstStepsTickAndLeave(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.get("/acme/store").find("#first-steps li")
	if got := member.htmx().get("/acme/store/steps").status(200); got.Doc.Find("[data-state=done]").Length() != 0 {
		t.Errorf("steps are done before anything was: %s", got.Body)
	}
	s.pin(max, "acme", s.greeter(nil))
	if got := member.htmx().get("/acme/store/steps").status(200); got.Doc.Find("[data-state=done]").Length() != 2 {
		t.Errorf("after adopting: %s", got.Body)
	}
	member.post(views.DismissPath(), "hint", views.StepsHint, "next", "/acme/store").leadsTo("/acme/store")
	member.get("/acme/store").none("#first-steps")
}

func TestStoreOffersFiltersWithWhatTheyWouldGive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(map[string]any{"serves": []string{"support"}})
	for i := range 6 {
		id := fmt.Sprintf("letters-%d", i)
		s.offer(gus, "globex", catalog.Publication{
			ID: id, Name: id, Spec: textSkill(t, "Write letters."), Visibility: capability.ReachWorkspace, Tags: []string{"text", fmt.Sprintf("series-%d", i)},
		})
		s.promote(gus, "globex", id, capability.ReachPublic)
	}
	s.offer(max, "acme", catalog.Publication{Name: "own", Spec: textSkill(t, "Own."), Visibility: capability.ReachWorkspace})
	s.promote(ada, "acme", "own", capability.ReachPublic)
	member := s.as(max)

	store := member.get("/acme/store").status(200)
	for chip, want := range map[string]string{"#chip-kind-skill": "7", "#chip-reach-public": "8", "#chip-tag-text": "7", "#chip-source-globex": "7", "#chip-domain-support": "1"} {
		if got := store.find(chip).Text(); !strings.Contains(got, want) {
			t.Errorf("%s offers %q, want %s", chip, got, want)
		}
	}
	if n := store.Doc.Find("[id^=chip-tag-]").Length(); n != 8 { // four at once, the others in a menu
		t.Errorf("%d tags are offered", n)
	}
	globex := member.get(store.find("#chip-source-globex").AttrOr("href", "")).status(200)
	globex.find("#chip-source-globex[aria-current=true]")
	if got := globex.text("#store-count"); got != "7 capabilities found" {
		t.Errorf("of globex: %q", got)
	}
	none := member.get("/acme/store?kind=code&tag=series-1").status(200)
	if got := none.text("#store-results"); !strings.Contains(got, "Nothing has all of these") {
		t.Errorf("where nothing fits: %q", got)
	}
	nearest := none.find("[aria-label=Nearest] a[href='/acme/store?kind=skill&tag=series-1']")
	if got := member.get(nearest.AttrOr("href", "")).status(200).names(); !cmp.Equal(got, []string{"letters-1"}) {
		t.Errorf("the nearest leads to %q", got)
	}
	none.find("[aria-label=Nearest] a[href='/acme/store?kind=code']")
	none.find("[aria-label=Nearest] a[href='/acme/store?tag=series-1']")
	typo := member.get("/acme/store?q=greetr").status(200)
	if got := typo.names(); !cmp.Equal(got, []string{"greeter"}) || !strings.Contains(typo.text("#store-results"), "“greetr”") {
		t.Errorf("a typo finds %q: %s", got, typo.text("#store-results"))
	}
}

func TestStoreLeavesOutWhatThisServerCannotRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for id, spec := range map[string]string{"boxed": `{"type":"mcp","image":"acme/boxed:1"}`, "remote": `{"type":"mcp","url":"https://mcp.example.com"}`} {
		s.offer(gus, "globex", catalog.Publication{ID: id, Name: id, Spec: []byte(spec), Visibility: capability.ReachWorkspace})
		s.promote(gus, "globex", id, capability.ReachPublic)
	}
	chip := s.as(max).get("/acme/store").status(200).find("#chip-works")
	if got := s.as(max).get(chip.AttrOr("href", "")).status(200).names(); !cmp.Equal(got, []string{"remote"}) {
		t.Errorf("works here: %q", got)
	}
}

func TestStoreRowsSayWhatBefellThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10})})
	s.offer(gus, "globex", catalog.Publication{ID: "next", Name: "next", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	member, actor := s.as(max), s.actor(gus, "globex")
	row := func() string { return member.get("/acme/store?q=greeter").status(200).text(".row") }

	must(t, s.Catalog.Withdraw(t.Context(), actor, "globex", "greeter", "1.0.0"))
	if got := row(); !strings.Contains(got, "The pinned version 1.0.0 was withdrawn") {
		t.Errorf("withdrawn: %s", got)
	}
	must(t, s.Catalog.Block(t.Context(), actor, "globex", "greeter", "1.0.0", "It leaks."))
	if got := row(); !strings.Contains(got, "The pinned version 1.0.0 was blocked and does not run: It leaks.") {
		t.Errorf("blocked: %s", got)
	}
	must(t, s.Catalog.Update(t.Context(), actor, "globex", "greeter", catalog.Patch{Deprecated: &catalog.Deprecation{Successor: "globex/next", Note: "Too polite."}}))
	page := member.get("/acme/store?q=greeter").status(200)
	page.none(".row a[href='/acme/store/globex/next']") // it cannot be seen from here
	if got := page.text(".row"); !strings.Contains(got, "Too polite. Use globex/next instead") {
		t.Errorf("deprecated: %s", got)
	}
	s.promote(gus, "globex", "next", capability.ReachPublic)
	member.get("/acme/store?q=greeter").status(200).find(".row a[href='/acme/store/globex/next']")
}

func TestASourceHasAPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{Name: "inner", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	s.offer(max, "acme", catalog.Publication{Name: "mine-alone", Spec: greetSpec(t, nil)})
	member := s.as(max)

	page := member.get(member.get("/acme/store").find(".row a[href='/acme/store/globex']").AttrOr("href", "")).status(200)
	if got := page.text("h1"); got != "Globex Finance" {
		t.Errorf("heading %q", got)
	}
	if diff := cmp.Diff([]string{"greeter"}, page.names()); diff != "" {
		t.Errorf("globex lists (-want +got):\n%s", diff)
	}
	page.find("#chip-kind-code[href='/acme/store/globex?kind=code']")
	member.get("/acme/store/globex?q=nothing").status(200).find("a[href='/acme/store/globex'].btn")
	member.htmx().get("/acme/store/globex?source=acme").status(200).find("#store-results")
	if got := member.get("/acme/store/acme").status(200).names(); !cmp.Equal(got, []string{"mine-alone"}) {
		t.Errorf("his own workspace lists %q", got)
	}
	// One of which nothing can be seen is answered as one that does not exist.
	hidden, unknown := s.as(gus).get("/globex/store/acme").status(404), s.as(gus).get("/globex/store/nobody").status(404)
	if diff := cmp.Diff(unknown.Statements, hidden.Statements); diff != "" {
		t.Errorf("the statements differ:\n%s", diff)
	}
	member.get("/acme/store/globex/greeter").status(200).find("a[href='/acme/store/globex']")
}

func TestStorePagesTakeFourStatements(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	member := s.as(max)
	for _, path := range []string{"/acme/store", "/acme/store?q=greet&kind=code&tag=people&sort=adopted", "/acme/store/mine", "/acme/store/mine?reach=private"} {
		if got := member.get(path).status(200); len(got.Statements) > 4 {
			t.Errorf("%s takes %d statements:\n%s", path, len(got.Statements), strings.Join(got.Statements, "\n"))
		}
	}
}
