package interchange_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/interchange"
	"capstore/internal/interchange/plugintest"

	"github.com/google/go-cmp/cmp"
)

// outcomes tells of each item its path, its status, its kind and name, the code of
// its fault and those of its notes.
func outcomes(items []interchange.Item) map[string]string {
	out := map[string]string{}
	for _, i := range items {
		s := string(i.Status)
		if i.Kind != "" {
			s += " " + string(i.Kind)
		}
		if i.Status == interchange.Ready {
			s += fmt.Sprintf(" %q", i.Content.Name)
		}
		if i.Fault != nil {
			s += " !" + i.Fault.Code
		}
		if codes := noteCodes(i.Notes); codes != "" {
			s += ": " + codes
		}
		if _, again := out[i.Path]; again {
			s += " (twice)"
		}
		out[i.Path] = s
	}
	return out
}

func importFolder(t *testing.T, files fs.FS, o interchange.Options) []interchange.Item {
	t.Helper()
	i, err := interchange.FromFolder(files, "release-desk", o)
	if err != nil {
		t.Fatal(err)
	}
	return i.Items()
}

// Every file of a plugin has a fate, and each part is of its own kind.
func TestPluginFolder(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		".claude-plugin/plugin.json":                           "ignored: plugin_manifest comments trailing_commas plugin_fields junk",
		".claude-plugin/plugin.json#release-desk/agents/2":     "refused !plugin_path",
		".claude-plugin/plugin.json#release-desk/outputStyles": "ignored: plugin_no_kind",
		".mcp.json#tracker":                                    `ready mcp "tracker": description_plain`,
		"LICENSE":                                              "ignored: plugin_file",
		"README.md":                                            "ignored: plugin_file",
		"agents/release-captain.md":                            "refused delegation !agent_needs_image: agent_tools",
		"bin/":                                                 "ignored: plugin_no_kind",
		"commands/":                                            "ignored: plugin_file",
		"commands/cut.md":                                      `ready command "cut": front_matter_repaired command_fields command_expansion command_files`,
		"commands/team/notify.md":                              `ready command "notify": description_derived`,
		"docs/":                                                "ignored: plugin_file",
		"evals/":                                               "ignored: plugin_no_kind",
		"hooks/hooks.json#PostToolUse/1/mcp__git__*":   `ready hook "record-mcp-git": hook_matcher_split`,
		"hooks/hooks.json#PostToolUse/1/mcp__hub__*":   `ready hook "record-mcp-hub": hook_matcher_split`,
		"hooks/hooks.json#PostToolUse/2":               "refused hook !hook_type",
		"hooks/hooks.json#PreCompact/1":                "refused hook !hook_event",
		"hooks/hooks.json#PreToolUse/1/Bash":           `ready hook "freeze-bash": hook_matcher_foreign hook_files hook_matcher_split hook_fails_closed`,
		"hooks/hooks.json#PreToolUse/1/mcp__git__push": `ready hook "freeze-mcp-git-push": hook_matcher_foreign hook_files hook_matcher_split hook_fails_closed`,
		"hooks/hooks.json#PreToolUse/2":                "refused hook !hook_matcher",
		"hooks/hooks.json#Stop/1":                      "refused hook !hook_script_missing",
		"output-styles/":                               "ignored: plugin_no_kind",
		"settings.json":                                "ignored: plugin_no_kind",
		"skills/changelog/SKILL.md":                    `ready skill "changelog": front_matter_repaired`,
		"skills/versioning/skill.md":                   `ready skill "Versioning": name_differs name_not_portable document_name`,
	}
	items := importFolder(t, plugintest.FS(plugintest.Release()), interchange.Options{})
	if diff := cmp.Diff(want, outcomes(items)); diff != "" {
		t.Error(diff)
	}
	for _, item := range items {
		if item.Status != interchange.Ready {
			continue
		}
		var p map[string]string
		if err := json.Unmarshal(item.Provenance, &p); err != nil {
			t.Fatal(err)
		}
		if p["format"] != "claude-plugin" || p["plugin"] != "release-desk" || p["pluginVersion"] != "2.3.0" || p["author"] != "Mina Kwon" || p["path"] != item.Path {
			t.Errorf("%s comes from %v", item.Path, p)
		}
		if diff := cmp.Diff([]string{"release", "changelog"}, item.As.Tags); diff != "" {
			t.Error(item.Path, diff)
		}
	}
}

