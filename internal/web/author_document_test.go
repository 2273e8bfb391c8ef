package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
	"capstore/views"
)

// fromFile adds a skill to acme's library that came from this SKILL.md.
func (s *site) fromFile(email, raw string) *capability.SkillSpec {
	s.t.Helper()
	form := s.as(email).filesAt(views.NewSkillPath("acme"))
	form.page = form.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"SKILL.md", raw}).status(http.StatusOK)
	form.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	return s.skill(email, "acme", "guide").Content.Spec.(*capability.SkillSpec)
}

func TestASkillIsWrittenAsItsFile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := s.as(max).filesAt(views.NewSkillPath("acme"))
	form.press(views.OpDocumentFile, "name", "guide", "description", "A guide.", "spec.instructions", "# Guide")
	if got := form.page.find("textarea[name='spec.raw']").Text(); !strings.Contains(got, "name: guide") || !strings.Contains(got, "# Guide") {
		t.Errorf("the file begins as %q", got)
	}
	form.page.find("input[name=name][readonly]")
	raw := "---\n# mine\nname: guide\ndescription: Mine.\nlicense: MIT\nmetadata:\n  author: Max\n---\n# Guide\n"
	form.press(views.OpDocumentFields, views.DocumentRaw, raw)
	for field, want := range map[string]string{"description": "Mine.", "spec.license": "MIT", "spec.metadata.0.value": "Max", "spec.instructions": "# Guide"} {
		got := form.page.find("[name='" + field + "']")
		if text := got.AttrOr("value", got.Text()); text != want {
			t.Errorf("%s is %q, want %q", field, text, want)
		}
	}
	// Through the fields and back, the file is the author's own to the byte.
	form.press(views.OpDocumentFile)
	if got := form.page.find("textarea[name='spec.raw']").Text(); got != raw {
		t.Errorf("the file became %q", got)
	}
	form.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	spec := s.skill(max, "acme", "guide").Content.Spec.(*capability.SkillSpec)
	if spec.Raw != raw || spec.License != "MIT" || spec.Instructions != "# Guide" {
		t.Errorf("saved as %+v", spec)
	}
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide"))
	edit.send("publish", "spec.license", "Apache-2.0").leadsTo(views.SkillPath("acme", "guide"))
	if spec := s.skill(max, "acme", "guide").Content.Spec.(*capability.SkillSpec); spec.Raw != "" || spec.License != "Apache-2.0" {
		t.Errorf("a field changed and the file is %q", spec.Raw)
	}
}

func TestAFaultOfTheFileIsSaidAtTheFile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := s.as(max).filesAt(views.NewSkillPath("acme")).press(views.OpDocumentFile, "name", "guide", "description", "A guide.", "spec.instructions", "x")
	for raw, says := range map[string]string{
		"---\nname: guide\n":                    "never ends",
		"":                                      "no content",
		"---\nname: guide\nname: other\n---\nx": "twice",
		"---\nname: guide\ndescription: d\n---\n":                "required",
		"{\"mcpServers\": {}}":                                   "",
		"---\nname: guide\ndescription: d\n---\nx\x00":           "NUL",
		"---\nname: guide\n<<<<<<< ours\ndescription: d\n---\nx": "unresolved merge",
	} {
		got := form.send("publish", views.DocumentRaw, raw).status(http.StatusUnprocessableEntity)
		field := got.find("textarea#field-spec-instructions[name='spec.raw'][aria-invalid=true]")
		if text := got.text("#field-spec-instructions-error"); !strings.Contains(text, says) {
			t.Errorf("%q: %q", raw, text)
		}
		if typed := strings.TrimPrefix(field.Text(), "\n"); typed != strings.ReplaceAll(raw, "\x00", "\uFFFD") && typed != raw {
			t.Errorf("of %q is left %q", raw, typed)
		}
	}
	if _, err := s.Workspace.Skill(t.Context(), s.actor(max, "acme"), "guide"); err == nil {
		t.Error("something was written")
	}
}

func TestAMendedFileIsShownAsItWasRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	raw := "---\r\nname: guide\r\ndescription: Sorts mail. Triggers: tidy, sort: by date\r\n---\r\n# Guide\r\n"
	if spec := s.fromFile(max, raw); spec.Raw != raw || spec.Instructions != "# Guide" {
		t.Errorf("read as %+v", spec)
	}
	page := s.as(vera).get(views.SkillPath("acme", "guide")).status(200)
	page.says(".callout", "had to be mended", `description: "Sorts mail. Triggers: tidy, sort: by date"`)
	page.says("aside", "The model reads", "tokens always")
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide"))
	edit.page.says(".callout", "had to be mended")
	edit.page.says("details", "about", "tokens always")
	// Files beside it leave it as it is.
	edit.page = edit.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"a.md", "a"}).status(200)
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	if spec := s.skill(max, "acme", "guide").Content.Spec.(*capability.SkillSpec); spec.Raw != raw || len(spec.Files) != 1 {
		t.Errorf("a file beside it made %+v", spec)
	}
}

