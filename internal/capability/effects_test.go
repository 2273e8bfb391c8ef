package capability_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

// effects writes a line for each: ! for a power, x for what breaks.
func effects(list []capability.Effect) []string {
	out := []string{}
	for _, e := range list {
		s := string(e.Code)
		if e.Breaking {
			s = "x" + s
		}
		if e.Power {
			s = "!" + s
		}
		if e.Before+e.After != "" {
			s += " " + e.Before + "→" + e.After
		}
		out = append(out, strings.TrimSpace(s+" "+strings.Join(e.Items, ",")))
	}
	return out
}

// effectCase is one edit of a kind's sample and what it does.
type effectCase struct {
	name string
	kind capability.Kind
	set  obj
	want []string
	bump string
}

const twoParameters = `{"type":"object","properties":{"n":{"type":"number","minimum":1},"m":{"type":"string"}},"required":["n"]}`

var effectCases = []effectCase{
	{"nothing", capability.KindMCP, obj{}, []string{}, "patch"},
	{"a secret and a tool", capability.KindMCP, obj{
		"requiredSecrets": []obj{{"name": "API_TOKEN"}, {"name": "KEY", "header": "X-Key"}}, "provides": []string{"search", "create", "wipe"},
	}, []string{"!write_tools wipe", "!xsecrets_added KEY", "tools_added wipe", "secrets_removed ORG"}, "major"},
	{"a secret in another header", capability.KindMCP, obj{
		"requiredSecrets": []obj{{"name": "API_TOKEN"}, {"name": "ORG", "header": "X-Other"}},
	}, []string{"!secrets_elsewhere ORG"}, "minor"},
	{"a reader that writes", capability.KindMCP, obj{"toolClasses": obj{"search": "write", "create": "write"}}, []string{"!write_tools search"}, "minor"},
	{"a writer that reads", capability.KindMCP, obj{"toolClasses": obj{"search": "read", "create": "read"}, "write": nil}, []string{"reads_only", "read_tools create"}, "patch"},
	{"a tool gone", capability.KindMCP, obj{"provides": []string{"search"}, "toolClasses": obj{"search": "read"}}, []string{"xtools_removed create"}, "major"},
	{"another host", capability.KindMCP, obj{"url": "https://elsewhere.example.com/mcp", "settings": nil}, []string{
		"!address_changed https://{region}.mcp.example.com/mcp→elsewhere.example.com", "settings_removed region"}, "minor"},
	{"from url to image", capability.KindMCP, obj{"url": nil, "image": "acme/x", "requiredSecrets": nil, "auth": nil, "args": []string{"-v"}}, []string{
		"!image_changed →acme/x", "!arguments_changed →-v", "auth_changed secret→none", "secrets_removed API_TOKEN,ORG"}, "minor"},
	{"a setting without a default", capability.KindMCP, obj{"settings": []obj{{"name": "region", "required": true}}}, []string{"xsettings_required region"}, "major"},
	{"settings that work as they stand", capability.KindMCP, obj{"settings": []obj{{"name": "region", "default": "us", "required": true}, {"name": "tier"}}}, []string{
		"settings_added tier", "settings_changed region"}, "minor"},
	{"domains and requirements", capability.KindMCP, obj{"serves": []string{"documents"}, "requires": []string{"find_tools", "acme/b"}}, []string{
		"requires_added acme/b", "serves_added documents", "requires_removed acme/other", "serves_removed live-data"}, "minor"},
	{"code and parameters", capability.KindCode, obj{
		"code": "print(2)\n", "isReadOnly": false, "egress": []string{"api.example.com", "b.example.com"}, "timeoutSec": 60, "examples": nil,
		"parametersSchema": json.RawMessage(`{"type":"object","properties":{"n":{"type":"string"},"m":{}},"required":["n","m"]}`),
	}, []string{"!writes", "!hosts_added b.example.com", "xparameters_required m", "xparameters_changed n", "code_changed", "parameters_added m", "model_text 26→26", "time_limit 30→60"}, "major"},
	{"fewer parameters", capability.KindCode, obj{"parametersSchema": json.RawMessage(`{"type":"object"}`), "examples": nil, "egress": nil, "requires": []string{"acme/b"}}, []string{
		"xparameters_removed n", "model_text 26→10", "requires_added acme/b", "hosts_removed api.example.com"}, "major"},
	{"one parameter more", capability.KindCode, obj{"parametersSchema": json.RawMessage(twoParameters), "examples": nil}, []string{"parameters_added m", "model_text 26→32"}, "minor"},
	{"parameters in other words", capability.KindCode, obj{"parametersSchema": json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"number","minimum":1,"description":"How many"}},"required":["n"]}`)}, []string{
		"parameters_reworded n", "model_text 26→33"}, "patch"},
	{"a rule for all parameters", capability.KindCode, obj{"parametersSchema": json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"number","minimum":1}},"required":["n"],"additionalProperties":false}`)}, []string{
		"xparameters_rules", "model_text 26→34"}, "major"},
	{"an image", capability.KindEnvironment, obj{"image": "acme/env:2"}, []string{
		"!image_changed registry.example.com:5000/team/env@sha256:" + hex64 + "→acme/env:2", "!image_unpinned →acme/env:2"}, "minor"},
	{"scripts and tools", capability.KindSkill, obj{"allowedTools": "Bash", "files": []obj{
		{"path": "scripts/run.py", "content": "import os\n", "executable": true}, {"path": "a.bin", "encoding": "base64", "content": "AAE="},
		{"path": "tool.sh", "content": "rm"}, {"path": "notes.md", "content": "x"},
	}}, []string{"!scripts_added tool.sh", "!scripts_changed scripts/run.py", "!allowed_tools Bash", "allowed_tools_removed Read"}, "minor"},
	{"a script that may be run", capability.KindSkill, obj{"files": []obj{
		{"path": "scripts/run.py", "content": "pass\n", "encoding": "utf-8"}, {"path": "a.bin", "encoding": "base64", "content": "AAE="},
	}}, []string{"!scripts_changed scripts/run.py"}, "minor"},
	{"a script gone and a licence", capability.KindSkill, obj{"files": []obj{}, "license": "GPL-3.0"}, []string{"licence_changed MIT→GPL-3.0", "scripts_removed scripts/run.py"}, "patch"},
	{"hooks in the front matter", capability.KindSkill, obj{"raw": "---\nname: x\nhooks: {PostToolUse: []}\n---\n# Do\n", "instructions": "# Do\nRun !`date`\n"}, []string{
		"!declares_hooks", "!command_expansion", "model_text 7→10"}, "minor"},
	{"only words", capability.KindSkill, obj{"instructions": "# Do hooks: well\n"}, []string{"model_text 7→10"}, "patch"},
	{"words that nobody sees", capability.KindSkill, obj{"instructions": "# Do\u202e\u200b\n"}, []string{"!hidden_text instructions", "model_text 7→8"}, "minor"},
	{"a wider hook", capability.KindHook, obj{"matcher": nil}, []string{"!hook_wider mcp__*→*"}, "minor"},
	{"another event", capability.KindHook, obj{"event": "turn_end", "failureMode": "advisory", "code": "exit 1"}, []string{
		"!hook_event turn_end", "code_changed", "failure_mode fail-closed→advisory"}, "minor"},
	{"a variable", capability.KindDelegation, obj{"env": obj{"PATHS": "x", "LEVEL": obj{"secretRef": "L"}}}, []string{
		"!xsecrets_added L", "!variables_added PATHS", "secrets_removed WORKER_TOKEN", "variables_removed LEVEL"}, "major"},
	{"a worker of another make", capability.KindDelegation, obj{"harness": "codex", "model": nil, "env": obj{"LEVEL": "trace", "TOKEN": obj{"secretRef": "WORKER_TOKEN", "scope": "personal"}}}, []string{
		"!variables_changed LEVEL", "harness_changed claude-code→codex", "model_changed big→"}, "minor"},
	{"a tool allowed", capability.KindCommand, obj{"allowedTools": []string{"Read", "Grep", "Bash"}}, []string{"!allowed_tools Bash"}, "minor"},
}

