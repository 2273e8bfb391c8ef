package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
)

// skillSpec is a skill with files, each a path and a text.
func skillSpec(t *testing.T, instructions string, files ...string) json.RawMessage {
	t.Helper()
	var list []map[string]any
	for i := 0; i+1 < len(files); i += 2 {
		list = append(list, map[string]any{"path": files[i], "encoding": "utf-8", "content": files[i+1]})
	}
	raw, err := json.Marshal(map[string]any{"type": "skill", "instructions": instructions, "files": list})
	must(t, err)
	return raw
}

// numbered is n lines, one of them another.
func numbered(n, at int, other string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if i == at {
			b.WriteString(other + "\n")
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// twoVersions is a skill of acme in two versions, and where they are compared.
func (s *site) twoVersions(before, after json.RawMessage) string {
	s.t.Helper()
	s.offer(ada, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: before, Visibility: capability.ReachWorkspace})
	s.offer(ada, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: after})
	return "/acme/store/acme/guide?tab=versions&base=1.0.0&candidate=1.0.1"
}

func TestFilesOfASkillAreComparedOneByOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.twoVersions(
		skillSpec(t, "# Do\n", "a.md", "one\ntwo\n", "old.md", "kept as it is\n", "ends.txt", "a\nb\n", "gone.sh", "true\n"),
		skillSpec(t, "# Do\n", "a.md", "one\n2\u202e\n", "new.md", "kept as it is\n", "ends.txt", "a\r\nb\r\n", "<b>.md", "<script>alert(1)</script>\n"))
	page := s.as(ada).get(path).status(200)
	for _, want := range []string{
		"The same content stood in old.md.", "renamed", "Only the ends of the lines differ: LF → CRLF.",
		"Carries these files that can be run no more: gone.sh", "Holds more characters that cannot be seen: a.md",
	} {
		if got := page.text("#history"); !strings.Contains(got, want) {
			t.Errorf("the page lacks %q: %s", want, got)
		}
	}
	page.find(".diff-add bdi.invisible-mark[data-code='U+202E']")
	page.none("#history script, #history b")
	if got := page.text("#history section[aria-labelledby=comparison]"); !strings.Contains(got, "<script>alert(1)</script>") || !strings.Contains(got, "<b>.md") {
		t.Errorf("the text of a file is not shown as it is: %s", got)
	}
}

func TestFoldedLinesOpenByALink(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.twoVersions(skillSpec(t, numbered(60, 0, "")), skillSpec(t, numbered(60, 30, "thirty")))
	folded := s.as(ada).get(path).status(200)
	links := folded.find(".diff-fold a")
	if links.Length() != 2 || folded.text(".diff-fold") != "⋯ 26 unchanged lines⋯ 27 unchanged lines" {
		t.Fatalf("%d folds: %s", links.Length(), folded.text(".diff-fold"))
	}
	href, _ := links.First().Attr("href")
	opened := s.as(ada).get(strings.Split(href, "#")[0]).status(200)
	if got := opened.find("tr[data-run='1']").Length(); got != 26 || opened.Doc.Find(".diff-fold").Length() != 1 {
		t.Errorf("%d lines are opened, %d folds left", got, opened.Doc.Find(".diff-fold").Length())
	}
	// With script only those rows are taken from the answer.
	if get, _ := links.First().Attr("hx-select"); get != "#diff-0 tbody > tr[data-run='1']" {
		t.Errorf("the link takes %q", get)
	}
}

