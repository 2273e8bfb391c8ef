package interchange_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// asFolder lays out exported files as a folder.
func asFolder(files []interchange.ExportFile) fstest.MapFS {
	out := fstest.MapFS{}
	for _, f := range files {
		mode := 0o644
		if f.Executable {
			mode = 0o755
		}
		out[f.Path] = &fstest.MapFile{Data: f.Data, Mode: 0o444 | 0o111&modeOf(mode)}
	}
	return out
}

// readBack imports a folder and gives what is ready in it, by name.
func readBack(t interface{ Fatal(...any) }, folder fstest.MapFS) map[string]capability.Content {
	i, err := interchange.FromFolder(folder, "plugin", interchange.Options{Rules: capability.Rules{AllowLoopbackHTTP: true}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]capability.Content{}
	for _, item := range i.Items() {
		switch item.Status {
		case interchange.Ready:
			out[item.Content.Name] = item.Content
		case interchange.Refused:
			t.Fatal(item.Path, item.Fault)
		}
	}
	return out
}

// One plugin of every kind, with what the formats cannot hold.
func every() []capability.Content {
	leans := capability.Leans{Serves: []string{"mail"}, Requires: []string{"acme/mail"}}
	return []capability.Content{
		{Name: "Cut a release", Description: "Cuts: a release.", Spec: &capability.CommandSpec{Template: "Cut $1.\n\n---\nThen rest.\n\n", ArgumentHint: "[version] [--dry]", AllowedTools: []string{"Bash(git push:*)", "a,b"}, Leans: leans}},
		{Name: "readme", Description: "A name that a folder has.", Spec: &capability.CommandSpec{Template: "x"}},
		{Name: "guard", Description: "Guards.", Spec: &capability.HookSpec{
			Event: capability.EventBeforeTool, Matcher: "mcp__git__?ush*", Language: capability.Python, Code: "import sys\r\nsys.exit(2)", FailureMode: capability.Advisory, TimeoutSec: 7, Leans: leans,
			Files: []capability.File{{Path: "hook.py", Content: "pass", Encoding: "utf-8", MediaType: "text/x-python"}, {Path: "data/rules.bin", Content: "AAE=", Encoding: "base64", MediaType: "application/x-rules"}},
		}},
		{Name: "hook", Description: "Named as its file.", Spec: &capability.HookSpec{Event: capability.EventTurnEnd, Language: capability.Bash, Code: "exit 0"}},
		{Name: "again", Description: "At the same event.", Spec: &capability.HookSpec{Event: capability.EventTurnEnd, Language: capability.Node, Code: "require('./hook')", FailureMode: capability.FailClosed}},
		{Name: "tidy", Description: "Tidies.", Spec: &capability.SkillSpec{Instructions: "Do it.", Leans: leans, Files: []capability.File{{Path: "a.txt", Content: "a", MediaType: "text/x-odd"}}}},
		{Name: "Tidy", Description: "Tidies otherwise.", Spec: &capability.SkillSpec{Instructions: "Do it too."}},
		{Name: "tracker", Description: "A tracker.", Spec: &capability.MCPSpec{URL: "https://tracker.example.com/mcp", Auth: capability.AuthNone}},
	}
}

func TestPluginOfEveryKind(t *testing.T) {
	t.Parallel()
	files, err := interchange.ExportPlugin("Release Desk", every(), interchange.PluginMeta{Version: "1.2.3", Author: "Mina", Keywords: []string{"release"}})
	if err != nil {
		t.Fatal(err)
	}
	back := readBack(t, asFolder(files))
	for _, want := range every() {
		if got := back[want.Name]; got.Digest() != want.Digest() {
			t.Errorf("%s came back otherwise:\n%s", want.Name, cmp.Diff(want, got))
		}
	}
	if len(back) != len(every()) {
		t.Errorf("%d came back of %d", len(back), len(every()))
	}
}

// An edited file counts more than what the sidecar remembers of it; what no file
// says stays.
func TestPluginEdited(t *testing.T) {
	t.Parallel()
	files, err := interchange.ExportPlugin("desk", every(), interchange.PluginMeta{})
	if err != nil {
		t.Fatal(err)
	}
	folder := asFolder(files)
	edit := func(suffix, from, to string) {
		t.Helper()
		for p, f := range folder {
			if strings.HasSuffix(p, suffix) && bytes.Contains(f.Data, []byte(from)) {
				f.Data = bytes.Replace(f.Data, []byte(from), []byte(to), 1)
				return
			}
		}
		t.Fatalf("no %s with %q", suffix, from)
	}
	edit("hook-2.py", "sys.exit(2)", "sys.exit(0)")
	edit("hooks.json", "mcp__git__.ush.*", "mcp__hub__.*")
	edit("cut-a-release.md", "Cut $1.", "Slice $1.")
	back := readBack(t, folder)
	guard, ok := back["guard"].Spec.(*capability.HookSpec)
	if !ok {
		t.Fatalf("no guard in %v", back)
	}
	if !strings.Contains(guard.Code, "sys.exit(0)") || guard.Matcher != "mcp__hub__*" || guard.FailureMode != capability.Advisory || len(guard.Serves) != 1 {
		t.Errorf("the hook is %+v", guard)
	}
	cut, ok := back["Cut a release"].Spec.(*capability.CommandSpec)
	if !ok || !strings.HasPrefix(cut.Template, "Slice $1.") || len(cut.Serves) != 1 {
		t.Errorf("the command is %+v", cut)
	}
}

func TestPluginHasNoPlaceForCode(t *testing.T) {
	t.Parallel()
	_, err := interchange.ExportPlugin("x", []capability.Content{{Name: "x", Description: "x", Spec: &capability.CodeSpec{}}}, interchange.PluginMeta{})
	if !fault.HasCode(err, "not_in_a_plugin") {
		t.Errorf("%v", err)
	}
}

func TestPluginName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Release Desk": "release-desk", "claude-helper": "capstore-claude-helper", "anthropic": "capstore-anthropic", "a--b": "a-b", "cl@ude:x/y": "cl-ude-x-y",
	} {
		if got := interchange.PluginName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// Export then import gives the same digest, whatever the content.
func TestPluginRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := content(rt)
		if faults := c.Validate(capability.Rules{}); len(faults) > 0 {
			rt.Skip(faults)
		}
		files, err := interchange.ExportPlugin(c.Name, []capability.Content{c}, interchange.PluginMeta{})
		if err != nil {
			rt.Fatal(err)
		}
		back := readBack(rt, asFolder(files))
		if got := back[c.Name]; got.Digest() != c.Digest() {
			rt.Fatalf("came back otherwise:\n%s", cmp.Diff(c, got))
		}
	})
}

func TestPluginZipIsDeterministic(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := interchange.ExportPluginZip(w, "desk", every(), interchange.PluginMeta{Version: "1.0.0"}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two zips of the same plugin differ")
	}
	i, err := interchange.FromArchive(bytes.NewReader(a.Bytes()), int64(a.Len()), "desk.zip", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := interchange.Count(i.Items(), interchange.Ready); n != len(every()) {
		t.Errorf("%d are ready in the zip, want %d", n, len(every()))
	}
}
