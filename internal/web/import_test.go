package web_test

import (
	"archive/zip"
	"bytes"
	"net/http"
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

func TestImportShowsEverythingBeforeItPublishes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(max, "acme", catalog.Publication{Name: "old", Description: "Was here.", Spec: textSkill(t, "Old."), Visibility: capability.ReachWorkspace})
	archive := zipped(t,
		"fine/SKILL.md", skillText("fine", "All well."), "fine/a.txt", "a", "fine/inner/SKILL.md", skillText("inner", "Inside."),
		"mended/SKILL.md", skillText("mended", "says: a: thing"),
		"empty/SKILL.md", "---\nname: empty\n---\n", "old/SKILL.md", skillText("old", "Newer."), "__MACOSX/x", "junk",
	)
	member := s.as(max)
	page := member.upload("/acme/store/import", nil, [3]string{"file", "skills.zip", archive}).status(200)
	page.says("main", "3 skills can be published", "becomes fine", "2 files beside it", "Repaired", "a new version of old, after 1.0.0", "1 cannot", "empty/SKILL.md", "1 is left out", "fine/inner/SKILL.md")
	if n := len(member.get("/acme/store/mine").status(200).names()); n != 1 {
		t.Fatalf("%d are published by looking", n)
	}
	form := "form:has(input[name=carried])"
	none := dropped(page.fields(form), "path")
	member.post("/acme/store/import", none...).status(http.StatusUnprocessableEntity).says("main", "Choose at least one of them.")
	chosen := append(none, "path", "fine/SKILL.md", "path", "old/SKILL.md", "path", "empty/SKILL.md", "path", "../etc/passwd")
	done := member.post("/acme/store/import", with(chosen, "visibility", "workspace")...).status(200)
	done.says("main", "2 published, 0 unchanged, 0 refused.", "acme/fine@1.0.0", "acme/old@1.0.1")
	done.find(`main a[href="/acme/store/acme/fine"]`)
	fine := s.latest(vera, "acme", "fine")
	spec := fine.Content.Spec.(*capability.SkillSpec)
	if spec.Raw != skillText("fine", "All well.") || len(spec.Files) != 2 {
		t.Errorf("the original is %q, beside %d files", spec.Raw, len(spec.Files))
	}
	member.post("/acme/store/import", chosen...).status(200).says("main", "0 published, 2 unchanged, 0 refused.")
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

func TestImportOfAFolderAndOfAText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.upload("/acme/store/import", []string{"text", "not looked at"},
		[3]string{"file", "", ""}, [3]string{"folder", "guide/SKILL.md", skillText("guide", "A guide.")}, [3]string{"folder", "guide/docs/more.md", "More."}).status(200)
	page.says("main", "becomes guide", "1 file beside it", "guide/SKILL.md")
	member.post("/acme/store/import", page.fields("form:has(input[name=carried])")...).status(200)
	if spec := s.latest(max, "acme", "guide").Content.Spec.(*capability.SkillSpec); spec.Files[0].Path != "docs/more.md" {
		t.Errorf("the file is %q", spec.Files[0].Path)
	}
	page = member.upload("/acme/store/import", []string{"text", skillText("pasted", "Pasted.")}).status(200)
	page.says("main", "becomes pasted")
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
	member.post("/acme/store/import", "carried", "!!").status(http.StatusBadRequest)
	viewer := s.as(vera)
	viewer.get("/acme/store/import").status(200).says("main", "admin")
	page := viewer.upload("/acme/store/import", []string{"text", skillText("x", "y")}).status(200)
	page.find("button[aria-disabled=true]")
	result := viewer.post("/acme/store/import", append(page.fields("form:has(input[name=carried])"), "path", "SKILL.md")...)
	if result.Status != 200 || !strings.Contains(result.text("main"), "1 refused") {
		t.Errorf("a viewer's import: %d %s", result.Status, result.text("main"))
	}
}
