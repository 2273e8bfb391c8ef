package web_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func zipped(t *testing.T, files ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i+1 < len(files); i += 2 {
		f, err := w.Create(files[i])
		must(t, err)
		_, err = f.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, w.Close())
	return out.String()
}

func skillText(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n\n# " + name + "\n"
}

const importForm = "form[data-import]"

// waiting is something that was sent to be imported, with the page that shows
// what is in it.
type waiting struct {
	c    *client
	path string
	page *answer
}

// sends uploads for an import and opens the page that it leads to.
func (c *client) sends(fields []string, files ...[3]string) *waiting {
	c.t.Helper()
	sent := c.upload("/acme/store/import", fields, files...).status(http.StatusSeeOther)
	w := &waiting{c: c, path: sent.Header.Get("Location")}
	w.page = c.get(w.path).status(http.StatusOK)
	return w
}

// press sends the form with the changes and one button.
func (w *waiting) press(name, value string, changes ...string) *answer {
	w.c.t.Helper()
	sent := w.page.fields(importForm)
	for i := 0; i+1 < len(changes); i += 2 {
		sent = append(dropped(sent, changes[i]), changes[i], changes[i+1])
	}
	return w.c.post(w.path, append(sent, name, value)...)
}

// publishes presses the button and follows to what became of it.
func (w *waiting) publishes(changes ...string) *answer {
	w.c.t.Helper()
	w.press("op", "publish", changes...).leadsTo(w.path)
	return w.c.get(w.path).status(http.StatusOK)
}

func TestImportShowsEverythingBeforeItPublishes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(max, "acme", catalog.Publication{Name: "old", Description: "Was here.", Spec: textSkill(t, "Old."), Visibility: capability.ReachWorkspace})
	archive := zipped(t,
		"fine/SKILL.md", skillText("fine", "All well."), "fine/a.txt", "a", "fine/inner/SKILL.md", skillText("inner", "Inside."),
		"mended/SKILL.md", skillText("mended", "says: a: thing"), "twin/SKILL.md", skillText("fine", "Other."), "copy/SKILL.md", skillText("mended", "says: a: thing"),
		"empty/SKILL.md", "---\nname: empty\n---\n", "old/SKILL.md", skillText("old", "Newer."), "__MACOSX/x", "junk",
	)
	member := s.as(max)
	w := member.sends(nil, [3]string{"file", "skills.zip", archive})
	w.page.says("main", "skills.zip", "2 are new", "becomes fine 1.0.0", "2 files beside it", "Repaired", "becomes old 1.0.1, after 1.0.0",
		"2 cannot be made", "empty/SKILL.md", "1 is there already", "1 is left out", "fine/inner/SKILL.md", "thing changes for those who use it")
	w.page.find(`a.chip, button.chip[value=refused]`)
	if n := len(member.get("/acme/store/mine").status(200).names()); n != 1 {
		t.Fatalf("%d are published by looking", n)
	}
	w.press("op", "none").leadsTo(w.path)
	if page := member.get(w.path); page.Doc.Find("input[name=path][checked]").Length() != 0 || page.Doc.Find("input[name=path]").Length() != 3 {
		t.Error("choosing none leaves some chosen")
	}
	none := dropped(w.page.fields(importForm), "path")
	member.post(w.path, append(none, "op", "publish")...).status(http.StatusUnprocessableEntity).says("main", "Choose at least one of them.")
	chosen := append(none, "path", "fine/SKILL.md", "path", "old/SKILL.md", "path", "empty/SKILL.md", "path", "../etc/passwd", "op", "publish")
	member.post(w.path, with(chosen, "visibility", "workspace")...).leadsTo(w.path)
	done := member.get(w.path).status(200)
	done.says("main", "7 found: 2 published, 0 unchanged, 2 refused, 3 left out.", "acme/fine@1.0.0", "acme/old@1.0.1", "It was not chosen")
	done.find(`main a[href="/acme/store/acme/fine"]`)
	fine := s.latest(vera, "acme", "fine")
	spec := fine.Content.Spec.(*capability.SkillSpec)
	if spec.Raw != skillText("fine", "All well.") || len(spec.Files) != 2 {
		t.Errorf("the original is %q, beside %d files", spec.Raw, len(spec.Files))
	}
	member.post(w.path, chosen...).leadsTo(w.path)
	again := member.sends(nil, [3]string{"file", "skills.zip", archive})
	again.page.says("main", "3 are there already", "1 is new")
}

