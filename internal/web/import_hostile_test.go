package web_test

import (
	"strings"
	"testing"
)

// A folder or archive whose names climb or lie is refused whole and by name,
// whoever packed it: nothing relies on the browser.
func TestHostileNamesInUploads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	document := skillText("tidy", "Tidies.")
	for _, name := range []string{"../evil.md", "tidy/../../evil.md", "/srv/evil", `C:\evil`, `tidy\..\..\evil`, "tidy/CON", "tidy/" + strings.Repeat("n", 300)} {
		for way, page := range map[string]*answer{
			"folder":  member.upload("/acme/store/import", nil, [3]string{"folder", "tidy/SKILL.md", document}, [3]string{"folder", name, "x"}),
			"archive": member.upload("/acme/store/import", nil, [3]string{"file", "tidy.zip", zipped(t, "tidy/SKILL.md", document, name, "x")}),
			"skill":   member.upload("/acme/settings/skills/import", nil, [3]string{"file", "tidy.zip", zipped(t, "tidy/SKILL.md", document, name, "x")}),
		} {
			page.safe(way + " " + name)
			if page.Status != 422 || !strings.Contains(page.text("main"), strings.Trim(name[len(name)-4:], `\/.`)) {
				t.Errorf("%s %q: %d %s", way, name, page.Status, page.text("main"))
			}
		}
	}
	if n := len(member.get("/acme/store/mine").status(200).names()); n != 0 {
		t.Errorf("%d were made", n)
	}
}

// What is found in an upload is shown as text.
func TestHostileTextInUploads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	for way, archive := range map[string]string{
		"text": zipped(t, "<b>x/SKILL.md", skillText(`"<b>x"`, "'"+strings.ReplaceAll(hostileText, "'", "")+"'"), "<b>x/<img src=x onerror=alert(1)>.md", hostileText),
		"mended": zipped(t, "a/SKILL.md", "---\nname: a\ndescription: "+hostileText+"\nhooks: "+hostileText+"\n"+`<svg/onload=1>: "x"`+"\n---\n"+hostileText,
			"b/SKILL.md", "---\n"+hostileText+"\n---\nx", "c/SKILL.md", "---\nname: c\n<<<<<<< "+hostileText),
	} {
		w := member.sends(nil, [3]string{"file", "<b>.zip", archive})
		w.page.safe(way)
		if !strings.Contains(w.page.Doc.Find("main").Text(), shown) {
			t.Errorf("%s: %s", way, w.page.text("main"))
		}
		w.publishes().safe(way + ", published")
	}
}

// What is typed as the address of a server may hold a secret: it is shown to
// its sender again, and the database never holds it in the clear.
func TestWhatIsSuppliedIsKeptSealed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	w := member.sends([]string{"text", configuration})
	w.press("op", "look", "url", "https://u:5up3rpassw0rd@notes.example.com/mcp").leadsTo(w.path)
	w.page = member.get(w.path).status(200)
	w.page.says("main", "2 are new", "https://notes.example.com/mcp")
	for range 2 {
		for _, row := range s.rows("SELECT to_jsonb(i)::text FROM staged_imports i UNION ALL SELECT to_jsonb(v)::text FROM capability_versions v") {
			if strings.Contains(row, "5up3rpassw0rd") {
				t.Errorf("the secret stands in %.200s", row)
			}
		}
		w.publishes("visibility", "workspace").says("main", "2 published")
	}
}

// A reach or a target that nobody offered is told at the form: what was sent
// goes on waiting, with nothing of it refused for good.
func TestImportWithAReachThatThereIsNot(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	w := member.sends([]string{"text", skillText("kept", "Kept.")})
	for field, sent := range map[string][]string{
		"visibility": {"visibility", "nonsense"}, "sharedWith": {"visibility", "subset", "sharedWith", "initech"},
	} {
		w.press("op", "publish", sent...).status(422).find("#field-" + strings.ToLower(field) + "-error")
	}
	w.publishes("visibility", "workspace").says("main", "1 published")
}
