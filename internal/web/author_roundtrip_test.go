package web

import (
	"net/url"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// sentBack is what a browser sends of a form that nobody touched: it drops the
// line break at the head of a text and spells every other one its own way.
func sentBack(form url.Values) url.Values {
	out := url.Values{}
	for name, values := range form {
		for _, v := range values {
			v = strings.ReplaceAll(strings.ReplaceAll(v, "\r\n", "\n"), "\r", "\n")
			out.Add(name, strings.ReplaceAll(strings.TrimPrefix(v, "\n"), "\n", "\r\n"))
		}
	}
	return out
}

func TestAFormThatNobodyTouchedChangesNothing(t *testing.T) {
	t.Parallel()
	yes, leans := true, capability.Leans{Serves: []string{"finance"}, Requires: []string{"acme/other", "web_search"}}
	for name, spec := range map[string]capability.Spec{
		"code": &capability.CodeSpec{
			Language: "node", Code: "\nlet a = 1\r\nlet b = 2\n", ParametersSchema: []byte(`{"type":"object","properties":{"n":{"const":1.0}}}`), IsReadOnly: &yes,
			TimeoutSec: 5, Image: "ghcr.io/acme/a:1", Egress: []string{"a.example.com", "b.example.com"}, Leans: leans,
			RequiredSecrets: []capability.RequiredSecret{{Name: "A", Description: "d", Env: "B"}},
			Examples:        []capability.Example{{Name: "n", Input: []byte(`{"n":1.0}`), Note: "one\r\ntwo"}, {Input: []byte(`{}`)}},
		},
		"skill": &capability.SkillSpec{
			Instructions: "# A\r\n\ntext\n", Raw: "---\nname: x\n---\n# A\r\n\ntext\n", License: "MIT", Compatibility: "all", AllowedTools: "Bash(git:*)", Leans: leans,
			Metadata: map[string]string{"author": "x", "long": "\none\r\ntwo"},
			Files: []capability.File{
				{Path: "a.txt", Content: "\nplain\r\n"}, {Path: "b.bin", Encoding: "base64", MediaType: "image/png", Content: "AAE="}, {Path: "c.sh", Encoding: "utf-8", Executable: true},
			},
		},
		"remote server": &capability.MCPSpec{
			URL: "https://{r}.example.com", Provides: []string{"a", "b"}, ToolClasses: map[string]capability.ToolClass{"a": "read"}, Write: true, Auth: "none", Leans: leans,
			RequiredSecrets: []capability.RequiredSecret{{Name: "A", Header: "X-A", Scheme: "Token"}}, Settings: []capability.Setting{{Name: "r", Default: "eu", Required: true}},
		},
		"image server": &capability.MCPSpec{Image: "ghcr.io/acme/a:1", Args: []string{"--a", "b c"}},
		"hook": &capability.HookSpec{
			Event: "before_tool", Matcher: "mcp__*", Language: "bash", Code: "a\r\nb", FailureMode: "advisory", TimeoutSec: 7, Leans: leans,
			Files: []capability.File{{Path: "x", Content: "y"}, {Path: "b.bin", Encoding: "base64", Content: "AAE=", Executable: true}},
		},
		"plain hook":  &capability.HookSpec{Event: "turn_end", Language: "node", Code: "1"},
		"command":     &capability.CommandSpec{Template: "\na $1\r\n<b>", ArgumentHint: "[x]", AllowedTools: []string{"Bash(git add:*)", "Read"}, Leans: leans},
		"environment": &capability.EnvironmentSpec{Image: "a", Preset: []byte(`{"n":1.0}`), Instructions: "\n# Lab\r\n", Benchmark: "swe bench"},
		"delegation": &capability.DelegationSpec{
			Harness: "h", Image: "a", Model: "m", WorkDir: "/w", Instructions: "a\r\nb\n", InstructionsFile: "AGENTS.md", TTLSec: 60,
			Env: map[string]capability.EnvValue{
				"A": {Literal: "x\r\ny"}, "B": {SecretRef: "S"}, "C": {SecretRef: "S", Scope: "workspace"}, "D": {SecretRef: "T", Scope: "personal"}, "E": {},
			},
		},
		"parameters": &capability.CodeSpec{
			Language: "python", Code: "1", IsReadOnly: &yes, ParametersSchema: []byte(`{"type":"object","required":["b","a"],"properties":{"a":{"type":"string","default":" x "},"b":{"type":"string","enum":["null","y"],"default":"null"},"c":{"type":"array","items":{"type":"string","minLength":1},"default":[]},"d":{"type":"string","default":"two\nlines","description":"one\ntwo"}},"$defs":{"x":{}}}`),
		},
	} {
		content := capability.Content{Name: "thing", Description: "A thing.", Spec: spec}
		a := author{kind: spec.Kind(), base: &catalog.VersionDetail{Content: content}}
		form := sentBack(draftValues(content))
		plainBreaks(form)
		compactRows(form)
		p, faults := a.publication(form)
		if len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
			continue
		}
		again, faults := capability.DecodeSpec(p.Spec)
		if len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
			continue
		}
		// The fields by themselves say all of it, without what the base remembers.
		r := &reading{form: form}
		if read := a.readSpec(r); spec.Kind() != capability.KindSkill && (len(r.faults) > 0 || (capability.Content{Spec: read}).Digest() != (capability.Content{Spec: spec}).Digest()) {
			t.Errorf("%s by its fields alone: %v\nwant %s\ngot  %s", name, r.faults, capability.EncodeSpec(spec), capability.EncodeSpec(read))
		}
		got := capability.Content{Name: p.Name, Description: p.Description, Spec: again}
		if got.Digest() != content.Digest() {
			want, _ := content.Canonical()
			have, _ := got.Canonical()
			t.Errorf("%s:\nwant %s\ngot  %s", name, want, have)
		}
	}
}