func TestACopyIsComparedWithWhatItsOriginBecame(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(gus, "globex", catalog.Publication{ID: "tone", Name: "tone", Description: "Tone.", Spec: textSkill(t, "Be kind.\n"), Visibility: capability.ReachWorkspace})
	s.promote(gus, "globex", "tone", capability.ReachPublic)
	_, err := s.Workspace.TakeFromStore(t.Context(), s.actor(max, "acme"), workspace.TakeInput{Source: "globex", ID: "tone", Version: "1.0.0"})
	must(t, err)
	path := views.SkillPath("acme", "tone")
	s.as(max).get(path).status(200).none(".callout a")
	s.publish(gus, "globex", catalog.Publication{ID: "tone", Name: "tone", Description: "Tone.", Spec: textSkill(t, "Be kind.\nBe brief.\n"), Bump: capability.BumpMinor})
	page := s.as(max).get(path).status(200)
	page.says(".callout", "globex/tone is at 1.1.0 now", "began at 1.0.0")
	there := views.SkillDiffPath("acme", "tone", views.OfOrigin("1.0.0"), views.OfOrigin("1.1.0"))
	page.find(`.callout a[href="` + there + `"]`)
	diff := s.as(max).get(there).status(200)
	diff.says("main", "From origin 1.0.0 to origin 1.1.0", "Be brief.")
	diff.find(`select[name=base] option[value="origin:1.0.0"][selected]`)
	s.as(max).get(views.SkillDiffPath("acme", "tone", views.WorkingCopy, views.OfOrigin("1.1.0"))).status(200).says("main", "Be brief.")
	s.as(max).get(views.SkillDiffPath("acme", "tone", views.WorkingCopy, views.OfOrigin("9.9.9"))).status(http.StatusNotFound)

	// What is withdrawn from the reader says nothing more.
	s.promote(gus, "globex", "tone", capability.ReachWorkspace)
	s.as(max).get(path).status(200).none(".callout a")
	s.as(max).get(there).status(http.StatusNotFound)
	s.library(max, "guide")
	s.as(max).get(views.SkillDiffPath("acme", "guide", views.WorkingCopy, views.OfOrigin("1.0.0"))).status(http.StatusNotFound)
}

func TestFilesOfTwoVersionsAreComparedEach(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	long := strings.Repeat("same\n", 40)
	s.library(max, "guide", capability.File{Path: "a.md", Content: long + "one\n" + long}, capability.File{Path: "b.bin", Encoding: "base64", Content: "AAEC"},
		capability.File{Path: "old/name.md", Content: "kept under another name\n"}, capability.File{Path: "gone.md", Content: "gone\n"})
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide")).open(0)
	edit.press(views.OpFile(views.FileOpen, 2), views.FilesText, long+"two\n"+long)
	edit.press(views.OpFile(views.FileRemove, 3), views.FilesPath, "new/name.md")
	edit.page = edit.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"b.bin", "\x00\x01\x02\x03"}, [2]string{"run.sh", "#!/bin/sh\n"}).status(200)
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))

	page := s.as(vera).get(views.SkillTabPath("acme", "guide", views.TabSkillStamps)).status(200)
	page.says("main", "From 1.0.0 to now", "a.md", "one", "two", "b.bin", "3 B", "4 B", "new/name.md", "old/name.md", "gone.md", "run.sh")
	page.find("del:contains('one'), ins:contains('two'), .diff-add")
	split := s.as(vera).get(views.SkillComparisonPath("acme", "guide", views.ComparisonLens{Base: "1.0.0", Candidate: views.WorkingCopy, Split: true})).status(200)
	split.find("nav a[aria-current]:contains('ide')")
	// The lines that are folded are there for who asks.
	fold := page.find("#comparison ~ * tr.diff-fold a, tr.diff-fold a").First().AttrOr("href", "")
	opened := s.as(vera).get(strings.Split(fold, "#")[0]).status(200)
	if before, after := strings.Count(page.Body, "same"), strings.Count(opened.Body, "same"); after <= before {
		t.Errorf("opened, %d lines became %d", before, after)
	}
}
