package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/secret"
)

const echo = "import sys\nprint(sys.stdin.read())\n"

func TestACallLeavesItsWholeTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.code(t, w.member, "echo", "print('working')\n"+echo, nil)

	entries := w.say(t, w.member, agent.Ask{Tool: "code__echo", Arguments: json.RawMessage(`{"a":1}`)})

	want := []agent.EntryKind{agent.EntryMessage, agent.EntryToolCall, agent.EntryToolResult}
	if diff := cmp.Diff(want, kinds(entries)); diff != "" {
		t.Fatal(diff)
	}
	call := last[agent.ToolCall](t, entries, agent.EntryToolCall)
	if call.Version != v.Version || call.Digest != v.Digest || call.Snapshot == "" || call.Caller != agent.CallerDirect {
		t.Errorf("the call does not say what ran: %+v", call)
	}
	result := last[agent.ToolResult](t, entries, agent.EntryToolResult)
	if result.IsError || string(result.Structured) != `{"a":1}` || !strings.Contains(result.Log, "working") || !result.Isolated {
		t.Errorf("result %+v", result)
	}
	if entries[1].Call == nil || entries[2].Call == nil || *entries[1].Call != *entries[2].Call {
		t.Error("the call and its result do not carry the same id")
	}
}

func TestNumbersKeepEveryDigit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, func(spec map[string]any) {
		spec["parametersSchema"] = json.RawMessage(`{"type":"object","properties":{"order":{"type":"integer"}}}`)
	})
	const args = `{"order":7312459980021764353,"amount":0.1000000000000000055}`
	entries := w.say(t, w.member, agent.Ask{Tool: "code__echo", Arguments: json.RawMessage(args)})
	if call := last[agent.ToolCall](t, entries, agent.EntryToolCall); string(call.Arguments) != args {
		t.Errorf("recorded arguments %s", call.Arguments)
	}
	if result := last[agent.ToolResult](t, entries, agent.EntryToolResult); string(result.Structured) != args {
		t.Errorf("result %s", result.Structured)
	}
}

