package interchange_test

import (
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

// Rules in the text and dashes in a value are no fences.
func TestDashesThatAreNoFence(t *testing.T) {
	t.Parallel()
	const body = "# Tidy\n\n---\n\nname: other\n\n---\n\nDo it. --- Twice."
	item := paste(t, "---\nname: tidy\ndescription: mail --- the tidy way\n---\n\n"+body+"\n")
	if item.Status != interchange.Ready {
		t.Fatal(item.Fault)
	}
	if item.Content.Name != "tidy" || item.Content.Description != "mail --- the tidy way" || skill(t, item).Instructions != body {
		t.Errorf("got %q %q %q", item.Content.Name, item.Content.Description, skill(t, item).Instructions)
	}
}

// The same skill saved with other line ends reads the same and is another
// content: its bytes are its author's, and the difference says that they are
// all that differs.
func TestLineEndsAreTheOnlyDifference(t *testing.T) {
	t.Parallel()
	first := paste(t, tidy)
	seen := map[string]string{first.Content.Digest(): "LF"}
	for name, raw := range map[string]string{
		"mark": "\ufeff" + tidy, "CRLF": strings.ReplaceAll(tidy, "\n", "\r\n"), "CR": strings.ReplaceAll(tidy, "\n", "\r"),
	} {
		item := paste(t, raw)
		if other, again := seen[item.Content.Digest()]; again {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[item.Content.Digest()] = name
		changes := capability.Diff(first.Content, item.Content)
		if len(changes.Changes) != 1 || changes.Changes[0].Path != "/spec/raw" || changes.Changes[0].Text == nil {
			t.Fatalf("%s: %+v", name, changes.Changes)
		}
		text := changes.Changes[0].Text
		if ends := text.EndsDiffer() && text.Changed() == 0; ends != (name != "mark") {
			t.Errorf("%s: only the ends of lines differ: %v", name, ends)
		}
	}
}

// A document is found whatever the case of its name; what is none is not.
func TestDocumentNames(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]bool{
		"SKILL.md": true, "skill.md": true, "SKILL.MD": true, "Skill.Md": true,
		"SKILL (1).md": false, "SKILL.markdown": false, "MYSKILL.md": false, "SKILL.md.bak": false,
	} {
		i, err := interchange.FromFolder(folder(map[string]string{"tidy/" + name: tidy, "tidy/desktop.ini": "x"}), "lib", interchange.Options{})
		if !found {
			if !fault.HasCode(err, "nothing_to_import") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		item := one(t, i, err)
		if odd := strings.Contains(noteCodes(item.Notes), "document_name"); odd != (name != "SKILL.md") || len(skill(t, item).Files) != 0 {
			t.Errorf("%s: notes %v, files %v", name, item.Notes, skill(t, item).Files)
		}
	}
}

// Bytes that no text holds are kept beside a skill as they are.
func TestFilesOfAnyBytes(t *testing.T) {
	t.Parallel()
	files := folder(map[string]string{"SKILL.md": tidy, "latin.txt": "caf\xe9", "zero.txt": "a\x00b", "empty": "", "mark.txt": "\ufeffx"})
	i, err := interchange.FromFolder(files, "tidy", interchange.Options{})
	item := one(t, i, err)
	if f := item.Content.Validate(capability.Rules{}); f != nil {
		t.Fatalf("what was imported is not valid: %v", f)
	}
	out, err := interchange.ExportFolder(item.Content)
	if err != nil {
		t.Fatal(err)
	}
	back := fstest.MapFS{}
	for _, f := range out {
		back[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	for name := range files {
		want, got := read(t, files, name), read(t, back, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func read(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A name and a description that other readers would take for YAML are quoted
// in what is written for them.
func TestExportQuotesWhatItWrites(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		"Use when: it is, # 1", "[x](javascript:alert(1))", "{{constructor}}", "- item", "---", "...", "<img src=x onerror=alert(1)>",
		"\"><svg/onload=1>", "*alias", "&anchor", "!tag", "| block", "null", "1.0", "'open", "a: b: c", "trailing:", "hooks: {}",
	} {
		c := capability.Content{Name: "tidy", Description: description, Spec: &capability.SkillSpec{Instructions: "Do."}}
		out, err := interchange.ExportFolder(c)
		if err != nil {
			t.Fatal(err)
		}
		item := paste(t, string(out[0].Data))
		if item.Status != interchange.Ready || item.Content.Description != description || item.Repaired || len(item.Notes) != 0 {
			t.Errorf("%q came back as %q: %v %v", description, item.Content.Description, item.Fault, item.Notes)
		}
	}
}

// TestBombsCostNoMemory runs alone, since it counts what is allocated.
func TestBombsCostNoMemory(t *testing.T) {
	zeros := strings.Repeat("\x00", 64<<20)
	packed := deflate(t, zeros)
	for name, a := range map[string]archive{
		"5 bytes, gives 64 MiB": {entries: []entry{doc(), {name: "tidy/x", method: 8, raw: packed, size: 5}}},
		"64 MiB declared":       {entries: []entry{doc(), {name: "tidy/x", method: 8, raw: packed, size: 64 << 20}}},
		"512 MB, gives 5":       {entries: []entry{doc(), {name: "tidy/x", size: 512 << 20, data: "12345"}}},
	} {
		data := a.bytes(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := fromZip(data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// What the front matter leaves out comes from the folder and the text, and is
// said; what it says otherwise than the folder stays, and is said too.
func TestNamesAndFolders(t *testing.T) {
	t.Parallel()
	for label, c := range map[string]struct{ dir, raw, name, description, notes string }{
		"another name":    {"other", tidy, "tidy", "Tidies.", "name_differs"},
		"capital letters": {"Tidy", strings.Replace(tidy, "tidy", "Tidy", 1), "Tidy", "Tidies.", "name_not_portable"},
		"no name":         {"tidy", strings.Replace(tidy, "name: tidy\n", "", 1), "tidy", "Tidies.", "name_from_folder"},
		"no description":  {"tidy", strings.Replace(tidy, "description: Tidies.\n", "", 1), "tidy", "Do it.", "description_derived"},
		"no front matter": {"tidy", "# Tidy\n\nDo it.\n", "tidy", "Do it.", "no_front_matter name_from_folder description_derived"},
		"rules only":      {"tidy", "# Tidy\n\n---\n\nDo it.\n", "tidy", "Do it.", "no_front_matter name_from_folder description_derived"},
		"long":            {"tidy", strings.Replace(tidy, "Tidies.", strings.Repeat("word ", 300), 1), "tidy", "", "description_cut"},
	} {
		i, err := interchange.FromFolder(folder(map[string]string{c.dir + "/SKILL.md": c.raw}), "lib", interchange.Options{})
		item := one(t, i, err)
		if item.Content.Name != c.name || noteCodes(item.Notes) != c.notes {
			t.Errorf("%s: name %q, notes %q", label, item.Content.Name, noteCodes(item.Notes))
		}
		if d := item.Content.Description; c.description != "" && d != c.description || d == "" || len(d) > capability.MaxDescription+3 {
			t.Errorf("%s: description %q", label, d)
		}
	}
}
