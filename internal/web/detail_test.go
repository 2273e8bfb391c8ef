package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func TestDetailSaysWhatACapabilityIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.greeter(map[string]any{
		"requiredSecrets": []map[string]any{{"name": "GREETING_KEY", "description": "From the protocol office"}},
		"requires":        []string{"globex/letters", "mcp__wiki__search"}, "serves": []string{"documents"},
		"examples": []map[string]any{{"name": "A friend", "input": map[string]any{"name": "Kim"}}},
	})
	page := s.as(max).get("/acme/store/globex/greeter").status(200)
	if got := page.text("h1"); got != "greeter" {
		t.Errorf("title %q", got)
	}
	facts := page.text("aside")
	for _, want := range []string{"Gus", "people", "GREETING_KEY From the protocol office", "mcp__wiki__search", v.Digest[:19]} {
		if !strings.Contains(facts, want) {
			t.Errorf("the facts lack %q: %s", want, facts)
		}
	}
	page.says("aside", "globex/letters", "mcp__wiki__search")
	page.find("aside a[href='/acme/store?tag=people']")
	page.find("aside a[href='/acme/store?domain=documents']")
	if got := page.text("main article"); !strings.Contains(got, "A friend") {
		t.Errorf("no example: %s", got)
	}
	page.find("a[data-variant=primary][href='/acme/store/globex/greeter/adopt?version=1.0.0']")

	calls := s.as(max).get("/acme/store/globex/greeter?tab=functions").status(200)
	cells := calls.find("table tbody td")
	for i, want := range []string{"name required", "string", "Whom to greet"} {
		if got := strings.Join(strings.Fields(cells.Eq(i).Text()), " "); got != want {
			t.Errorf("column %d of the parameter: %q, want %q", i, got, want)
		}
	}
	if got := calls.text("main section h2"); !strings.HasPrefix(got, "code__greeter") {
		t.Errorf("runtime name: %q", got)
	}
	source := s.as(max).get("/acme/store/globex/greeter?tab=source").status(200)
	if got := source.text("code"); !strings.Contains(got, "CAPSTORE_INPUT") || !strings.Contains(got, "Whom to greet") {
		t.Errorf("source: %q", got)
	}
}

func TestDetailLensShowsAnOlderVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{
		ID: "greeter", Name: "hello", Description: "Greets more warmly.", Spec: greetSpec(t, nil), Bump: capability.BumpMajor, Note: "Warmer.",
	})
	member := s.as(max)
	latest := member.get("/acme/store/globex/greeter").status(200)
	if got := latest.text("h1"); got != "hello" {
		t.Errorf("the latest is %q", got)
	}
	old := member.get("/acme/store/globex/greeter?version=1.0.0&tab=functions").status(200)
	if got := old.text("h1"); got != "greeter" {
		t.Errorf("1.0.0 is %q", got)
	}
	old.find("a[href='/acme/store/globex/greeter?tab=source&version=1.0.0']") // tabs keep the lens
	old.find("a[data-variant=primary][href='/acme/store/globex/greeter/adopt?version=1.0.0']")
	if got := old.text(".callout"); !strings.Contains(got, "1.0.0") || !strings.Contains(got, "2.0.0") {
		t.Errorf("the notice says %q", got)
	}
	member.get("/acme/store/globex/greeter?version=7.0.0").status(404)
}

func TestVersionsCompare(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{
		"egress": []string{"api.example.com"}, "code": "print('hello')\n",
	}), Note: "Asks the office."})
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{
		"egress": []string{"api.example.com"}, "code": "print('hello there')\n",
	})})
	member := s.as(max)
	usual := member.get("/acme/store/globex/greeter?tab=versions").status(200)
	usual.find("select[name=base] option[value='1.0.1'][selected]")
	usual.find("select[name=candidate] option[value='1.0.2'][selected]")
	usual.find(".diff ins, .diff .diff-add")
	wide := member.get("/acme/store/globex/greeter?tab=versions&base=1.0.0&candidate=1.0.1&view=split").status(200)
	if got := wide.text("#history"); !strings.Contains(got, "Asks to reach these hosts: api.example.com") || !strings.Contains(got, "New power") {
		t.Errorf("no word of the new host: %s", got)
	}
	wide.find(".diff[data-wrap]")
	if first := strings.Index(wide.Body, "Asks to reach these hosts"); first > strings.Index(wide.Body, "class=\"diff\"") {
		t.Error("what changes for the reader does not come first")
	}
	same := member.get("/acme/store/globex/greeter?tab=versions&base=1.0.0&candidate=1.0.0").status(200)
	same.none(".diff")
	part := member.htmx().get("/acme/store/globex/greeter?tab=versions&base=1.0.0&candidate=1.0.2").status(200)
	part.find("#history")
	part.none("h1")
	member.get("/acme/store/globex/greeter?tab=versions&base=0.0.1").status(404)
}

