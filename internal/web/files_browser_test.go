package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/views"
	"capstore/views/browsertest"
)

func TestFilesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide",
		capability.File{Path: "docs/a.md", Content: "one\n"}, capability.File{Path: "docs/b.csv", Content: "x,y\n1,2\n"},
		capability.File{Path: "run.sh", Content: "exit 0\n", Executable: true}, capability.File{Path: "b.bin", Encoding: "base64", Content: "AAEC"})
	s.library(max, "bare")
	tab, server := s.browse(max)
	audit(t, tab, server, views.SkillFilePath("acme", "guide", "docs/b.csv", false), views.SkillFilePath("acme", "guide", "b.bin", false),
		views.SkillFilePath("acme", "guide", "nowhere", false), views.SkillTabPath("acme", "bare", views.TabSkillFiles))

	// The keyboard alone: into the folder, to a file, out of it again.
	tab.Visit(server+views.SkillTabPath("acme", "guide", views.TabSkillFiles), auditViews[0])
	at := func() string {
		return strings.Join(strings.Fields(browsertest.Eval[string](tab, `document.activeElement.querySelector(".tree-name")?.textContent ?? ""`)), " ")
	}
	tab.Do(chromedp.Focus(".tree-item"))
	for _, step := range []struct{ key, want string }{
		{kb.ArrowDown, "docs"}, {kb.ArrowLeft, "docs"}, {kb.ArrowDown, "b.bin"}, {kb.ArrowUp, "docs"}, {kb.ArrowRight, "docs"},
		{kb.ArrowRight, "a.md"}, {kb.End, "run.sh, can be run"}, {kb.Home, "SKILL.md"}, {kb.ArrowDown, "docs"}, {kb.ArrowDown, "a.md"}, {kb.ArrowLeft, "docs"},
	} {
		tab.Do(chromedp.KeyEvent(step.key))
		if got := at(); got != step.want {
			t.Errorf("after %q the focus is on %q, want %q", step.key, got, step.want)
		}
	}

	// Written with script: the page stays, what was typed too.
	note := filepath.Join(t.TempDir(), "note.txt")
	must(t, os.WriteFile(note, []byte("sent"), 0o600))
	tab.Visit(server+views.EditSkillPath("acme", "guide"), auditViews[0])
	tab.Do(
		chromedp.SetValue("#field-description", "Typed meanwhile."),
		chromedp.Click("#"+views.FileID(0)), chromedp.WaitVisible("#files .editor-host"),
		chromedp.SetValue("input[name='files.path']", "docs/z.md"),
		chromedp.Click("#"+views.FileID(2)), chromedp.WaitVisible("#"+views.FileID(2)+"[aria-current]"),
	)
	if got := browsertest.Eval[string](tab, `document.activeElement.id`); got != views.FileID(2) {
		t.Errorf("the focus went to %q", got)
	}
	if findings := tab.Audit(); len(findings) > 0 {
		t.Errorf("with a file open: %v", findings)
	}
	tab.Do(
		chromedp.SetUploadFiles("input[name=upload]", []string{note}),
		chromedp.Click("button[value='"+views.OpFile(views.FileUpload, 0)+"']"), chromedp.WaitVisible("#"+views.FileID(4)),
		chromedp.Click("form#author .border-t button[value=publish]"), chromedp.WaitVisible(".tabbar"),
	)
	want := []string{`docs/z.md "one\n"`, `docs/b.csv "x,y\n1,2\n"`, `run.sh "exit 0\n" x`, `b.bin "\x00\x01\x02"`, `note.txt "sent"`}
	if diff := cmp.Diff(want, s.listed(max, "guide")); diff != "" {
		t.Error(diff)
	}
	if got := s.skill(max, "acme", "guide").Description; got != "Typed meanwhile." {
		t.Errorf("described as %q", got)
	}
}
