package interchange_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

func paste(t *testing.T, raw string) interchange.Item {
	t.Helper()
	i, err := interchange.FromDocument([]byte(raw), "", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(i.Items()) != 1 {
		t.Fatalf("%d items", len(i.Items()))
	}
	return i.Items()[0]
}

func noteCodes(notes []interchange.Note) string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Code)
	}
	return strings.Join(out, " ")
}

func TestRefusedDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, code, says string }{
		"empty":               {"", "empty_document", ""},
		"blank":               {" \n\t\n", "empty_document", ""},
		"byte order mark":     {"\ufeff", "empty_document", ""},
		"Latin-1":             {"\xe9\x00\x97", "not_utf8", "byte 0"},
		"Latin-1 later":       {"---\nname: caf\xe9\n---\nx", "not_utf8", "byte 13"},
		"UTF-16":              {"\xff\xfe-\x00", "not_utf8", "UTF-16"},
		"NUL":                 {"---\nname: a\n---\nx\x00", "nul_byte", "byte 17"},
		"4 MB":                {strings.Repeat("x", 4<<20), "document_too_large", "1048576"},
		"never closed":        {"---\nname: a\ndescription: b\n\n# Title\n", "front_matter_unclosed", "line 1"},
		"closed by indented":  {"---\nname: a\n  ---\nx\n", "front_matter_unclosed", ""},
		"merge markers":       {"---\nname: a\n<<<<<<< HEAD\ndescription: b\n=======\ndescription: c\n>>>>>>> x\n---\nt", "merge_markers", "Line 3"},
		"no field at all":     {"---\n[a, b\n---\nt", "front_matter_unreadable", "(line 3, column 1)"},
		"name twice":          {"---\nname: a\nname: b\ndescription: c\n---\nt", "field_repeated", "name"},
		"nothing after it":    {"---\nname: a\ndescription: b\n---\n", "invalid", ""},
		"name of 65":          {"---\nname: " + strings.Repeat("n", 65) + "\ndescription: b\n---\nt", "invalid", ""},
		"large front matter":  {"---\nname: a\nx: " + strings.Repeat("y", 70<<10) + "\n---\nt", "document_too_large", "front matter"},
		"empty front matter":  {"---\n---\n", "invalid", ""},
		"pasted without name": {"# Only a text\n\nHello.", "invalid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			item := paste(t, c.raw)
			if item.Status != interchange.Refused || item.Fault == nil || item.Fault.Code != c.code {
				t.Fatalf("got %s %v, want %s", item.Status, item.Fault, c.code)
			}
			if !strings.Contains(item.Fault.Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, item.Fault.Message)
			}
		})
	}
}