// dropped is the sent fields without those of a name.
func dropped(sent []string, name string) []string {
	var out []string
	for i := 0; i+1 < len(sent); i += 2 {
		if sent[i] != name {
			out = append(out, sent[i], sent[i+1])
		}
	}
	return out
}

// What is sent comes as files, a folder, a text or from an address.
func TestWaysToImport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/skills.zip":
			_, _ = w.Write([]byte(zipped(t, "far/SKILL.md", skillText("far", "From far."))))
		case "/page":
			_, _ = w.Write([]byte("<!doctype html><title>Sign in</title>"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(stub.Close)
	member := s.as(max)
	folder := member.sends([]string{"text", "not looked at"},
		[3]string{"file", "", ""}, [3]string{"folder", "guide/SKILL.md", skillText("guide", "A guide.")}, [3]string{"folder", "guide/docs/more.md", "More."},
		[3]string{"folder", "guide/run.sh", "#!/bin/sh\necho hi\n"})
	folder.page.says("main", "becomes guide", "2 files beside it", "guide/SKILL.md")
	folder.publishes()
	files := s.latest(max, "acme", "guide").Content.Spec.(*capability.SkillSpec).Files
	if len(files) != 2 || files[0].Path != "docs/more.md" || files[0].Executable || !files[1].Executable {
		t.Errorf("the files are %+v", files)
	}
	member.sends([]string{"text", skillText("pasted", "Pasted.")}).page.says("main", "becomes pasted")
	several := member.sends(nil, [3]string{"file", "a.zip", zipped(t, "one/SKILL.md", skillText("one", "One."))},
		[3]string{"file", "b.json", `{"mcpServers":{"two":{"url":"https://two.example.com/mcp"}}}`}, [3]string{"file", "c.zip", "PK\x03\x04 broken"})
	several.page.says("main", "becomes one", "a.zip: one/SKILL.md", "becomes two", "b.json: b.json#two", "1 cannot be made", "c.zip")
	several.publishes().says("main", "2 published", "1 refused")

	far := member.sends([]string{"url", stub.URL + "/skills.zip"})
	far.page.says("main", stub.URL+"/skills.zip", "becomes far")
	far.publishes()
	if v := s.latest(max, "acme", "far"); !strings.Contains(string(v.Provenance), stub.URL+"/skills.zip") {
		t.Errorf("provenance %s", v.Provenance)
	}
	for address, says := range map[string]string{
		stub.URL + "/page": "web page", stub.URL + "/none": "404", "http://10.1.2.3/x": "10.1.2.3", "file:///etc/passwd": "http", "nonsense": "",
	} {
		page := member.upload("/acme/store/import", []string{"url", address}).status(http.StatusUnprocessableEntity)
		if text := page.text("main"); !strings.Contains(text, says) || page.find("input[name=url]").AttrOr("value", "") != address {
			t.Errorf("%s: %s", address, text)
		}
		page.find("#field-url[aria-invalid=true]")
	}
}

func TestImportRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	for name, files := range map[string][3]string{
		"nothing at all":       {"file", "", ""},
		"a zip without skills": {"file", "a.zip", zipped(t, "readme.txt", "x")},
		"a broken zip":         {"file", "a.zip", "PK\x03\x04 and no more"},
		"an escape":            {"file", "a.zip", zipped(t, "../SKILL.md", skillText("x", "y"))},
	} {
		if page := member.upload("/acme/store/import", nil, files); page.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d", name, page.Status)
		} else {
			page.find("[role=alert], [aria-live]")
		}
	}
	viewer := s.as(vera)
	viewer.get("/acme/store/import").status(200).says("main", "admin")
	w := viewer.sends([]string{"text", skillText("x", "y")})
	w.page.find("button[aria-disabled=true]")
	w.press("op", "publish").status(http.StatusForbidden)
}

// What waits is its sender's alone, in the workspace that he sent it to.
func TestWhatWaitsIsItsSenders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.as(max).sends([]string{"text", skillText("mine", "Mine.")})
	nothing := s.as(ada).get("/acme/imports/00000000-0000-4000-8000-000000000000").status(http.StatusNotFound)
	for name, got := range map[string]*answer{
		"a colleague": s.as(ada).get(w.path), "another workspace": s.as(max).get(strings.Replace(w.path, "acme", "globex", 1)),
		"no id": s.as(ada).get("/acme/imports/x"), "a colleague's post": s.as(ada).post(w.path, "op", "publish"),
	} {
		if got.Status != http.StatusNotFound || !strings.Contains(got.text("main"), nothing.text("main h1")) {
			t.Errorf("%s: %d %s", name, got.Status, got.text("main"))
		}
	}
}

