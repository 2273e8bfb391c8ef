package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
)

// A server that repeats what it was sent, wherever it can, tells nobody.
func TestAServersEchoOfItsSecretIsMasked(t *testing.T) {
	t.Parallel()
	const token = "token-5f1e-canary"
	s := mcptest.New(t, fmt.Sprintf(`{"name":"a","description":"By %s.","inputSchema":{"type":"object","properties":{"p":{"default":%q}}}},
		{"name":"b","inputSchema":{"$schema":%q}},{"name":"c"},{"name":"c","description":"other"}`, token, token, token))
	failing := mcptest.New(t, "")
	failing.Fail("no such key: " + token)
	w := newWorld(t)
	if _, err := w.sec.Set(t.Context(), w.member, secret.NewSecret{Name: "STUB_TOKEN", Value: secret.NewValue(token)}); err != nil {
		t.Fatal(err)
	}
	with := func(name string, s *mcptest.Stub) capability.Key {
		v := w.publish(t, w.member, name, map[string]any{
			"type": "mcp", "url": s.URL, "auth": "secret", "requiredSecrets": []any{map[string]any{"name": "TOKEN"}},
			"toolClasses": map[string]any{"a": "read"},
		})
		w.adopt(t, w.member, v, map[string]string{"TOKEN": "STUB_TOKEN"})
		return capability.CapabilityKey(v.Source, v.ID)
	}
	_, entry := w.learnt(t, with("echoes", s))
	if got := fmt.Sprintf("%s %+v", entry.Tools[0].Schema, entry); len(entry.Tools) != 3 || strings.Contains(got, token) || !strings.Contains(got, sandbox.Masked) {
		t.Errorf("learnt: %s", got)
	}
	s.Fail("no such key: " + token)
	entries := w.run(t, "mcp__echoes__a", `{}`)
	if got := last[agent.ToolResult](t, entries, agent.EntryToolResult); got.Code != "server_error" || !strings.Contains(got.Message, sandbox.Masked) {
		t.Errorf("the failed call: %+v", got)
	}
	for _, e := range entries {
		if strings.Contains(string(e.Payload), token) {
			t.Errorf("%s holds the token", e.Kind)
		}
	}
	key := with("fails", failing)
	snap, err := w.agent.Learn(t.Context(), w.member, key)
	if err != nil {
		t.Fatal(err)
	}
	if entry, _ := snap.Find(key); !strings.Contains(entry.Trouble, sandbox.Masked) || strings.Contains(entry.Trouble, token) {
		t.Errorf("trouble %q", entry.Trouble)
	}
}

// Where there is nothing to isolate code with, code does not run, whoever asks
// and however; all else works.
func TestWithoutASandboxNoCodeRuns(t *testing.T) {
	w := newWorld(t)
	v := w.code(t, w.member, "echo", echo, nil)
	w.skill(t, w.member, "greet", "Say hello.")
	t.Setenv("PATH", t.TempDir())

	got := last[agent.ToolResult](t, w.run(t, "code__echo", `{}`), agent.EntryToolResult)
	if got.Code != sandbox.CodeUnavailable || got.Structured != nil || got.Message == "" || !strings.Contains(got.Action, "runs this server") {
		t.Errorf("the call: %+v", got)
	}
	_, err := w.agent.Try(t.Context(), w.member, agent.TryInput{Ref: capability.Ref{Source: v.Source, ID: v.ID, Version: v.Version}})
	if !fault.HasCode(err, sandbox.CodeUnavailable) || !fault.Is(err, fault.Unavailable) {
		t.Errorf("a try: %v", err)
	}
	spec, err := json.Marshal(map[string]any{
		"type": "code", "language": "python", "isReadOnly": true, "code": "open('/etc/never', 'w')", "parametersSchema": map[string]any{"type": "object"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.agent.Check(t.Context(), w.member, spec); !fault.HasCode(err, sandbox.CodeUnavailable) {
		t.Errorf("a check: %v", err)
	}
	if _, err := os.Stat("/etc/never"); err == nil {
		t.Error("a check ran the code")
	}
	skill := last[agent.ToolResult](t, w.run(t, agent.UseSkill, `{"name":"greet"}`), agent.EntryToolResult)
	if skill.IsError {
		t.Errorf("a skill: %+v", skill)
	}
}
