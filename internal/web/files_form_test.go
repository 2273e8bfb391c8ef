package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

// filesForm drives a form that writes files, as a browser without script does:
// each button sends all of it.
type filesForm struct {
	*client
	path string
	page *answer
}

func (c *client) filesAt(path string) *filesForm {
	c.t.Helper()
	return &filesForm{c, path, c.get(path).status(http.StatusOK)}
}

// press sends the form with some of its fields changed and shows the answer.
func (f *filesForm) press(op string, changes ...string) *filesForm {
	f.t.Helper()
	f.page = f.send(op, changes...).status(http.StatusOK)
	return f
}

func (f *filesForm) send(op string, changes ...string) *answer {
	f.t.Helper()
	return f.post(f.path, append(with(f.sent(changes), changes...), "op", op)...)
}

// sent is what the form would send, with a place for what it does not hold yet.
func (f *filesForm) sent(changes []string) []string {
	fields := f.page.fields("#author")
	for i := 0; i+1 < len(changes); i += 2 {
		held := false
		for j := 0; j+1 < len(fields); j += 2 {
			held = held || fields[j] == changes[i]
		}
		if !held {
			fields = append(fields, changes[i], "")
		}
	}
	return fields
}

// drop uploads files into a field of the form.
func (f *filesForm) drop(field, op string, files ...[2]string) *answer {
	f.t.Helper()
	var parts [][3]string
	for _, file := range files {
		parts = append(parts, [3]string{field, file[0], file[1]})
	}
	return f.upload(f.path, append(f.page.fields("#author"), "op", op), parts...)
}

func (f *filesForm) open(at int) *filesForm {
	f.t.Helper()
	return f.press(views.OpFile(views.FileOpen, at))
}

// listed are the files of a skill of acme's as path, mark and content.
func (s *site) listed(email, id string) []string {
	s.t.Helper()
	var out []string
	for _, f := range s.skill(email, "acme", id).Content.Spec.(*capability.SkillSpec).Files {
		body, err := f.Bytes()
		must(s.t, err)
		line := f.Path + " " + fmt.Sprintf("%q", body)
		if f.Executable {
			line += " x"
		}
		out = append(out, line)
	}
	return out
}

func TestFilesAreWrittenWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide",
		capability.File{Path: "a.txt", MediaType: "text/x-own", Content: "one\r\ntwo\r\n"},
		capability.File{Path: "logo.png", Encoding: "base64", Content: picture}, capability.File{Path: "old.md", Content: "old"})
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide"))
	edit.page.says(".tree-box", "a.txt", "logo.png", "3 files")

	edit.open(0)
	if got := edit.page.find("textarea[name='files.text']").Text(); got != "one\r\ntwo\r\n" && got != "one\ntwo\n" {
		t.Errorf("the file opens as %q", got)
	}
	// Typed text, a path and the mark stay while other files are looked at.
	edit.press(views.OpFile(views.FileOpen, 1), views.FilesText, "one\nthree\n", views.FilesPath, "docs/a.txt", views.FilesRun, "on", "spec.instructions", "Typed meanwhile.")
	edit.page.find(`#files img[src="` + views.SkillRawPath("acme", "guide", "logo.png") + `"]`)
	edit.page.says(".tree-box", "docs", "changed")
	edit.press(views.OpFile(views.FileNew, 0))
	edit.press(views.OpFile(views.FileRemove, 2), views.FilesPath, "new/b.md", views.FilesText, "b")
	if got := edit.page.find("input[name='files.path']").AttrOr("value", ""); got != "new/b.md" {
		t.Errorf("after a removal %q is open", got)
	}
	edit.page = edit.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"run.sh", "#!/bin/sh\n"}, [2]string{".DS_Store", "x"}, [2]string{"logo.png", "\x00bin"}).status(200)
	edit.page.says(".tree-box", "run.sh", "4 files")
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	want := []string{`docs/a.txt "one\r\nthree\r\n" x`, `logo.png "\x00bin"`, `new/b.md "b"`, `run.sh "#!/bin/sh\n" x`}
	if diff := cmp.Diff(want, s.listed(max, "guide")); diff != "" {
		t.Error(diff)
	}
	if got := s.skill(max, "acme", "guide").Content.Spec.(*capability.SkillSpec).Instructions; got != "Typed meanwhile." {
		t.Errorf("the text is %q", got)
	}
}

func TestAFileIsReplacedAndHandedOverBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide", capability.File{Path: "a.bin", Encoding: "base64", Content: "AAEC"})
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide")).open(0)
	edit.page.says("#files", "not text")
	edit.drop("replace", views.OpFile(views.FileReplace, 0)).status(http.StatusUnprocessableEntity).says("#field-upload-error", "Choose a file first")
	edit.page = edit.drop("replace", views.OpFile(views.FileReplace, 0), [2]string{"other.txt", "text now"}).status(200)
	if got := edit.page.find("textarea[name='files.text']").Text(); got != "text now" {
		t.Errorf("it holds %q", got)
	}
	raw := views.StagedFilePath("acme", workspace.ContentDigest([]byte("text now")), "a.bin")
	edit.page.find(`#files a[href="` + raw + `"]`)
	if got := edit.get(raw).status(200); got.Body != "text now" || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("handed over %q with %v", got.Body, got.Header)
	}
	for _, other := range []string{ada, vera} {
		s.as(other).get(raw).status(http.StatusNotFound)
	}
	s.as(gus).get(raw).status(http.StatusNotFound)
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	if diff := cmp.Diff([]string{`a.bin "text now"`}, s.listed(max, "guide")); diff != "" {
		t.Error(diff)
	}
}

func TestAFolderIsUploadedWithItsPaths(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tests := map[string]struct {
		into  string
		files [][2]string
		want  []string
		text  string
	}{
		"that of a skill": {
			files: [][2]string{{"dance/SKILL.md", "---\nname: dance\ndescription: How to dance.\n---\nStep.\r\n"}, {"dance/refs/a.md", "a"}, {"dance/.git/config", "x"}},
			want:  []string{`refs/a.md "a"`}, text: "Step.",
		},
		"any other":     {files: [][2]string{{"refs/a.md", "a"}, {"refs/deep/b.md", "b"}}, want: []string{`refs/a.md "a"`, `refs/deep/b.md "b"`}, text: "Before."},
		"into a folder": {into: "/docs/", files: [][2]string{{"a.md", "a"}}, want: []string{`docs/a.md "a"`}, text: "Before."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			id := capability.IDFromName(name)
			form := s.as(max).filesAt(views.NewSkillPath("acme"))
			form.press(views.OpFile(views.FileOpen, 7), "name", name, "description", "d", "spec.instructions", "Before.", views.FilesInto, tt.into)
			fields := with(form.page.fields("#author"), views.FilesInto, tt.into)
			var parts [][3]string
			for _, f := range tt.files {
				parts = append(parts, [3]string{"folder", f[0], f[1]})
			}
			form.page = form.upload(form.path, append(fields, "op", views.OpFile(views.FileUpload, 0)), parts...).status(200)
			if tt.text == "Step." {
				id = "dance"
			}
			form.send("publish").leadsTo(views.SkillPath("acme", id))
			if diff := cmp.Diff(tt.want, s.listed(max, id)); diff != "" {
				t.Error(diff)
			}
			if got := s.skill(max, "acme", id).Content.Spec.(*capability.SkillSpec).Instructions; got != tt.text {
				t.Errorf("the text is %q", got)
			}
		})
	}
}

func TestAFaultyFileIsSaidAtTheFile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide", capability.File{Path: "Notes.md", Content: "kept"})
	before := s.listed(max, "guide")
	for name, tt := range map[string]struct{ path, text, says string }{
		"twice":            {"Notes.md", "x", "cannot lie beside"},
		"twice by case":    {"notes.MD", "x", "cannot lie beside"},
		"climbing":         {"../x", "x", "does not climb"},
		"absolute":         {"/etc/passwd", "x", "does not begin at a root"},
		"a device":         {"docs/CON", "x", "is a device"},
		"a long segment":   {strings.Repeat("n", 300), "x", "at most 255 bytes"},
		"a NUL":            {"a\x00b", "x", "U+0000"},
		"a twin":           {"Skill.md", "x", "is the skill itself"},
		"without a path":   {"", "x", "needs a path"},
		"no text at all":   {"a.txt", "\xff\xfe", "no text in UTF-8"},
		"a file as folder": {"Notes.md/a", "x", "cannot lie beside"},
	} {
		edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide")).press(views.OpFile(views.FileNew, 0))
		got := edit.send("publish", views.FilesPath, tt.path, views.FilesText, tt.text).status(http.StatusUnprocessableEntity)
		if text := got.text(".tree-fault"); !strings.Contains(text, tt.says) {
			t.Errorf("%s: the tree says %q", name, text)
		}
		got.find(`[role=alert] a[href="#` + views.FileID(1) + `"], .callout a[href="#` + views.FileID(1) + `"]`)
		got.find(`button#` + views.FileID(1) + `[aria-current]`)
	}
	if diff := cmp.Diff(before, s.listed(max, "guide")); diff != "" {
		t.Errorf("something was written: %s", diff)
	}
}

