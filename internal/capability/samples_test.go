package capability_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// samples holds one sound spec of every kind, with every field in use.
var samples = map[capability.Kind]string{
	capability.KindMCP: `{"type":"mcp","url":"https://{region}.mcp.example.com/mcp","provides":["search","create"],
		"requiredSecrets":[{"name":"API_TOKEN","description":"From the console"},{"name":"ORG","header":"X-Org"}],
		"settings":[{"name":"region","default":"eu","required":true}],
		"write":true,"toolClasses":{"search":"read","create":"write"},"auth":"secret",
		"serves":["live-data"],"requires":["acme/other","find_tools"]}`,
	capability.KindCode: `{"type":"code","language":"python","code":"print(1)\n",
		"parametersSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1.0}},"required":["n"]},
		"isReadOnly":true,"timeoutSec":30,"image":"ghcr.io/acme/py:1","requiredSecrets":[{"name":"KEY","env":"ACME_KEY"}],
		"egress":["api.example.com"],"examples":[{"name":"one","input":{"n":12345678901234567890},"note":"big"}]}`,
	capability.KindSkill: `{"type":"skill","instructions":"# Do\n","raw":"---\nname: x\n---\n# Do\n",
		"files":[{"path":"scripts/run.py","mediaType":"text/x-python","encoding":"utf-8","content":"pass\n","executable":true},
		{"path":"a.bin","encoding":"base64","content":"AAE="}],"license":"MIT","compatibility":"any",
		"metadata":{"author":"me"},"allowedTools":"Read"}`,
	capability.KindEnvironment: `{"type":"environment","image":"registry.example.com:5000/team/env@sha256:` + hex64 + `",
		"preset":{"services":[1,2.50]},"instructions":"Look in /work.","benchmark":"swe"}`,
	capability.KindDelegation: `{"type":"delegation","harness":"claude-code","image":"acme/worker:2","model":"big",
		"env":{"LEVEL":"debug","TOKEN":{"secretRef":"WORKER_TOKEN","scope":"personal"}},
		"workDir":"/work","instructions":"Be brief.","instructionsFile":"CLAUDE.md","ttlSec":3600}`,
	capability.KindHook: `{"type":"hook","event":"before_tool","matcher":"mcp__*","language":"bash","code":"exit 0",
		"files":[{"path":"lib.sh","content":"true"}],"failureMode":"fail-closed","timeoutSec":5}`,
	capability.KindCommand: `{"type":"command","template":"Review $ARGUMENTS","argumentHint":"<file>","allowedTools":["Read","Grep"]}`,
}

const hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func sample(t testing.TB, kind capability.Kind) capability.Content {
	t.Helper()
	spec, fields := capability.DecodeSpec(json.RawMessage(samples[kind]))
	if len(fields) > 0 {
		t.Fatalf("the sample of %s does not decode: %v", kind, fields)
	}
	return capability.Content{Name: "Sample " + string(kind), Description: "What it does.", Spec: spec}
}

// edited is the sample's spec with some members set, or removed by nil.
func edited(t testing.TB, kind capability.Kind, members map[string]any) capability.Content {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(samples[kind]), &m); err != nil {
		t.Fatal(err)
	}
	for k, v := range members {
		if v == nil {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	spec, fields := capability.DecodeSpec(raw)
	if len(fields) > 0 {
		t.Fatalf("the edited %s does not decode: %v", kind, fields)
	}
	return capability.Content{Name: "Sample", Description: "What it does.", Spec: spec}
}

// marks lists faults as "path code", in their order.
func marks(fields []fault.Field) []string {
	out := []string{}
	for _, f := range fields {
		out = append(out, f.Path+" "+f.Code)
	}
	return out
}