func TestWithdrawnAndBlockedVersionsAreMarked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.greeter(nil)
	s.pin(max, "acme", first)
	for range 2 {
		s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10}), Bump: capability.BumpMinor})
		s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 20}), Bump: capability.BumpMinor})
	}
	actor := s.actor(gus, "globex")
	must(t, s.Catalog.Withdraw(t.Context(), actor, "globex", "greeter", "1.0.0"))
	must(t, s.Catalog.Block(t.Context(), actor, "globex", "greeter", "1.1.0", "It insults people."))
	line := s.as(max).get("/acme/store/globex/greeter?tab=versions").status(200)
	if got := line.text("#history ol"); !strings.Contains(got, "withdrawn") || !strings.Contains(got, "Blocked: It insults people.") {
		t.Errorf("version line: %s", got)
	}
	blocked := s.as(max).get("/acme/store/globex/greeter?version=1.1.0").status(200)
	if got := blocked.text(".callout[data-tone=danger]"); !strings.Contains(got, "It insults people.") {
		t.Errorf("notice: %q", got)
	}
	blocked.find("#primary-action[aria-disabled=true]")
	other := s.as(gus).get("/globex/store/globex/greeter?version=1.0.0").status(200)
	other.find("#primary-action[aria-disabled=true]") // withdrawn: no new adoption
}

func TestPrimaryActionFitsTheReader(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{Name: "letters", Spec: textSkill(t, "# Letters"), Visibility: capability.ReachWorkspace})
	s.promote(gus, "globex", "letters", capability.ReachPublic)
	s.offer(max, "acme", catalog.Publication{ID: "mine", Name: "mine", Spec: greetSpec(t, nil)})

	viewer := s.as(vera).get("/acme/store/globex/greeter").status(200)
	if got := viewer.text("#primary-action-reason"); !strings.Contains(got, "member or admin") {
		t.Errorf("a viewer is told %q", got)
	}
	member := s.as(max)
	if got := member.get("/acme/store/acme/mine").text("#primary-action-reason"); !strings.Contains(got, "private") {
		t.Errorf("on a private one: %q", got)
	}
	member.get("/acme/store/acme/mine").find("a[href='/acme/store/acme/mine/manage']")
	member.get("/acme/store/globex/greeter").none("a[href$='/manage']")
	member.get("/acme/store/globex/letters").find("form[action='/acme/store/globex/letters/copy'] button#primary-action")

	s.pin(max, "acme", v)
	adopted := member.get("/acme/store/globex/greeter").status(200)
	adopted.find("a#primary-action[href='/acme/chat?tool=code__greeter']")
	if got := adopted.text(".callout"); !strings.Contains(got, "In your workspace 1.0.0") || !strings.Contains(got, "On: adopted by the workspace") {
		t.Errorf("standing: %q", got)
	}
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10})})
	update := member.get("/acme/store/globex/greeter").find("a#primary-action")
	if got := update.AttrOr("href", ""); got != "/acme/store/globex/greeter/adopt?version=1.0.1" {
		t.Errorf("an update leads to %q", got)
	}
}

func TestDetailOfWhatMayNotBeSeenIsMissing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(gus, "globex", catalog.Publication{ID: "inner", Name: "inner", Spec: textSkill(t, "Inside."), Visibility: capability.ReachWorkspace})
	member := s.as(ada)
	for _, query := range []string{"", "?tab=versions", "?version=1.0.0", "/file?version=1.0.0&path=SKILL.md"} {
		unseen, missing := member.get("/acme/store/globex/inner"+query), member.get("/acme/store/globex/other"+query)
		unseen.status(404)
		missing.status(404)
		if diff := cmp.Diff(missing.Statements, unseen.Statements); diff != "" {
			t.Errorf("%q: the statements tell the two apart (-missing +unseen):\n%s", query, diff)
		}
		if diff := cmp.Diff(missing.text("main p"), unseen.text("main p"), ignoreReference); diff != "" {
			t.Errorf("%q: the pages tell the two apart (-missing +unseen):\n%s", query, diff)
		}
	}
	s.as(gus).get("/acme/store").status(404)
	s.stranger().get("/acme/store").leadsTo("/login?next=%2Facme%2Fstore")
}

func TestDetailIsNotSentTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	member := s.as(max)
	first := member.get("/acme/store/globex/greeter").status(200)
	tag := first.Header.Get("ETag")
	again := member.do("GET", "/acme/store/globex/greeter", nil, "If-None-Match", "W/"+tag)
	if again.Status != 304 || again.Body != "" {
		t.Errorf("status %d, %d bytes", again.Status, len(again.Body))
	}
	s.pin(max, "acme", catalog.VersionInfo{Source: "globex", ID: "greeter", Version: "1.0.0", Digest: s.digest("globex", "greeter", "1.0.0")})
	if got := member.do("GET", "/acme/store/globex/greeter", nil, "If-None-Match", tag); got.Status != 200 {
		t.Errorf("after adopting: status %d", got.Status)
	}
}