func TestTooMuchIsRefusedWhole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide", capability.File{Path: "a.md", Content: "kept"})
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide"))
	edit.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"big.bin", strings.Repeat("x", 2*capability.MaxFilesTotal)}).
		status(http.StatusUnprocessableEntity).says("#field-upload-error", "10 MiB")
	edit.drop("upload", views.OpFile(views.FileUpload, 0)).status(http.StatusUnprocessableEntity).says("#field-upload-error", "Choose a file first")
	edit.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"na\xefve.md", "x"}).status(http.StatusUnprocessableEntity).says("#field-upload-error", "not valid UTF-8")

	var many [][2]string
	for i := range 5100 {
		many = append(many, [2]string{fmt.Sprintf("f/%04d.md", i), "x"})
	}
	edit.drop("folder", views.OpFile(views.FileUpload, 0), many[:900]...).status(http.StatusUnprocessableEntity).says("#field-upload-error", "at most 200")
	edit.drop("folder", views.OpFile(views.FileUpload, 0), many...).status(http.StatusRequestEntityTooLarge).says("main", "more files than can be taken at once")
	many = nil
	for i := range capability.MaxFiles {
		many = append(many, [2]string{fmt.Sprintf("f/%03d.md", i), "x"})
	}
	edit.page = edit.drop("folder", views.OpFile(views.FileUpload, 0), many...).status(200)
	edit.page.says(".tree-sum", "201 files")
	edit.send("publish").status(http.StatusUnprocessableEntity).says("#files .callout", "at most 200")
	if diff := cmp.Diff([]string{`a.md "kept"`}, s.listed(max, "guide")); diff != "" {
		t.Error(diff)
	}
	// One less is a skill of the largest size, and its form stays small.
	edit.press(views.OpFile(views.FileRemove, 0))
	if n := len(edit.page.fields("#author")); n > 60 {
		t.Errorf("the form sends %d fields", n)
	}
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	if n := len(s.listed(max, "guide")); n != capability.MaxFiles {
		t.Errorf("%d files", n)
	}
}

func TestWhatIsNoLongerKeptIsSaidAndCanBeMended(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	edit := s.as(max).filesAt(views.NewSkillPath("acme"))
	edit.page = edit.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"a.md", "uploaded"}, [2]string{"b.md", "too"}).status(200)
	edit.press(views.OpFile(views.FileOpen, 9), "name", "guide", "description", "d", "spec.instructions", "x")
	_, err := s.db.Exec(t.Context(), `DELETE FROM staged_files WHERE digest = $1`, workspace.ContentDigest([]byte("uploaded")))
	must(t, err)
	got := edit.send("publish").status(http.StatusUnprocessableEntity)
	got.says(".tree-fault", "no longer there")
	got.says("#files .callout", "Upload it again")
	edit.page = got
	edit.press(views.OpFile(views.FileRemove, 0))
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	if diff := cmp.Diff([]string{`b.md "too"`}, s.listed(max, "guide")); diff != "" {
		t.Error(diff)
	}
	edit = s.as(max).filesAt(views.NewSkillPath("acme"))
	edit.send("publish", views.FilesList, `[{"p":`).status(http.StatusBadRequest)
}

func TestTwoWhoWriteFilesAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.library(max, "guide", capability.File{Path: "a.md", Content: "one"})
	first, second := s.as(max).filesAt(views.EditSkillPath("acme", "guide")).open(0), s.as(ada).filesAt(views.EditSkillPath("acme", "guide"))
	second.page = second.drop("upload", views.OpFile(views.FileUpload, 0), [2]string{"mine.bin", "\x00mine"}).status(200)
	first.send("publish", views.FilesText, "two").leadsTo(views.SkillPath("acme", "guide"))
	stale := second.send("publish").status(http.StatusConflict)
	stale.says("main", "Somebody else saved in the meantime")
	stale.says(".tree-box", "mine.bin", "a.md")
	second.page = stale
	second.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	if got := s.listed(ada, "guide"); len(got) != 2 {
		t.Errorf("saved in its sight: %v", got)
	}
}

func TestALargeSkillCostsTheDatabaseLittle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var files []capability.File
	for i := range capability.MaxFiles {
		files = append(files, capability.File{Path: fmt.Sprintf("d%d/%03d.txt", i%7, i), Content: string(bytes.Repeat([]byte{byte('a' + i%26)}, capability.MaxFilesTotal/capability.MaxFiles))})
	}
	s.library(max, "guide", files...)
	edit := s.as(max).filesAt(views.EditSkillPath("acme", "guide"))
	if size := len(edit.page.Body); size > 300<<10 {
		t.Errorf("the form of 10 MiB is %d bytes", size)
	}
	edit.open(17)
	if n := len(edit.page.Statements); n > 8 {
		t.Errorf("opening a file took %d statements: %q", n, edit.page.Statements)
	}
	edit.press(views.OpFile(views.FileOpen, 18), views.FilesText, "short")
	if n := len(edit.page.Statements); n > 10 {
		t.Errorf("keeping what was typed took %d statements: %q", n, edit.page.Statements)
	}
	edit.send("publish").leadsTo(views.SkillPath("acme", "guide"))
	if got := s.skill(max, "acme", "guide").Content.Spec.(*capability.SkillSpec); got.Files[17].Content != "short" || len(got.Files) != capability.MaxFiles {
		t.Errorf("%d files, %q", len(got.Files), got.Files[17].Content[:9])
	}
}