func TestALongDiffGoesOnByALink(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	long := numbered(3000, 0, "")
	path := s.twoVersions(skillSpec(t, "# Do\n", "big.txt", long, "z.txt", "a\n"), skillSpec(t, "# Do\n", "big.txt", strings.ReplaceAll(long, "line", "row"), "z.txt", "b\n"))
	member := s.as(ada)
	page := member.get(path).status(200)
	if got := page.find("#diff-0 .diff-add, #diff-0 .diff-del").Length(); got != 2000 {
		t.Errorf("%d changed lines are shown at first", got)
	}
	href, _ := page.find("#diff-0 .diff-after a").Attr("href")
	if got := page.text(".diff-after"); got != "Show the next of 4,000 more changed lines" {
		t.Errorf("the link says %q", got)
	}
	next := member.get(strings.Split(href, "#")[0]).status(200)
	if got := next.text("#diff-0 .diff-before"); got != "2,000 changed lines come before" {
		t.Errorf("the next part says %q", got)
	}
	if got := next.find("#diff-0 .diff-add td:nth-child(2)").First().Text(); got != "1001" {
		t.Errorf("the next part begins at line %s", got)
	}
	// What found no room is one link away.
	if page.Doc.Find("#diff-1").Length() != 0 {
		t.Error("more than the first lines are shown")
	}
	whole, _ := page.find("#text-diff-1 a").Attr("href")
	member.get(strings.Split(whole, "#")[0]).status(200).find("#diff-1 .diff-add")
}

func TestReplacedTextsAreSaidSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.twoVersions(skillSpec(t, strings.Repeat("every line is this one\n", 9000)), skillSpec(t, strings.Repeat("and now all of it differs from before\n", 9000)))
	page := s.as(ada).get(path).status(200)
	page.none(".diff")
	if got := page.text("#text-diff-0"); !strings.Contains(got, "so little in common") {
		t.Errorf("the page says %q", got)
	}
	href, _ := page.find("#text-diff-0 a").Attr("href")
	s.as(ada).get(strings.Split(href, "#")[0]).status(200).find("#diff-0 .diff-del")
}

func TestALongLineOfVersionsIsPaged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range 25 {
		s.offer(ada, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: skillSpec(t, fmt.Sprintf("# %d\n", i)), Visibility: reachOnce(i), Note: fmt.Sprintf("Note %d", i)})
	}
	s.offer(ada, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: skillSpec(t, "# next\n"), Version: "2.0.0-rc.1"})
	member := s.as(max)
	first := member.get("/acme/store/acme/guide?tab=versions").status(200)
	if got := first.find("#history ol > li").Length(); got != 10 {
		t.Errorf("%d versions on a page", got)
	}
	if got := first.text("#history ol > li:first-child"); !strings.Contains(got, "2.0.0-rc.1 pre-release") {
		t.Errorf("the first row: %s", got)
	}
	if got := first.find("select[name=base] option").Length(); got != 26 {
		t.Errorf("%d versions to compare", got)
	}
	older, _ := first.find("#history nav a[rel=next]").Attr("href")
	last := member.get(member.get(older).status(200).find("#history nav a[rel=next]").AttrOr("href", "")).status(200)
	if got := last.text("#history ol > li:last-child"); !strings.Contains(got, "1.0.0") || strings.Contains(got, "What changed since") {
		t.Errorf("the last row: %s", got)
	}
	since, _ := last.find("#history ol > li:first-child a[href*=candidate]").Attr("href")
	if want := "base=1.0.4&candidate=1.0.5"; !strings.Contains(since, want) {
		t.Errorf("the row compares by %s", since)
	}
	member.get("/acme/store/acme/guide?tab=versions&skip=900").status(200).find("#history ol > li")
}

// reachOnce is the reach of a first publication alone.
func reachOnce(i int) capability.Reach {
	if i == 0 {
		return capability.ReachWorkspace
	}
	return ""
}

func TestTagsAreEditedInPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.offer(max, "acme", catalog.Publication{ID: "guide", Name: "guide", Spec: skillSpec(t, "# Do\n"), Visibility: capability.ReachWorkspace, VersionTags: []string{"draft"}})
	tab := "/acme/store/acme/guide?tab=versions"
	post := views.VersionTagsPath("acme", "acme", "guide", "1.0.0")
	author := s.as(max)
	author.get(tab).status(200).find("form[action='" + post + "'] input[name=seen][value=draft]")
	author.post(post, "seen", "draft", "tags", "stable, reviewed").leadsTo(tab)
	if got := author.get(tab).text("#history ol .tag"); got != "stablereviewed" {
		t.Errorf("the tags are %q", got)
	}

	stale := s.as(ada).post(post, "seen", "draft", "tags", "blessed").status(409)
	if got := stale.text(".callout"); !strings.Contains(got, "They are now: stable, reviewed.") {
		t.Errorf("the page says %q", got)
	}
	stale.find("details[open] input[name=tags][value=blessed]")
	stale.find("details[open] input[name=seen][value='stable, reviewed']")
	s.as(ada).post(post, "seen", "reviewed, stable", "tags", "blessed").leadsTo(tab)

	long := strings.Repeat("x", 61)
	refused := author.post(post, "seen", "blessed", "tags", long).status(422)
	refused.find("details[open] input[name=tags][value='" + long + "'][aria-invalid=true]")

	viewer := s.as(vera)
	viewer.get(tab).status(200).none("form[action='" + post + "']")
	viewer.post(post, "seen", "blessed", "tags", "mine").status(403)
	s.as(gus).post(views.VersionTagsPath("globex", "acme", "guide", "1.0.0"), "tags", "mine").status(404)
	author.post(views.VersionTagsPath("acme", "acme", "guide", "9.9.9"), "tags", "mine").status(404)
}

func TestMovingThePinStandsBesideTheDiff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Bump: capability.BumpMinor, Spec: greetSpec(t, map[string]any{
		"egress": []string{"api.example.com"}, "requiredSecrets": []map[string]any{{"name": "GREETING_KEY"}}, "isReadOnly": false,
	})})
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Bump: capability.BumpMinor, Spec: greetSpec(t, map[string]any{"timeoutSec": 60})})
	tab := "/acme/store/globex/greeter?tab=versions"
	usual := s.as(max).get(tab).status(200)
	usual.find("select[name=base] option[value='1.0.0'][selected]") // what is pinned, not the version before
	usual.find("#move[href='/acme/store/globex/greeter/adopt?version=1.2.0']")

	page := s.as(max).get(tab + "&base=1.0.0&candidate=1.1.0").status(200)
	page.find("#move[href='/acme/store/globex/greeter/adopt?version=1.1.0']")
	for _, want := range []string{
		"New power: Says that it changes things", "New power: Asks for these secrets: GREETING_KEY", "agree to the exact code",
		"Asks for these secrets: GREETING_KEY", "which of these hosts it may reach: api.example.com", "which tools may change things",
	} {
		if got := page.text("section[aria-labelledby=comparison]"); !strings.Contains(got, want) {
			t.Errorf("the page lacks %q: %s", want, got)
		}
	}
	s.as(max).get(tab + "&base=1.1.0&candidate=1.2.0").status(200).none("#move") // not what is pinned
	s.as(vera).get(tab + "&base=1.0.0&candidate=1.1.0").status(200).find("#move[aria-disabled=true]")
	same := s.as(max).get(tab + "&base=1.0.0&candidate=1.0.0").status(200)
	if got := same.text("section[aria-labelledby=comparison]"); !strings.Contains(got, "The two are the same.") {
		t.Errorf("equal versions: %s", got)
	}
}

func TestAComparisonTakesFewStatements(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	for i := range 4 {
		s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Spec: greetSpec(t, map[string]any{"timeoutSec": 10 + i})})
	}
	for query, most := range map[string]int{"": 7, "&base=1.0.1&candidate=1.0.2": 8} {
		if got := s.as(max).get("/acme/store/globex/greeter?tab=versions" + query).status(200); len(got.Statements) > most {
			t.Errorf("%q takes %d statements:\n%s", query, len(got.Statements), strings.Join(got.Statements, "\n"))
		}
	}
}
