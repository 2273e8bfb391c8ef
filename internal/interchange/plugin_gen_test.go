package interchange_test

import (
	"io/fs"
	"slices"
	"strings"

	"capstore/internal/capability"

	"pgregory.net/rapid"
)

func modeOf(m int) fs.FileMode { return fs.FileMode(m) }

// content draws a command, a hook or a skill, with texts that formats trip over.
func content(t *rapid.T) capability.Content {
	name := rapid.StringMatching(`[A-Za-z가-힣][A-Za-z0-9 _.:가-힣-]{0,30}[A-Za-z0-9가-힣]`).Draw(t, "name")
	c := capability.Content{Name: name, Description: oddLine(t, "description")}
	leans := capability.Leans{}
	if rapid.Bool().Draw(t, "leans") {
		leans.Serves = []string{"mail"}
	}
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		s := &capability.CommandSpec{Template: oddText(t, "template"), Leans: leans}
		if rapid.Bool().Draw(t, "hint") {
			s.ArgumentHint = oddLine(t, "argument hint")
		}
		s.AllowedTools = rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z][a-z]{1,6}(\([a-z :,*]{1,6}\))?`), 0, 3, rapid.ID).Draw(t, "tools")
		c.Spec = s
	case 1:
		c.Spec = &capability.HookSpec{
			Event:       rapid.SampledFrom(capability.Events).Draw(t, "event"),
			Matcher:     rapid.StringMatching(`[A-Za-z_*?-]{0,8}`).Draw(t, "matcher"),
			Language:    rapid.SampledFrom([]capability.Language{capability.Python, capability.Node, capability.Bash}).Draw(t, "language"),
			Code:        oddText(t, "code"),
			FailureMode: rapid.SampledFrom([]capability.FailureMode{"", capability.Advisory, capability.FailClosed}).Draw(t, "failure"),
			TimeoutSec:  rapid.IntRange(0, 300).Draw(t, "timeout"),
			Files:       oddFiles(t), Leans: leans,
		}
	default:
		files := slices.DeleteFunc(oddFiles(t), func(f capability.File) bool { return f.Path == ".capstore.json" }) // a skill's own sidecar
		slices.SortFunc(files, func(a, b capability.File) int { return strings.Compare(a.Path, b.Path) })           // a folder has no other order
		c.Spec = &capability.SkillSpec{Instructions: oddText(t, "instructions"), Files: files, Leans: leans}
	}
	return c
}

func oddLine(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{
		"Plain.", "Use when: a colon", "[draft] x", "'tis", "- item", "@x", "yes", "0777", "# hash", "a --- b", "한국어 설명", "{{x}}", "null", "trailing:",
	}).Draw(t, label)
}

func oddText(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"text", "\n", "\r\n", "---", "---\n", "# T\n", "$ARGUMENTS", "!`date`", "@a.md", "\ufeff", "  ", "\t", "CLAUDE_PLUGIN_ROOT", "hook.py", "한", "#!/bin/sh\n", "name: x\n", "...\n",
	}), 1, 8).Draw(t, label)
	out := "x"
	for _, p := range parts {
		out += p
	}
	if rapid.Bool().Draw(t, label+" as it is") {
		out = out[1:]
	}
	return out
}

func oddFiles(t *rapid.T) []capability.File {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"hook.py", "hook.sh", "lib/a.js", "data.bin", "hooks.json", ".capstore.json", "README.md", "b/c/d.txt"}), 0, 3, rapid.ID).Draw(t, "files")
	var out []capability.File
	for _, n := range names {
		f := capability.File{Path: n, Content: oddText(t, n), Executable: rapid.Bool().Draw(t, n+" x")}
		f.MediaType = rapid.SampledFrom([]string{"", "text/plain", "text/x-odd"}).Draw(t, n+" type")
		if rapid.Bool().Draw(t, n+" binary") {
			f.Encoding, f.Content = capability.EncodingBase64, "AAEC/w=="
		}
		out = append(out, f)
	}
	return out
}
