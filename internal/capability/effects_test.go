package capability_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

func effects(list []capability.Effect) []string {
	out := []string{}
	for _, e := range list {
		s := string(e.Code)
		if e.Power {
			s = "!" + s
		}
		out = append(out, strings.TrimSpace(s+" "+strings.Join(e.Items, ",")))
	}
	return out
}

func TestWhatAChangeDoesForItsUsers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind capability.Kind
		set  obj
		want []string
	}{
		"nothing": {capability.KindMCP, obj{}, []string{}},
		"a secret and a tool": {capability.KindMCP, obj{
			"requiredSecrets": []obj{{"name": "API_TOKEN"}, {"name": "KEY", "header": "X-Key"}}, "provides": []string{"search", "create", "wipe"}}, []string{
			"!write_tools wipe", "!secrets_added KEY", "tools_added wipe", "secrets_removed ORG"}},
		"a reader that writes": {capability.KindMCP, obj{"toolClasses": obj{"search": "write", "create": "write"}}, []string{"!write_tools search"}},
		"another host":         {capability.KindMCP, obj{"url": "https://elsewhere.example.com/mcp", "settings": nil}, []string{"!address_changed elsewhere.example.com"}},
		"from url to image": {capability.KindMCP, obj{"url": nil, "image": "acme/x", "requiredSecrets": nil, "auth": nil, "args": []string{"-v"}}, []string{
			"!image_changed acme/x", "!arguments_changed -v", "secrets_removed API_TOKEN,ORG"}},
		"a setting without a default": {capability.KindMCP, obj{"settings": []obj{{"name": "region", "required": true}}}, []string{"settings_required region"}},
		"code and parameters": {capability.KindCode, obj{
			"code": "print(2)\n", "isReadOnly": false, "egress": []string{"api.example.com", "b.example.com"}, "timeoutSec": 60, "examples": nil,
			"parametersSchema": json.RawMessage(`{"type":"object","properties":{"n":{"type":"string"},"m":{}},"required":["n","m"]}`)}, []string{
			"!writes", "!hosts_added b.example.com", "code_changed", "parameters_added m", "parameters_required m", "parameters_changed n", "time_limit 60"}},
		"fewer parameters": {capability.KindCode, obj{"parametersSchema": json.RawMessage(`{"type":"object"}`), "examples": nil, "egress": nil, "requires": []string{"acme/b"}}, []string{
			"hosts_removed api.example.com", "parameters_removed n", "requires_added acme/b"}},
		"an image": {capability.KindEnvironment, obj{"image": "acme/env:2"}, []string{"!image_changed acme/env:2"}},
		"scripts and tools": {capability.KindSkill, obj{"allowedTools": "Read Bash", "files": []obj{
			{"path": "scripts/run.py", "content": "import os\n", "executable": true}, {"path": "a.bin", "encoding": "base64", "content": "AAE="},
			{"path": "tool.sh", "content": "rm"}, {"path": "notes.md", "content": "x"}}}, []string{
			"!scripts_added tool.sh", "!scripts_changed scripts/run.py", "!allowed_tools Bash"}},
		"hooks in the front matter": {capability.KindSkill, obj{"raw": "---\nname: x\nhooks: {PostToolUse: []}\n---\n# Do\n", "instructions": "# Do\nRun !`date`\n"}, []string{
			"!declares_hooks", "!command_expansion"}},
		"only words":     {capability.KindSkill, obj{"instructions": "# Do hooks: well\n"}, []string{}},
		"a wider hook":   {capability.KindHook, obj{"matcher": nil}, []string{"!hook_wider *"}},
		"another event":  {capability.KindHook, obj{"event": "turn_end", "failureMode": "advisory", "code": "exit 1"}, []string{"!hook_event turn_end", "code_changed", "failure_mode advisory"}},
		"a variable":     {capability.KindDelegation, obj{"env": obj{"PATHS": "x", "LEVEL": obj{"secretRef": "L"}}}, []string{"!secrets_added L", "!variables_added PATHS", "secrets_removed WORKER_TOKEN", "variables_removed LEVEL"}},
		"a tool allowed": {capability.KindCommand, obj{"allowedTools": []string{"Read", "Grep", "Bash"}}, []string{"!allowed_tools Bash"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, next := edited(t, tc.kind, nil), edited(t, tc.kind, tc.set)
			got := effects(capability.Effects(base, next))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			powers := slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, "!") })
			if diff := cmp.Diff(powers, effects(capability.NewPowers(base, next))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatAdoptingBrings(t *testing.T) {
	t.Parallel()
	for kind, want := range map[capability.Kind][]string{
		capability.KindMCP:  {"!writes", "!write_tools create", "!secrets_added API_TOKEN,ORG", "!address_changed https://{region}.mcp.example.com/mcp", "tools_added create,search", "requires_added acme/other,find_tools"},
		capability.KindCode: {"!runs_code", "!secrets_added KEY", "!hosts_added api.example.com", "!image_changed ghcr.io/acme/py:1"},
		capability.KindHook: {"!runs_code", "!hook_event before_tool"},
	} {
		if diff := cmp.Diff(want, effects(capability.Effects(capability.Content{}, sample(t, kind)))); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	renamed := sample(t, capability.KindCommand)
	renamed.Name = "Other"
	if diff := cmp.Diff([]string{"renamed Sample command,Other"}, effects(capability.Effects(sample(t, capability.KindCommand), renamed))); diff != "" {
		t.Error(diff)
	}
	across := effects(capability.Effects(sample(t, capability.KindCommand), sample(t, capability.KindHook)))
	if !slices.Contains(across, "kind_changed command,hook") || !slices.Contains(across, "!runs_code") {
		t.Error(across)
	}
}