// The same skill, saved in every way that editors save.
func TestSavedInManyWays(t *testing.T) {
	t.Parallel()
	crlf := strings.ReplaceAll(tidy, "\n", "\r\n")
	for name, c := range map[string]struct{ raw, notes string }{
		"LF":                 {tidy, ""},
		"byte order mark":    {"\ufeff" + tidy, "byte_order_mark"},
		"CRLF":               {crlf, "line_ends"},
		"CR":                 {strings.ReplaceAll(tidy, "\n", "\r"), "line_ends"},
		"mixed":              {crlf[:20] + strings.ReplaceAll(crlf[20:], "\r\n", "\n"), "line_ends"},
		"blank first line":   {"\n\n" + tidy, "leading_blank_lines"},
		"fences with spaces": {strings.ReplaceAll(tidy, "---\n", "---  \n"), ""},
		"closed by dots":     {strings.Replace(tidy, "\n---\n", "\n...\n", 1), ""},
		"no opening fence":   {strings.TrimPrefix(tidy, "---\n"), "opening_fence_missing"},
		"glued fence":        {strings.Replace(tidy, "\n---\n\n#", "\n---#", 1), "fence_glued"},
		"odd field names":    {strings.Replace(tidy, "name:", "Name:", 1), "field_spelling"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			item := paste(t, c.raw)
			if item.Status != interchange.Ready {
				t.Fatal(item.Fault)
			}
			got := skill(t, item)
			if item.Content.Name != "tidy" || item.Content.Description != "Tidies." || got.Instructions != "# Tidy\n\nDo it." {
				t.Errorf("got %q %q %q", item.Content.Name, item.Content.Description, got.Instructions)
			}
			if got.Raw != c.raw {
				t.Error("the stored bytes are not the author's")
			}
			if noteCodes(item.Notes) != c.notes {
				t.Errorf("notes %q, want %q", noteCodes(item.Notes), c.notes)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		matter, description string
		repaired            bool
	}{
		"colon":          {"description: Sorts mail. Triggers: tidy, sort: by date\nargument-hint: [folder] [days] - optional", "Sorts mail. Triggers: tidy, sort: by date", true},
		"bold":           {"description: **bold** start", "**bold** start", true},
		"list item":      {"description: - item", "- item", true},
		"at sign":        {"description: @x does it", "@x does it", true},
		"backquote":      {"description: `x` does it", "`x` does it", true},
		"open quote":     {"description: 'tis the season", "tis the season", true},
		"percent":        {"description: %d of it", "%d of it", true},
		"brackets only":  {"description: [draft]", "[draft]", true},
		"braces":         {"description: {{x}} of y", "{{x}} of y", true},
		"tab indented":   {"description: ok\nmetadata:\n\tauthor: me", "ok", true},
		"fence in value": {"description: mail --- the tidy way", "mail --- the tidy way", false},
		"folded":         {"description: >\n  one\n  two\n", "one two", false},
		"two lines bad":  {"description: Use when: a\n  and b: c", "Use when: a and b: c", true},
		"quoted":         {`description: "Use when: a"`, "Use when: a", false},
		"date":           {"description: 2026-01-02", "2026-01-02", false},
		"octal":          {"description: 0777", "0777", false},
		"boolean":        {"description: yes", "yes", false},
		"number":         {"description: 1.0", "1.0", false},
		"alias":          {"license: &l MIT\ndescription: *l", "MIT", false},
		"alias bomb":     {"description: ok\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d]", "ok", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := "---\nname: tidy\n" + c.matter + "\n---\nText.\n"
			item := paste(t, raw)
			if item.Status != interchange.Ready {
				t.Fatal(item.Fault)
			}
			if item.Content.Description != c.description || item.Content.Name != "tidy" {
				t.Errorf("got %q, want %q", item.Content.Description, c.description)
			}
			if item.Repaired != c.repaired || strings.Contains(noteCodes(item.Notes), "front_matter_repaired") != c.repaired {
				t.Errorf("repaired %v, want %v", item.Repaired, c.repaired)
			}
			if skill(t, item).Raw != raw {
				t.Error("the stored bytes are not the author's")
			}
		})
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	item := paste(t, `---
name: Tidy Inbox
description: D.
license: Apache-2.0
compatibility: needs git
allowed-tools: [Bash, "Read"]
metadata:
  author: me
  version: 1.0
  released: 2026-01-02
  serves: messaging documents
  requires: acme/mail-tool
  list: [a]
hooks: {PostToolUse: []}
model: opus
---
Body.`)
	if item.Status != interchange.Ready {
		t.Fatal(item.Fault)
	}
	got := skill(t, item)
	got.Raw = ""
	want := &capability.SkillSpec{
		Instructions: "Body.", License: "Apache-2.0", Compatibility: "needs git", AllowedTools: "Bash Read",
		Metadata: map[string]string{"author": "me", "version": "1.0", "released": "2026-01-02"},
		Leans:    capability.Leans{Serves: []string{"messaging", "documents"}, Requires: []string{"acme/mail-tool"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := noteCodes(item.Notes); n != "name_not_portable metadata_dropped other_fields hooks_not_run" {
		t.Errorf("notes: %s", n)
	}
}

// ready are the items that can be made.
func ready(i interchange.Import) []interchange.Item {
	return slices.DeleteFunc(i.Items(), func(item interchange.Item) bool { return item.Status != interchange.Ready })
}

func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for k, v := range files {
		out[k] = &fstest.MapFile{Data: []byte(v), Mode: 0o644}
	}
	return out
}

func fates(i interchange.Import) map[string]string {
	out := map[string]string{}
	for _, item := range i.Items() {
		out[item.Path] = string(item.Status)
		if item.Status == interchange.Ignored {
			out[item.Path] += " " + noteCodes(item.Notes)
		}
	}
	return out
}

func named(name string) string {
	return strings.ReplaceAll(tidy, "name: tidy", "name: "+name)
}

func TestNestedDocuments(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"suite/SKILL.md": named("suite"), "suite/refs/style-a/SKILL.md": named("style-a"), "suite/refs/x.md": "x",
		"suite/node_modules/p/SKILL.md": named("p"),
		"group/one/SKILL.md":            named("one"), "group/two/SKILL.md": named("two"), "group/two/a.md": "a", "group/README.md": "r",
		".curated/x/SKILL.md": named("x"), ".git/SKILL.md": named("no"),
		"twins/SKILL.md": named("a"), "twins/Skill.md": named("b"),
		"lower/skill.md": named("lower"), "bad/SKILL.md": "---\nname: a\n",
	}
	i, err := interchange.FromFolder(folder(files), "lib", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"suite/SKILL.md": "ready", "suite/refs/style-a/SKILL.md": "ignored inside_a_skill", "group/one/SKILL.md": "ready", "group/two/SKILL.md": "ready",
		".curated/x/SKILL.md": "ready", "twins/SKILL.md": "refused", "lower/skill.md": "ready", "bad/SKILL.md": "refused",
	}
	if diff := cmp.Diff(want, fates(i)); diff != "" {
		t.Error(diff)
	}
	for _, item := range ready(i) {
		switch item.Path {
		case "suite/SKILL.md":
			if diff := cmp.Diff([]string{"refs/style-a/SKILL.md", "refs/x.md"}, paths(skill(t, item).Files)); diff != "" {
				t.Errorf("the suite lost its own: %s", diff)
			}
		case "lower/skill.md":
			if noteCodes(item.Notes) != "document_name" {
				t.Errorf("lower: %v", item.Notes)
			}
		}
	}
	if n := len(i.Items()); n != interchange.Count(i.Items(), interchange.Ready)+interchange.Count(i.Items(), interchange.Refused)+interchange.Count(i.Items(), interchange.Ignored) {
		t.Error("the numbers do not add up")
	}
	delete(files, "twins/Skill.md") // an archive with such names is refused whole
	var entries []entry
	for name, data := range files {
		entries = append(entries, entry{name: name, data: data})
	}
	zipped := must(t, pack(t, entries...))
	want["twins/SKILL.md"] = "ready"
	want["suite/node_modules/p/SKILL.md"], want[".git/SKILL.md"] = "ignored not_searched", "ignored not_searched"
	if diff := cmp.Diff(want, fates(zipped)); diff != "" {
		t.Errorf("the same as a zip: %s", diff)
	}
}

func TestFolderOfThisMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, data string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("tidy/SKILL.md", tidy, 0o644)
	write("tidy/run.sh", "#!/bin/sh\n", 0o755)
	write("outside/key", "secret", 0o600)
	for link, to := range map[string]string{"passwd": "/etc/passwd", "up": "../outside", "gone": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, "tidy", link)); err != nil {
			t.Fatal(err)
		}
	}
	i, err := interchange.FromPath(filepath.Join(dir, "tidy"), interchange.Options{})
	item := one(t, i, err)
	got := skill(t, item)
	if diff := cmp.Diff([]capability.File{{Path: "run.sh", MediaType: "text/x-shellscript", Encoding: "utf-8", Content: "#!/bin/sh\n", Executable: true}}, got.Files); diff != "" {
		t.Error(diff)
	}
	if noteCodes(item.Notes) != "link link link" {
		t.Errorf("notes: %v", item.Notes)
	}
	zipped := filepath.Join(dir, "tidy.skill")
	write("tidy.skill", string(pack(t, entry{name: "SKILL.md", data: tidy}, entry{name: "run.sh", data: "#!/bin/sh\n", creator: 3, mode: 0o100755})), 0o644)
	i, err = interchange.FromPath(zipped, interchange.Options{})
	if other := one(t, i, err); other.Content.Digest() != item.Content.Digest() {
		t.Error("a folder and its zip differ")
	}
	i, err = interchange.FromPath(filepath.Join(dir, "tidy", "SKILL.md"), interchange.Options{})
	if one(t, i, err).Content.Name != "tidy" {
		t.Error("a single document was not read")
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := interchange.FromPath(pipe, interchange.Options{}); !fault.HasCode(err, "path_unreadable") {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := interchange.FromPath(filepath.Join(dir, "missing"), interchange.Options{}); !fault.HasCode(err, "path_unreadable") {
		t.Errorf("missing: %v", err)
	}
}

func TestSkillLimits(t *testing.T) {
	t.Parallel()
	many := map[string]string{"big/SKILL.md": tidy, "ok/SKILL.md": tidy}
	for i := range 201 {
		many["big/f"+strings.Repeat("x", i)] = ""
	}
	i, err := interchange.FromFolder(folder(many), "lib", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"big/SKILL.md": "refused", "ok/SKILL.md": "ready"}, fates(i)); diff != "" {
		t.Error(diff)
	}
	large := folder(map[string]string{"SKILL.md": tidy, "a": strings.Repeat("x", 6<<20), "b": strings.Repeat("y", 6<<20)})
	i, err = interchange.FromFolder(large, "tidy", interchange.Options{})
	if err != nil || i.Items()[0].Fault.Code != "files_too_large" {
		t.Errorf("12 MiB: %v, %v", err, i.Items())
	}
}

// What was exported comes back with the same digest, whether it was written in
// fields or came from a file, and whatever its files say of themselves.
func TestExportThenImport(t *testing.T) {
	t.Parallel()
	fields := capability.Content{Name: "tidy", Description: "Use when: it is  messy — #1, \"now\".", Spec: &capability.SkillSpec{
		Instructions: "\n# Tidy\r\n---\nDo it. \n\n", License: "0777", Compatibility: "yes", AllowedTools: "Bash(git:*) Read",
		Metadata: map[string]string{"version": "1.0", "when": "2026-01-02", "note: x": "a\nb", "empty": ""},
		Leans:    capability.Leans{Serves: []string{"documents"}, Requires: []string{"acme/mail"}},
		Files: []capability.File{
			{Path: "a.py", Content: "print(1)\r\n", Executable: true},
			{Path: "b.bin", MediaType: "application/x-thing", Encoding: "base64", Content: "AAEC"},
			{Path: "c.txt", MediaType: "text/plain", Encoding: "base64", Content: "eA=="},
			{Path: "d.md", MediaType: "text/markdown", Encoding: "utf-8", Content: "# D"},
		},
	}}
	file := paste(t, strings.ReplaceAll("\ufeff"+tidy, "\n", "\r\n")).Content
	edited := fields
	copied := *fields.Spec.(*capability.SkillSpec)
	copied.Raw = tidy + "<!-- # written by capstore -->"
	copied.Instructions, copied.License, copied.Compatibility, copied.AllowedTools, copied.Metadata, copied.Leans = "# Tidy\n\nDo it.\n<!-- # written by capstore -->", "", "", "", nil, capability.Leans{}
	edited.Description, edited.Spec = "Tidies.", &copied
	for name, c := range map[string]capability.Content{"fields": fields, "file": file, "file with files": edited} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f := c.Validate(capability.Rules{}); f != nil {
				t.Fatalf("the example is not valid: %v", f)
			}
			var first, second bytes.Buffer
			if err := interchange.ExportZip(&first, c); err != nil {
				t.Fatal(err)
			}
			if err := interchange.ExportZip(&second, c); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Fatalf("two exports differ (%v)", err)
			}
			i, err := fromZip(first.Bytes())
			back := one(t, i, err)
			if diff := cmp.Diff(c, back.Content); diff != "" {
				t.Error(diff)
			}
			if back.Content.Digest() != c.Digest() {
				t.Error("the digest moved")
			}
			if raw := c.Spec.(*capability.SkillSpec).Raw; raw != "" {
				out, err := interchange.ExportFolder(c)
				if err != nil || string(out[len(out)-1].Data) != raw && string(out[0].Data) != raw && string(out[1].Data) != raw {
					t.Errorf("the SKILL.md is not byte for byte the author's (%v)", err)
				}
			}
		})
	}
}

