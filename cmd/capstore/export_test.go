package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/interchange/intake"
)

const mcpConfiguration = `{
  // what our people use
  "mcpServers": {
    "notes": {"type": "http", "url": "https://notes.example.com/mcp", "headers": {"Authorization": "Bearer ${NOTES_KEY}"},},
  },
}`

// What is exported, by each way, is imported elsewhere with the same digests.
func TestExportThenImport(t *testing.T) {
	t.Parallel()
	on, dir := atAcme(t), t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := writeFile(p, []byte(text)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	skill := put("in/guide/SKILL.md", skillDocument("guide", "Guides.", 1))
	put("in/mcp.json", mcpConfiguration)
	first := report(t, command("", on("import", "--json", filepath.Join(dir, "in"))...))
	put("in/guide/SKILL.md", skillDocument("guide", "Guides better.", 2))
	second := report(t, command("", on("import", "--json", skill)...))
	if first.Made != 2 || second.Made != 1 || second.Items[0].Version != "1.0.1" || second.Items[0].Follows != "1.0.0" {
		t.Fatalf("made %d and %d: %+v", first.Made, second.Made, second.Items)
	}

	ways := map[string]string{"a file": "all.capstore.json", "an archive": "all.zip", "a folder": "all/"}
	for way, out := range ways {
		out = filepath.Join(dir, out) + strings.Repeat("/", strings.Count(out, "/"))
		done(t, "", on("export", "--out", out)...)
		elsewhere := atAcme(t)
		r := report(t, command("", elsewhere("import", "--json", out)...))
		if r.Made != 3 || !has(r, second.Items[0].Digest) || !has(r, first.Items[0].Digest) || !has(r, first.Items[1].Digest) {
			t.Errorf("by %s: %d made, %+v", way, r.Made, r.Items)
		}
		if r := report(t, command("", elsewhere("import", "--json", out)...)); r.Unchanged != 3 {
			t.Errorf("by %s a second time: %d unchanged", way, r.Unchanged)
		}
	}
	natives := filepath.Join(dir, "natives") + "/"
	done(t, "", on("export", "--format", "skill", "--out", natives)...)
	done(t, "", on("export", "--format", "mcp-servers", "--out", natives)...)
	done(t, "", on("export", "--format", "claude-plugin", "--out", natives)...)
	if r := report(t, command("", on("import", "--json", filepath.Join(natives, "notes", ".mcp.json"), filepath.Join(natives, "guide", "guide.zip"),
		filepath.Join(natives, "guide", "guide-plugin.zip"))...)); r.Unchanged != 3 || r.Made+r.Refused != 0 {
		t.Errorf("back from the native formats: %+v", r.Items)
	}
	if one := done(t, "", on("export", "acme/guide@1.0.0")...); strings.Contains(one, "1.0.1") || !strings.Contains(one, `"version":"1.0.0"`) {
		t.Errorf("one version: %s", one)
	}
}

func has(r intake.Report, digest string) bool {
	for _, item := range r.Items {
		if item.Digest == digest {
			return true
		}
	}
	return false
}

func TestExportSaysWhatItCannot(t *testing.T) {
	t.Parallel()
	on, dir := atAcme(t), t.TempDir()
	in := filepath.Join(dir, "hi.capstore.json")
	if err := os.WriteFile(in, []byte(`{"capstore":1,"capabilities":[{"source":"x","id":"hi","versions":[{"version":"1.0.0","name":"Hi","description":"Says hi.","spec":{"type":"command","template":"Say hi"}}]}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	done(t, "", on("import", in)...)
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"nothing there":       {[]string{"acme/none"}, "acme/none"},
		"no such version":     {[]string{"hi@2.0.0"}, "hi@2.0.0"},
		"no place":            {[]string{"--format", "skill", "hi"}, "Export it as claude-plugin or capstore"},
		"nothing has a place": {[]string{"--format", "skill"}, "Nothing that the workspace publishes"},
		"no such folder":      {[]string{"--out", filepath.Join(dir, "none", "x.json")}, "cannot be written"},
	} {
		if got := command("", on(append([]string{"export"}, tc.args...)...)...); got.Code != 1 || !strings.Contains(got.Err, tc.says) || got.Out != "" && name != "nothing there" && name != "no such version" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := command("", append(on("import", in), "--email", "nobody@example.com")...); got.Code != 1 || !strings.Contains(got.Err, "nobody@example.com") {
		t.Errorf("nobody: %+v", got)
	}
}

// A person reads numbers, what was refused and why, and what was mended.
func TestImportReportsToAPerson(t *testing.T) {
	t.Parallel()
	on, dir := atAcme(t), t.TempDir()
	for name, text := range map[string]string{
		"ok/SKILL.md": skillDocument("ok", "Works.", 1), "mended/SKILL.md": skillDocument("mended", "Says: a: thing", 1),
		"empty/SKILL.md": "", ".mcp.json": `{"mcpServers":{"notes":{"command":"npx","args":["notes"]}}}`,
	} {
		if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	preview := command("", on("import", "--preview", dir)...)
	if preview.Code != 1 || !strings.Contains(preview.Out, "4 found: 2 would be made, 0 unchanged, 2 refused, 0 ignored; 1 repaired.") {
		t.Errorf("preview: %+v", preview)
	}
	got := command("", on("import", "--reach", "workspace", dir)...)
	for _, part := range []string{"4 found: 2 made", "ok@1.0.0", "Repaired:", "mended/SKILL.md", "Refused:", "empty/SKILL.md", ".mcp.json#notes", "image or"} {
		if !strings.Contains(got.Out, part) {
			t.Errorf("the report does not say %q: %s", part, got.Out)
		}
	}
	if got.Code != 1 || got.Err != "" {
		t.Errorf("exit code %d, %q", got.Code, got.Err)
	}
	if got := command("", on("import", filepath.Join(dir, "ok"))...); got.Code != 0 || !strings.Contains(got.Out, "1 unchanged") {
		t.Errorf("without a refusal: %+v", got)
	}
	if got := command("", on("import", filepath.Join(dir, "none"), filepath.Join(dir, "ok"))...); got.Code != 1 || !strings.Contains(got.Out, "2 found: 0 made, 1 unchanged, 1 refused") {
		t.Errorf("a path that is not there beside one that is: %+v", got)
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	if got, want := barLine(500, 2000, 2_000_000_000), "[#######.......................] 500/2,000  250/s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %q", n, got)
		}
	}
}