// What a plugin asks of its user is declared, and a credential among it is a
// secret.
func TestPluginSettings(t *testing.T) {
	t.Parallel()
	for _, item := range importFolder(t, plugintest.FS(plugintest.Release()), interchange.Options{}) {
		spec, ok := item.Content.Spec.(*capability.MCPSpec)
		if !ok {
			continue
		}
		want := []capability.RequiredSecret{{Name: "TRACKER_TOKEN", Description: "Token of the issue tracker."}}
		if diff := cmp.Diff(want, spec.RequiredSecrets); diff != "" || spec.URL != "https://tracker.example.com/mcp" {
			t.Error(spec.URL, diff)
		}
	}
}

// A hook brings along what its script leans on and nothing else.
func TestPluginHookFiles(t *testing.T) {
	t.Parallel()
	for _, item := range importFolder(t, plugintest.FS(plugintest.Release()), interchange.Options{}) {
		spec, ok := item.Content.Spec.(*capability.HookSpec)
		if !ok {
			continue
		}
		var files []string
		for _, f := range spec.Files {
			files = append(files, f.Path)
		}
		got := fmt.Sprintf("%s %s %d %v", spec.Language, spec.Matcher, spec.TimeoutSec, files)
		want := map[string]string{
			"freeze-bash":         "bash Bash 10 [hooks/calendar_rules.py hooks/freeze.py]",
			"freeze-mcp-git-push": "bash mcp__git__push 10 [hooks/calendar_rules.py hooks/freeze.py]",
			"record-mcp-git":      "bash mcp__git__* 0 []",
			"record-mcp-hub":      "bash mcp__hub__* 0 []",
		}[item.Content.Name]
		if got != want {
			t.Errorf("%s is %q, want %q", item.Content.Name, got, want)
		}
		if len(files) > 0 && !strings.Contains(spec.Code, `exec python3 "${CLAUDE_PLUGIN_ROOT}/hooks/freeze.py"`) {
			t.Errorf("%s runs %s", item.Content.Name, spec.Code)
		}
	}
}

// A subagent becomes a delegation profile once there is an image for it.
func TestPluginAgentWithImage(t *testing.T) {
	t.Parallel()
	const file = "agents/release-captain.md"
	o := interchange.Options{Supply: map[string]interchange.Supply{file: {Image: "registry.example.com/worker:1"}}}
	for _, item := range importFolder(t, plugintest.FS(plugintest.Release()), o) {
		if item.Path != file {
			continue
		}
		want := capability.Content{Name: "release-captain", Description: "Leads a release from branch to announcement", Spec: &capability.DelegationSpec{
			Harness: "claude-code", Image: "registry.example.com/worker:1", Instructions: "You lead releases.",
		}}
		if diff := cmp.Diff(want, item.Content); diff != "" || item.Status != interchange.Ready {
			t.Error(item.Status, item.Fault, diff)
		}
	}
}

func TestMarketplaceFolder(t *testing.T) {
	t.Parallel()
	got := outcomes(importFolder(t, plugintest.FS(plugintest.Market()), interchange.Options{}))
	for p, want := range map[string]string{
		".claude-plugin/marketplace.json":        "ignored: marketplace",
		".claude-plugin/marketplace.json#far":    "ignored: plugin_elsewhere",
		".claude-plugin/marketplace.json#packed": "ignored: plugin_elsewhere",
		".claude-plugin/marketplace.json#lost":   "refused !plugin_part_missing",
		".claude-plugin/marketplace.json#sly":    "refused !plugin_path",
		".claude-plugin/marketplace.json#7":      "refused !marketplace_entry",
		".claude-plugin/marketplace.json#8":      "refused !marketplace_entry",
		"plugins/release-desk/commands/cut.md":   `ready command "cut": front_matter_repaired command_fields command_expansion command_files`,
		"writing/tone/SKILL.md":                  `ready skill "tone"`,
		"writing/extra/SKILL.md":                 `ready skill "extra": skill_unlisted`,
	} {
		if got[p] != want {
			t.Errorf("%s is %q, want %q", p, got[p], want)
		}
	}
}

// A marketplace that comes without its folder names what could be imported.
func TestMarketplaceAlone(t *testing.T) {
	t.Parallel()
	i, err := interchange.FromDocument([]byte(plugintest.Market()[".claude-plugin/marketplace.json"]), "marketplace.json", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	items := i.Items()
	if n := interchange.Count(items, interchange.Ignored); n != 7 || len(items) != 9 {
		t.Errorf("%d of %d are ignored: %v", n, len(items), outcomes(items))
	}
	for _, item := range items {
		if item.Path == "marketplace.json#packed" && item.Notes[0].Subject != "https://example.com/packed.zip" {
			t.Errorf("the note is %+v", item.Notes[0])
		}
	}
}