func TestWhatAChangeDoesForItsUsers(t *testing.T) {
	t.Parallel()
	for _, tc := range effectCases {
		t.Run(tc.name, func(t *testing.T) {
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
			if bump, why := capability.SuggestBump(base, next); bump != tc.bump || (bump == capability.BumpPatch) != (len(why) == 0) {
				t.Errorf("suggests %s because of %v, want %s", bump, effects(why), tc.bump)
			}
		})
	}
}

// Every effect stands in a case, so that none is told that no change can have.
func TestEveryEffectCanHappen(t *testing.T) {
	t.Parallel()
	told := map[capability.EffectCode]bool{}
	note := func(base, next capability.Content) {
		for _, e := range capability.Effects(base, next) {
			told[e.Code] = true
		}
	}
	for _, tc := range effectCases {
		note(edited(t, tc.kind, nil), edited(t, tc.kind, tc.set))
	}
	note(sample(t, capability.KindCommand), sample(t, capability.KindHook))
	note(capability.Content{}, sample(t, capability.KindHook))
	path := edited(t, capability.KindMCP, obj{"url": "https://mcp.example.com/v1", "settings": nil})
	note(path, edited(t, capability.KindMCP, obj{"url": "https://mcp.example.com/v2", "settings": nil}))
	for _, code := range capability.EffectCodes() {
		if !told[code] {
			t.Errorf("%s happens in no case", code)
		}
	}
}

func TestWhatAdoptingBrings(t *testing.T) {
	t.Parallel()
	for kind, want := range map[capability.Kind][]string{
		capability.KindMCP:  {"!writes", "!write_tools create", "!secrets_added API_TOKEN,ORG", "!address_changed →https://{region}.mcp.example.com/mcp", "tools_added create,search", "requires_added acme/other,find_tools"},
		capability.KindCode: {"!runs_code", "!secrets_added KEY", "!hosts_added api.example.com", "!image_changed →ghcr.io/acme/py:1"},
		capability.KindHook: {"!runs_code", "!hook_event before_tool", "!may_deny"},
	} {
		if diff := cmp.Diff(want, effects(capability.Effects(capability.Content{}, sample(t, kind)))); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	renamed := sample(t, capability.KindCommand)
	renamed.Name = "Other"
	if diff := cmp.Diff([]string{"xrenamed Sample command→Other"}, effects(capability.Effects(sample(t, capability.KindCommand), renamed))); diff != "" {
		t.Error(diff)
	}
	across := effects(capability.Effects(sample(t, capability.KindCommand), sample(t, capability.KindHook)))
	if !slices.Contains(across, "xkind_changed command→hook") || !slices.Contains(across, "!runs_code") {
		t.Error(across)
	}
}

// A parameter may be called like a keyword that only explains.
func TestAParameterCalledTitleIsOne(t *testing.T) {
	t.Parallel()
	schema := func(kind string) capability.Content {
		return edited(t, capability.KindCode, obj{"examples": nil, "parametersSchema": json.RawMessage(
			`{"type":"object","properties":{"doc":{"type":"object","properties":{"title":{"type":"` + kind + `"}}}}}`)})
	}
	if got := effects(capability.Effects(schema("string"), schema("number"))); !slices.Contains(got, "xparameters_changed doc") {
		t.Errorf("a changed title is told as %v", got)
	}
}