func (s *site) digest(source, id, version string) string {
	s.t.Helper()
	v, err := s.Catalog.Version(s.t.Context(), s.actor(max, "acme"), source, id, version)
	must(s.t, err)
	return v.Digest
}

func TestDetailTakesFiveStatements(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10})})
	member := s.as(max)
	check := func(most int, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if got := member.get("/acme/store/globex/greeter" + path).status(200); len(got.Statements) > most {
				t.Errorf("%s takes %d statements:\n%s", path, len(got.Statements), strings.Join(got.Statements, "\n"))
			}
		}
	}
	check(4, "", "?tab=functions", "?tab=source", "?tab=try")
	check(5, "?version=1.0.0", "?tab=versions")
	s.pin(max, "acme", v)
	member.get("/acme/store/globex/greeter") // what it carries is read whole once
	check(5, "", "?tab=functions", "?tab=source", "?tab=try")
}

func TestDetailSaysWhatItLeansOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(gus, "globex", catalog.Publication{ID: "near", Name: "near", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	s.promote(gus, "globex", "near", capability.ReachPublic)
	s.offer(gus, "globex", catalog.Publication{ID: "hidden", Name: "hidden", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	v := s.greeter(map[string]any{"requires": []string{"globex/near", "globex/hidden", "code__near", "mcp__desk__open_ticket"}})
	member := s.as(max)
	at := func() *answer { return member.get("/acme/store/globex/greeter").status(200) }

	page := at()
	page.find("aside a[href='/acme/store/globex/near']")
	page.none("aside a[href='/acme/store/globex/hidden']") // as what does not exist
	page.find("aside a[href='/acme/store?q=open_ticket']")
	if got := page.text("aside"); strings.Contains(got, "Your agent carries it") || !strings.Contains(got, "nothing of that name that you can see") {
		t.Errorf("nothing is carried: %s", got)
	}
	s.pin(max, "acme", s.held(gus, "globex", "near").Latest.VersionInfo)
	s.pin(max, "acme", v)
	page = at()
	if got := strings.Count(page.text("aside"), "Your agent carries it"); got != 2 {
		t.Errorf("%d are carried: %s", got, page.text("aside"))
	}
	page.says("article", "It leans on what your agent does not carry: globex/hidden, mcp__desk__open_ticket.")
	off := false
	_, err := s.Workspace.SetSwitch(t.Context(), s.actor(max, "acme"), capability.CapabilityKey("globex", "near"), &off)
	must(t, err)
	at().find("aside a[href='/acme/settings/tools/capability:globex%2Fnear']")
}

func TestDetailSaysWhereAnImportCameFrom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(max, "acme", catalog.Publication{
		ID: "kept", Name: "kept", Spec: greetSpec(t, nil), Provenance: json.RawMessage(`{"format":"claude-plugin","plugin":"office","pluginVersion":"1.2",
			"marketplace":"desk","path":"skills/kept","homepage":"https://office.example.com","repository":"javascript:alert(1)","author":7}`),
	})
	page := s.as(max).get("/acme/store/acme/kept").status(200)
	page.says("aside", "Plugin office 1.2", "Marketplace desk", "skills/kept")
	page.find("aside a[href='https://office.example.com'][rel~=nofollow]")
	page.none("aside a[href^='javascript']")
}

func TestDetailLeadsToWhatFollows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(nil)
	s.offer(gus, "globex", catalog.Publication{ID: "next", Name: "next", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace})
	must(t, s.Catalog.Update(t.Context(), s.actor(gus, "globex"), "globex", "greeter", catalog.Patch{Deprecated: &catalog.Deprecation{Successor: "globex/next", Note: "Too polite."}}))
	member := s.as(max)
	page := member.get("/acme/store/globex/greeter").status(200)
	page.says("article", "Too polite. Use globex/next instead")
	page.none("article a[href='/acme/store/globex/next']")
	s.promote(gus, "globex", "next", capability.ReachPublic)
	member.get("/acme/store/globex/greeter").status(200).find("article a[href='/acme/store/globex/next']")
}

func TestAnAuthorsOtherActionsStandInAMenu(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.managed().get("/acme/store/acme/tool").status(200)
	page.find("header details.menu a[href='/acme/store/acme/tool/manage']")
	page.find("header details.menu a[href='/acme/store/acme/tool/edit']")
	if n := page.Doc.Find("article header > div > .btn, article header > div > div > .btn, article header > div > form").Length(); n > 1 {
		t.Errorf("%d buttons stand in the head", n)
	}
}