const configuration = `{
  // by hand
  "mcpServers": {
    "notes": {"command": "npx", "args": ["-y", "notes-mcp"]},
    "board": {"url": "https://board.example.com/mcp", "headers": {"Authorization": "Bearer sk_live_5up3rs3cr3tV4lu3xyz"}},
  },
}`

// A server that came with a command is asked for an image or an address; a
// secret in the file is shown by its name and kept only when that is chosen.
func TestImportAsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	w := member.sends([]string{"text", configuration})
	w.page.says("main", "1 needs an answer", "1 is new", "A secret stands in the file")
	keep := w.page.find("input[name=keep]").AttrOr("value", "")
	wanted := w.page.find("input[name=want]").AttrOr("value", "")
	if keep == "" || wanted == "" {
		t.Fatalf("asks for %q and %q", keep, wanted)
	}
	w.press("op", "look", "image", "ghcr.io/example/notes:1.2", "keep", keep).leadsTo(w.path)
	w.page = member.get(w.path).status(200)
	w.page.says("main", "2 are new", "ghcr.io/example/notes:1.2")
	if strings.Contains(w.page.Body, "5up3rs3cr3t") {
		t.Error("the page shows the secret")
	}
	done := w.publishes("visibility", "workspace")
	name, _, _ := strings.Cut(keep, " ")
	done.says("main", "2 published", "The secret "+name+" was kept.")
	list, err := s.Secrets.List(t.Context(), s.actor(max, "acme"))
	must(t, err)
	if len(list) != 1 || list[0].Name != name || list[0].Personal {
		t.Errorf("kept %+v", list)
	}
	for _, row := range s.rows("SELECT ciphertext::text || state::text FROM staged_imports UNION ALL SELECT content FROM capability_versions UNION ALL SELECT coalesce(provenance::text, '') FROM capability_versions") {
		if strings.Contains(row, "5up3rs3cr3t") {
			t.Errorf("the secret stands in %.200s", row)
		}
	}
	if rows := s.rows("SELECT octet_length(ciphertext)::text FROM staged_imports"); !slices.Equal(rows, []string{"0"}) {
		t.Errorf("what was sent is still kept: %v", rows)
	}
}

// rows is the first column of what a statement finds, as text.
func (s *site) rows(statement string) []string {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), statement)
	must(s.t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		must(s.t, rows.Scan(&text))
		out = append(out, text)
	}
	must(s.t, rows.Err())
	return out
}

// A list of hundreds is narrowed by its fates without losing what was chosen,
// looked up by few statements, and published in parts that go on by a button.
func TestImportOfHundreds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	var files []string
	for i := range 420 {
		name := "skill-" + strconv.Itoa(1000+i)
		files = append(files, name+"/SKILL.md", skillText(name, "Number "+name+"."))
	}
	files = append(files, "bad/SKILL.md", "")
	w := member.sends(nil, [3]string{"file", "library.zip", zipped(t, files...)})
	w.page.says("main", "420 are new", "1 cannot be made")
	if n := len(w.page.Statements); n > 30 {
		t.Errorf("%d statements to look at 421 things", n)
	}
	first := dropped(w.page.fields(importForm), "path")
	var paths []string
	for i := 0; i < len(files)-4; i += 2 {
		paths = append(paths, "path", files[i])
	}
	member.post(w.path, append(append(first, paths...), "show", "refused")...).leadsTo(w.path + "?show=refused")
	narrow := member.get(w.path + "?show=refused").status(200)
	narrow.none("input[name=path]")
	narrow.says("main", "1 cannot be made")

	member.post(w.path, append(narrow.fields(importForm), "op", "publish")...).leadsTo(w.path)
	parts := 1
	for page := member.get(w.path).status(200); page.Doc.Find("form [role=progressbar], form progress").Length() > 0; page = member.get(w.path).status(200) {
		member.post(w.path, page.fields("form:has([role=progressbar]), form:has(progress)")...).leadsTo(w.path)
		parts++
	}
	member.get(w.path).says("main", "421 found: 419 published, 0 unchanged, 1 refused, 1 left out.")
	if parts < 2 {
		t.Error("it was published in one part")
	}
}
