package interchange_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"capstore/internal/capability"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

// plugged imports a plugin of these files beside a plain manifest.
func plugged(t *testing.T, files map[string]string) []interchange.Item {
	t.Helper()
	all := map[string]string{".claude-plugin/plugin.json": `{"name":"desk"}`}
	maps.Copy(all, files)
	folder := fstest.MapFS{}
	for p, text := range all {
		folder[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return importFolder(t, folder, interchange.Options{})
}

func with(manifest string, files map[string]string) map[string]string {
	out := maps.Clone(files)
	if out == nil {
		out = map[string]string{}
	}
	out[".claude-plugin/plugin.json"] = manifest
	return out
}

// What authors write, and what becomes of it.
func TestPluginOddities(t *testing.T) {
	t.Parallel()
	const skill = "---\nname: s\ndescription: d\n---\nDo.\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  map[string]string // of the items that matter
	}{
		"broken manifest, parts all the same": {
			with(`{"name": "desk",,}`, map[string]string{"commands/a.md": "Do it."}),
			map[string]string{".claude-plugin/plugin.json": "refused !bad_json", "commands/a.md": `ready command "a": description_derived`},
		},
		"manifest is a list":  {with(`[]`, nil), map[string]string{".claude-plugin/plugin.json": "refused !plugin_manifest_unreadable"}},
		"manifest not UTF-8":  {with("{\"name\":\"\xff\"}", nil), map[string]string{".claude-plugin/plugin.json": "refused !not_utf8"}},
		"manifest with marks": {with("\ufeff{\"name\":\"desk\"}", nil), map[string]string{".claude-plugin/plugin.json": "ignored: plugin_manifest byte_order_mark"}},
		"no name":             {with(`{}`, nil), map[string]string{".claude-plugin/plugin.json": "ignored: plugin_manifest plugin_unnamed"}},
		"odd name":            {with(`{"name":"My Desk"}`, nil), map[string]string{".claude-plugin/plugin.json": "ignored: plugin_manifest plugin_name"}},
		"commands replace": {
			with(`{"name":"desk","commands":["./extra/b.md","./more"]}`, map[string]string{"commands/a.md": "A", "extra/b.md": "B", "more/c.md": "C", "more/d.txt": "D"}),
			map[string]string{"commands/": "ignored: plugin_file", "extra/b.md": `ready command "b": description_derived`, "more/c.md": `ready command "c": description_derived`, "more/": "ignored: plugin_file"},
		},
		"commands as a map": {
			with(`{"name":"desk","commands":{"x":{"content":"Do $1.","description":"Does.","argumentHint":"[a]","allowedTools":["Read"]},"y":{"source":"./y.md"},"z":{"source":"./gone.md"}}}`, map[string]string{"y.md": "Y"}),
			map[string]string{".claude-plugin/plugin.json#desk/commands/1/x": `ready command "x": description_derived`, "y.md": `ready command "y": description_derived`, ".claude-plugin/plugin.json#desk/commands/1/z": "refused command !plugin_part_missing"},
		},
		"paths that climb": {
			with(`{"name":"desk","commands":["../x","/etc","C:\\x","./a/../b",7],"hooks":"./gone.json","mcpServers":"../m.json","skills":["./gone",1]}`, nil),
			map[string]string{
				".claude-plugin/plugin.json#desk/commands/1": "refused !plugin_path", ".claude-plugin/plugin.json#desk/commands/2": "refused !plugin_path",
				".claude-plugin/plugin.json#desk/commands/3": "refused !plugin_path", ".claude-plugin/plugin.json#desk/commands/4": "refused !plugin_path",
				".claude-plugin/plugin.json#desk/commands/5": "refused !plugin_part_unreadable", ".claude-plugin/plugin.json#desk/hooks/1": "refused !plugin_part_missing",
				".claude-plugin/plugin.json#desk/mcpServers/1": "refused !plugin_path", ".claude-plugin/plugin.json#desk/skills/1": "refused !plugin_part_missing",
				".claude-plugin/plugin.json#desk/skills/2": "refused !plugin_part_unreadable",
			},
		},
		"two commands of one name": {
			map[string]string{"commands/a/go.md": "A", "commands/b/go.md": "B", "commands/go.md": "C"},
			map[string]string{"commands/a/go.md": `ready command "go": description_derived`, "commands/b/go.md": `ready command "b-go": description_derived`, "commands/go.md": `ready command "commands-go": description_derived`},
		},
		"a name that the chat keeps": {map[string]string{"commands/skill.md": "x"}, map[string]string{"commands/skill.md": "refused command !invalid: description_derived"}},
		"commands that cannot be read": {
			map[string]string{"commands/empty.md": "", "commands/open.md": "---\ndescription: x\n", "commands/zero.md": "a\x00b", "commands/big.md": strings.Repeat("x", 300<<10)},
			map[string]string{"commands/empty.md": "refused command !empty_document", "commands/open.md": "refused command !front_matter_unclosed", "commands/zero.md": "refused command !nul_byte", "commands/big.md": "refused command !invalid: description_derived description_cut"},
		},
		"inline hooks, wrapped and not": {
			with(`{"name":"desk","hooks":[{"Stop":[{"type":"command","command":"true"}]},{"hooks":{"SessionStart":{"hooks":{"type":"command","command":"true"}}}}]}`, nil),
			map[string]string{".claude-plugin/plugin.json#desk/hooks/1/Stop/1": `ready hook "desk-stop"`, ".claude-plugin/plugin.json#desk/hooks/2/SessionStart/1": `ready hook "desk-session-start"`},
		},
		"inline servers": {
			with(`{"name":"desk","mcpServers":{"t":{"type":"http","url":"https://t.example.com/mcp"}}}`, nil),
			map[string]string{".claude-plugin/plugin.json#desk/mcpServers/1#t": `ready mcp "t": description_plain`},
		},
		"a server in the plugin": {
			map[string]string{".mcp.json": `{"mcpServers":{"t":{"command":"node","args":["${CLAUDE_PLUGIN_ROOT}/s.js"]}}}`, "s.js": "x"},
			map[string]string{".mcp.json#t": "refused mcp !needs_image_or_url"},
		},
		"a packed server":  {with(`{"name":"desk","mcpServers":"./t.mcpb"}`, map[string]string{"t.mcpb": "PK"}), map[string]string{"t.mcpb": "ignored: plugin_no_kind"}},
		"skills elsewhere": {with(`{"name":"desk","skills":"./lore/"}`, map[string]string{"lore/s/SKILL.md": skill, "lore/s/sub/SKILL.md": skill}), map[string]string{"lore/s/SKILL.md": `ready skill "s"`, "lore/s/sub/SKILL.md": "ignored skill: inside_a_skill"}},
		"a skill of its own": {
			map[string]string{"SKILL.md": skill, "run.py": "x", "commands/a.md": "A"},
			map[string]string{"SKILL.md": `ready skill "s"`, "commands/a.md": `ready command "a": description_derived`},
		},
		"a plugin in a plugin": {
			map[string]string{"inner/.claude-plugin/plugin.json": `{"name":"inner"}`, "inner/commands/a.md": "A"},
			map[string]string{"inner/commands/a.md": `ready command "a": description_derived`, "inner/.claude-plugin/plugin.json": "ignored: plugin_manifest"},
		},
		"a plugin in a skill": {
			map[string]string{"skills/s/SKILL.md": skill, "skills/s/x/.claude-plugin/plugin.json": `{"name":"x"}`},
			map[string]string{"skills/s/SKILL.md": `ready skill "s"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := outcomes(plugged(t, c.files))
			for p, want := range c.want {
				if got[p] != want {
					t.Errorf("%s is %q, want %q; all: %v", p, got[p], want, got)
				}
			}
			for p := range got {
				if strings.HasSuffix(got[p], "(twice)") {
					t.Errorf("%s stands there twice", p)
				}
			}
		})
	}
}

// The parts of a project's own folder are read like a plugin's.
func TestClaudeFolder(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{
		".claude/commands/fix.md": {Data: []byte("Fix it.")}, ".claude/agents/a.md": {Data: []byte("---\nname: a\ndescription: b\n---\nYou.")},
		".claude/skills/s/SKILL.md": {Data: []byte("---\nname: s\ndescription: d\n---\nDo.")}, "docs/commands/x.md": {Data: []byte("no")},
		".claude/settings.json": {Data: []byte(`{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/end.sh"}]}]}}`)},
		".claude/hooks/end.sh":  {Data: []byte("#!/bin/sh\ntrue\n")},
	}
	want := map[string]string{
		".claude/commands/fix.md": `ready command "fix": description_derived`, ".claude/agents/a.md": "refused delegation !agent_needs_image", ".claude/skills/s/SKILL.md": `ready skill "s"`,
		".claude/settings.json#Stop/1": `ready hook "end"`, ".claude/settings.json": "ignored: plugin_no_kind",
	}
	if diff := cmp.Diff(want, outcomes(importFolder(t, folder, interchange.Options{}))); diff != "" {
		t.Error(diff)
	}
}

// A plugin need not say that it is one.
func TestPluginWithoutManifest(t *testing.T) {
	t.Parallel()
	const prompt = "---\ndescription: d\n---\nDo."
	for name, c := range map[string]struct {
		files, want map[string]string
	}{
		"at the top": {
			map[string]string{"commands/fix.md": prompt, "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nDo.", "README.md": "x"},
			map[string]string{"commands/fix.md": `ready command "fix"`, "skills/s/SKILL.md": `ready skill "s"`, "README.md": "ignored: plugin_file"},
		},
		"in the one folder there": {
			map[string]string{"desk/agents/a.md": prompt, "desk/commands/fix.md": prompt},
			map[string]string{"desk/agents/a.md": "refused delegation !agent_needs_image", "desk/commands/fix.md": `ready command "fix"`},
		},
		"documents of another sort": {
			map[string]string{"commands/README.md": "# Commands", "tidy/SKILL.md": "---\nname: tidy\ndescription: d\n---\nDo."},
			map[string]string{"tidy/SKILL.md": `ready skill "tidy"`},
		},
		"a skill with such folders": {
			map[string]string{"SKILL.md": "---\nname: release-desk\ndescription: d\n---\nDo.", "commands/fix.md": prompt},
			map[string]string{"SKILL.md": `ready skill "release-desk"`},
		},
		"further down": {
			map[string]string{"a/commands/fix.md": prompt, "b/SKILL.md": "---\nname: b\ndescription: d\n---\nDo."},
			map[string]string{"b/SKILL.md": `ready skill "b"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, outcomes(importFolder(t, folder(c.files), interchange.Options{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Hooks that come without their folder are read as far as they need none of it.
func TestHooksAlone(t *testing.T) {
	t.Parallel()
	const doc = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"date >> log"},{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/x.sh"}]}]}}`
	i, err := interchange.FromDocument([]byte(doc), "settings.json", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"settings.json#Stop/1": `ready hook "project-stop"`, "settings.json#Stop/2": "refused hook !hook_script_missing"}
	if diff := cmp.Diff(want, outcomes(i.Items())); diff != "" {
		t.Error(diff)
	}
}

// Each handler becomes the hook that does the same, or says why there is none.
func TestHookHandlers(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"hooks/a.sh": "#!/bin/sh\necho a\n", "hooks/b.py": "print(1)\n", "hooks/c.mjs": "console.log(1)\n", "hooks/d.rb": "puts 1\n", "hooks/e": "#!/usr/bin/env python3\nprint(2)\n",
		"hooks/f.sh": "#!/bin/bash\r\nsource \"$(dirname \"$0\")/lib.sh\"\r\n", "hooks/lib.sh": "true\n", "hooks/data.json": "{}",
	}
	for name, c := range map[string]struct{ event, group, want string }{
		"shell script":       {"PreToolUse", `{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/hooks/a.sh"}]}`, `a before_tool "" bash`},
		"quoted":             {"Stop", `{"hooks":[{"type":"command","command":"\"$CLAUDE_PLUGIN_ROOT\"/hooks/a.sh"}]}`, `a turn_end "" bash`},
		"Python":             {"PostToolUse", `{"hooks":[{"type":"command","command":"python3 ${CLAUDE_PLUGIN_ROOT}/hooks/b.py","timeout":2.5}]}`, `b after_tool "" python 3s`},
		"Node":               {"UserPromptSubmit", `{"matcher":"x","hooks":[{"type":"command","command":"node '${CLAUDE_PLUGIN_ROOT}/hooks/c.mjs'"}]}`, `c user_prompt "" node`},
		"by its first line":  {"SessionStart", `{"matcher":"startup|resume","hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/hooks/e"}]}`, `e session_start "" python`},
		"by env":             {"Stop", `{"hooks":[{"type":"command","command":"/usr/bin/env bash ${CLAUDE_PLUGIN_ROOT}/hooks/a.sh"}]}`, `a turn_end "" bash`},
		"exec form":          {"Stop", `{"hooks":[{"type":"command","command":"python3","args":["${CLAUDE_PLUGIN_ROOT}/hooks/b.py"]}]}`, `b turn_end "" python`},
		"with arguments":     {"Stop", `{"hooks":[{"type":"command","command":"bash ${CLAUDE_PLUGIN_ROOT}/hooks/a.sh --x 'y z'"}]}`, `a turn_end "" bash [hooks/a.sh]`},
		"with its library":   {"Stop", `{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/hooks/f.sh"}]}`, `f turn_end "" bash [hooks/f.sh hooks/lib.sh]`},
		"a shell line":       {"Stop", `{"hooks":[{"type":"command","command":"cat > /dev/null; exit 0"}]}`, `desk-stop turn_end "" bash`},
		"a line with a file": {"Stop", `{"hooks":[{"type":"command","command":"cat \"${CLAUDE_PLUGIN_ROOT}/hooks/data.json\" | wc -l"}]}`, `desk-stop turn_end "" bash [hooks/data.json]`},
		"a matcher":          {"PreToolUse", `{"matcher":"mcp__git__push","hooks":[{"type":"command","command":"exit 2"}]}`, `desk-pre-tool-use before_tool "mcp__git__push" bash`},
		"a pattern":          {"PreToolUse", `{"matcher":"^mcp__.*__(drop|delete)_.+$","hooks":[{"type":"command","command":"exit 2"}]}`, `desk-pre-tool-use-mcp-drop before_tool "mcp__*__drop_?*" bash; desk-pre-tool-use-mcp-delete before_tool "mcp__*__delete_?*" bash`},
		"everything":         {"PreToolUse", `{"matcher":".*","hooks":[{"type":"command","command":"exit 2"}]}`, `desk-pre-tool-use before_tool "" bash`},
		"another spelling":   {"pre_tool_use", `{"hooks":[{"type":"command","command":"exit 2"}]}`, `desk-pre-tool-use before_tool "" bash`},
		"too long":           {"Stop", `{"hooks":[{"type":"command","command":"true","timeout":600}]}`, `desk-stop turn_end "" bash 300s`},
		"another language":   {"Stop", `{"hooks":[{"type":"command","command":"ruby ${CLAUDE_PLUGIN_ROOT}/hooks/d.rb"}]}`, "!hook_language"},
		"unknown language":   {"Stop", `{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/hooks/d.rb"}]}`, "!hook_language"},
		"missing":            {"Stop", `{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/hooks/none.sh"}]}`, "!hook_script_missing"},
		"outside":            {"Stop", `{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/../x.sh"}]}`, "!plugin_path"},
		"of the project":     {"Stop", `{"hooks":[{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/.claude/x.sh"}]}`, "!hook_script_outside"},
		"with a setting":     {"Stop", `{"hooks":[{"type":"command","command":"x ${user_config.key}"}]}`, "!hook_settings"},
		"a look-ahead":       {"PreToolUse", `{"matcher":"mcp__(?!git).*","hooks":[{"type":"command","command":"exit 2"}]}`, "!hook_matcher"},
		"a class":            {"PreToolUse", `{"matcher":"[A-Z]+","hooks":[{"type":"command","command":"exit 2"}]}`, "!hook_matcher"},
		"resumed only":       {"SessionStart", `{"matcher":"resume","hooks":[{"type":"command","command":"true"}]}`, "!hook_session"},
		"a prompt":           {"Stop", `{"hooks":[{"type":"prompt","prompt":"x"}]}`, "!hook_type"},
		"an address":         {"Stop", `{"hooks":[{"type":"http","url":"https://x.example.com"}]}`, "!hook_type"},
		"nothing":            {"Stop", `{"hooks":[{"type":"command"}]}`, "!hook_command"},
		"a condition":        {"PreToolUse", `{"hooks":[{"type":"command","command":"true","if":"Bash(git *)"}]}`, "!hook_condition"},
		"another shell":      {"Stop", `{"hooks":[{"type":"command","command":"x","shell":"powershell"}]}`, "!hook_shell"},
		"another event":      {"SubagentStop", `{"hooks":[{"type":"command","command":"true"}]}`, "!hook_event"},
		"no list":            {"Stop", `7`, "!hooks_unreadable"},
		"no object":          {"Stop", `["x"]`, "!hooks_unreadable"},
		"a NUL":              {"Stop", `{"hooks":[{"type":"command","command":"npx\u0000"}]}`, "!nul_byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := maps.Clone(files)
			all["hooks/hooks.json"] = fmt.Sprintf(`{"description":"x","hooks":{%q:[%s]}}`, c.event, c.group)
			if strings.HasPrefix(c.group, "7") || strings.HasPrefix(c.group, "[") {
				all["hooks/hooks.json"] = fmt.Sprintf(`{"hooks":{%q:%s}}`, c.event, c.group)
			}
			var got []string
			for _, item := range plugged(t, all) {
				if item.Kind != capability.KindHook {
					continue
				}
				if item.Fault != nil {
					got = append(got, "!"+item.Fault.Code)
					continue
				}
				got = append(got, spelled(item.Content))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// spelled tells a hook in a line.
func spelled(c capability.Content) string {
	spec := c.Spec.(*capability.HookSpec)
	out := fmt.Sprintf("%s %s %q %s", c.Name, spec.Event, spec.Matcher, spec.Language)
	if len(spec.Files) > 0 {
		var names []string
		for _, f := range spec.Files {
			names = append(names, f.Path)
		}
		out += fmt.Sprint(" ", names)
	}
	if spec.TimeoutSec > 0 {
		out += fmt.Sprintf(" %ds", spec.TimeoutSec)
	}
	return out
}