func TestExportChecksStoredPaths(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]string{{"../x"}, {"/x"}, {"a\\b"}, {"a", "A"}, {"skill.md"}} {
		spec := &capability.SkillSpec{Instructions: "x"}
		for _, p := range bad {
			spec.Files = append(spec.Files, capability.File{Path: p})
		}
		if _, err := interchange.ExportFolder(capability.Content{Name: "n", Spec: spec}); !fault.HasCode(err, "stored_path") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := interchange.ExportFolder(capability.Content{Name: "n", Spec: &capability.CodeSpec{}}); !fault.HasCode(err, "not_a_skill") {
		t.Errorf("a code tool: %v", err)
	}
	if got := interchange.FolderName("../evil name"); strings.ContainsAny(got, "./ ") || got == "" {
		t.Errorf("folder %q", got)
	}
}

func FuzzDocument(f *testing.F) {
	for _, s := range []string{tidy, "---\nname: a\ndescription: b: c\n---\nx", "---\n---", "\ufeff\r\n---\rname: 'a\r---#x", "name: a\n---\nx", "---\n<<<<<<< a\n---\n", "---\n# written by capstore\nname: a\ndescription: b\n---\n\nbody"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		i, err := interchange.FromDocument(raw, "", interchange.Options{})
		if err != nil {
			t.Fatal(err)
		}
		item := i.Items()[0]
		if item.Status == interchange.Refused {
			if item.Fault == nil || item.Fault.Kind == fault.Internal {
				t.Fatalf("refused without a clear fault: %v", item.Fault)
			}
			return
		}
		out, err := interchange.ExportFolder(item.Content)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out[0].Data, raw) {
			t.Fatalf("the SKILL.md changed:\n%q\n%q", raw, out[0].Data)
		}
		again, err := interchange.FromDocument(out[0].Data, "", interchange.Options{})
		if err != nil || again.Items()[0].Content.Digest() != item.Content.Digest() {
			t.Fatalf("the digest moved (%v)", err)
		}
	})
}