// TestRefusals sends what must not run; none of it may start.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "strict", echo, func(spec map[string]any) {
		spec["parametersSchema"] = json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"s":{"type":"string"}}}`)
	})
	w.code(t, w.member, "writer", echo, func(spec map[string]any) { spec["isReadOnly"] = false })
	w.code(t, w.member, "keyed", echo, func(spec map[string]any) {
		spec["requiredSecrets"] = []any{map[string]any{"name": "KEY"}}
	})
	for name, tc := range map[string]struct {
		ask  agent.Ask
		code string
		says string
	}{
		"unknown tool":            {agent.Ask{Tool: "code__strickt"}, "unknown_tool", "code__strict"},
		"every fault at once":     {agent.Ask{Tool: "code__strict", Arguments: json.RawMessage(`{"n":"5","s":1}`)}, "invalid", ""},
		"arguments are no object": {agent.Ask{Tool: "code__strict", Arguments: json.RawMessage(`[1]`)}, "invalid", ""},
		"arguments are no JSON":   {agent.Ask{Tool: "code__strict", Arguments: json.RawMessage(`{"n":`)}, "", ""},
		"duplicate keys":          {agent.Ask{Tool: "code__strict", Arguments: json.RawMessage(`{"n":1,"n":2}`)}, "", ""},
		"write without opt-in":    {agent.Ask{Tool: "code__writer"}, "write_not_enabled", ""},
		"a secret is not bound":   {agent.Ask{Tool: "code__keyed"}, "tool_needs_setup", "Settings"},
		"a skill that is not":     {agent.Ask{Tool: agent.UseSkill, Arguments: json.RawMessage(`{"name":"x"}`)}, "unknown_tool", ""},
	} {
		t.Run(name, func(t *testing.T) {
			entries := w.say(t, w.member, tc.ask)
			if diff := cmp.Diff([]agent.EntryKind{agent.EntryMessage, agent.EntryToolResult}, kinds(entries)); diff != "" {
				t.Fatalf("something started: %s", diff)
			}
			got := last[agent.ToolResult](t, entries, agent.EntryToolResult)
			if tc.code != "" && got.Code != tc.code {
				t.Errorf("code %q, want %q: %+v", got.Code, tc.code, got)
			}
			if !strings.Contains(got.Action, tc.says) {
				t.Errorf("action %q does not name %q", got.Action, tc.says)
			}
			if name == "every fault at once" && len(got.Errors) != 2 {
				t.Errorf("faults %+v, want both", got.Errors)
			}
		})
	}
}

func TestRevokedBetweenListingAndCalling(t *testing.T) {
	t.Parallel()
	for name, revoke := range map[string]func(*testing.T, *world, catalog.VersionInfo) error{
		"switched off": func(t *testing.T, w *world, v catalog.VersionInfo) error {
			off := false
			_, err := w.ws.SetSwitch(t.Context(), w.member, capability.CapabilityKey(v.Source, v.ID), &off)
			return err
		},
		"un-adopted": func(t *testing.T, w *world, v catalog.VersionInfo) error {
			_, err := w.ws.Unadopt(t.Context(), w.admin, v.Source, v.ID)
			return err
		},
		"blocked": func(t *testing.T, w *world, v catalog.VersionInfo) error {
			return w.store.Block(t.Context(), w.admin, v.Source, v.ID, v.Version, "it leaks")
		},
		"tombstoned": func(t *testing.T, w *world, v catalog.VersionInfo) error {
			return w.store.Delete(t.Context(), w.admin, v.Source, v.ID)
		},
		"membership ended": func(t *testing.T, w *world, _ catalog.VersionInfo) error {
			w.exec(t, `DELETE FROM overlays WHERE subject = $1`, w.member.Subject)
			w.exec(t, `DELETE FROM memberships WHERE subject = $1`, w.member.Subject)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v := w.code(t, w.admin, "echo", echo, nil)
			conv, err := w.agent.NewConversation(t.Context(), w.member)
			if err != nil {
				t.Fatal(err)
			}
			snap, err := w.agent.Bind(t.Context(), w.member)
			if err != nil {
				t.Fatal(err)
			}
			if err := revoke(t, w, v); err != nil {
				t.Fatal(err)
			}
			got, err := w.agent.Call(t.Context(), snap, agent.Request{
				Actor: w.member, Conversation: conv.ID, Turn: conv.ID, Name: "code__echo", Caller: agent.CallerDirect,
			})
			if err != nil || !got.IsError || got.Code == "" || got.Structured != nil {
				t.Fatalf("got %+v, %v: the call ran after it was revoked", got, err)
			}
			var started int
			if err := w.db.QueryRow(t.Context(), `SELECT count(*) FROM ledger WHERE kind = 'tool_call'`).Scan(&started); err != nil || started != 0 {
				t.Errorf("%d calls started, %v", started, err)
			}
		})
	}
}

func TestBoundSecretsReachTheToolAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const canary = "canary-6b1f0e77-value"
	_, err := w.sec.Set(t.Context(), w.member, secret.NewSecret{Name: "TEAM_KEY", Value: secret.NewValue(canary)})
	if err != nil {
		t.Fatal(err)
	}
	v := w.publish(t, w.member, "keyed", map[string]any{
		"type": "code", "language": "python", "isReadOnly": true, "parametersSchema": map[string]any{"type": "object"},
		"requiredSecrets": []any{map[string]any{"name": "KEY", "env": "TOOL_KEY"}},
		"code": "import json, os, sys\nprint('the key is', os.environ['TOOL_KEY'])\nprint(os.environ['TOOL_KEY'], file=sys.stderr)\n" +
			"print(json.dumps({'length': len(os.environ['TOOL_KEY']), 'key': os.environ['TOOL_KEY']}))\n",
	})
	w.adopt(t, w.member, v, map[string]string{"KEY": "TEAM_KEY"})

	entries := w.say(t, w.member, agent.Ask{Tool: "code__keyed"})

	result := last[agent.ToolResult](t, entries, agent.EntryToolResult)
	var out struct{ Length int }
	if err := json.Unmarshal(result.Structured, &out); err != nil || out.Length != len(canary) {
		t.Errorf("the tool did not get its secret: %+v", result)
	}
	for _, e := range entries {
		if strings.Contains(string(e.Payload), canary) {
			t.Errorf("%s holds the secret's value", e.Kind)
		}
	}
	var leaks int
	err = w.db.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE detail::text LIKE '%' || $1 || '%'`, canary).Scan(&leaks)
	if err != nil || leaks != 0 {
		t.Errorf("%d audit entries hold the value, %v", leaks, err)
	}
	var used int
	err = w.db.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'secret.use' AND detail::text LIKE '%TEAM_KEY%'`).Scan(&used)
	if err != nil || used != 1 {
		t.Errorf("%d uses of the secret are audited, %v", used, err)
	}
}

func TestALongResultIsKeptWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "long", "import json\nprint(json.dumps({'text': 'ä' * 90000}))\n", nil)
	entries := w.say(t, w.member, agent.Ask{Tool: "code__long"})
	result := last[agent.ToolResult](t, entries, agent.EntryToolResult)
	if len(result.Artifacts) != 1 || len(result.Content) != 1 || len(result.Content[0]) > 200<<10 {
		t.Fatalf("%d artifacts, %d blocks", len(result.Artifacts), len(result.Content))
	}
	var conv agent.Conversation
	list, err := w.agent.Conversations(t.Context(), w.member)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	conv = list[0]
	_, whole, err := w.agent.ReadArtifact(t.Context(), w.member, conv.ID, result.Artifacts[0].ID)
	if err != nil || strings.Count(string(whole), "ä") < 90000 && strings.Count(string(whole), `\u00e4`) < 90000 {
		t.Errorf("the whole result has %d bytes, %v", len(whole), err)
	}
	if _, _, err := w.agent.ReadArtifact(t.Context(), w.admin, conv.ID, result.Artifacts[0].ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another member reads it: %v", err)
	}
}
