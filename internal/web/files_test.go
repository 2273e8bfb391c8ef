package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// library adds a skill with these files to acme's library.
func (s *site) library(email, name string, files ...capability.File) workspace.Skill {
	s.t.Helper()
	skill, err := s.Workspace.CreateSkill(s.t.Context(), s.actor(email, "acme"), workspace.SkillInput{
		Name: name, Description: "A " + name + ".", Version: "1.0.0",
		Spec: &capability.SkillSpec{Instructions: "One.\n\n![Flow](assets/flow.png)", Files: files},
	})
	must(s.t, err)
	return skill
}

func TestEachFileIsShownAsWhatItIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide",
		capability.File{Path: "refs/read.md", Content: "---\ntitle: x\n---\n# Read\n\n[a](limits.csv) ![f](../assets/flow.png) <b>raw</b>"},
		capability.File{Path: "refs/limits.csv", Content: "country,hotel\nAT,\"1,00\"\n<b>,2\n"},
		capability.File{Path: "assets/flow.png", Encoding: "base64", Content: picture},
		capability.File{Path: "assets/page.html", Content: "<script>alert(1)</script>"},
		capability.File{Path: "b.bin", Encoding: "base64", Content: "AAEC"},
		capability.File{Path: "run.sh", Content: "exit 1\n", Executable: true},
		capability.File{Path: "<b>.md", Content: "x"},
	)
	reader := s.as(vera)
	at := func(file string, plain bool) *answer {
		return reader.get(views.SkillFilePath("acme", "guide", file, plain)).status(http.StatusOK)
	}
	first := at("", false)
	first.find(`#file .prose img[src="` + views.SkillRawPath("acme", "guide", "assets/flow.png") + `"]`)
	if got := first.find(".tree-box .tree-item").First().Text(); !strings.Contains(got, "SKILL.md") {
		t.Errorf("the tree begins with %q", got)
	}
	read := at("refs/read.md", false)
	read.find(`#file .prose h3`)
	read.find(`.prose a[href="` + views.SkillFilePath("acme", "guide", "refs/limits.csv", false) + `#file"]`)
	read.find(`.prose img[src="` + views.SkillRawPath("acme", "guide", "assets/flow.png") + `"]`)
	read.none(".prose b, .prose hr")
	at("refs/read.md", true).says("#file code", "title: x", "<b>raw</b>")
	table := at("refs/limits.csv", false)
	table.says("#file th", "country", "hotel")
	table.says("#file td", "1,00", "<b>")
	at("refs/limits.csv", true).find("#file figure.code-box")
	at("assets/flow.png", false).find(`#file img[src="` + views.SkillRawPath("acme", "guide", "assets/flow.png") + `"]`)
	at("assets/page.html", false).says("#file code", "<script>alert(1)</script>")
	at("b.bin", false).says("#file", "not text", workspace.ContentDigest([]byte{0, 1, 2})[:8])
	at("run.sh", false).says("#file", "can be run")
	at("nowhere.md", false).says("#file", "There is no file nowhere.md here")
	hostile := at("<b>.md", false)
	hostile.none("main b")
	hostile.find(`.tree-item[aria-current=page]`)
}

func TestAFileIsHandedOverAndNeverRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide", capability.File{Path: "a/page.html", Content: "<script>1</script>"}, capability.File{Path: "flow.png", Encoding: "base64", Content: picture})
	for file, kind := range map[string]string{"a/page.html": "application/octet-stream", "flow.png": "image/png", "SKILL.md": "application/octet-stream"} {
		got := s.as(vera).get(views.SkillRawPath("acme", "guide", file)).status(http.StatusOK)
		if got.Header.Get("Content-Type") != kind || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") || !strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %v", file, got.Header)
		}
	}
	s.as(vera).get(views.SkillRawPath("acme", "guide", "nothing")).status(http.StatusNotFound)
	s.as(gus).get(views.SkillRawPath("acme", "guide", "flow.png")).status(http.StatusNotFound)
}
