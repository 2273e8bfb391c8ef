package ops

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/toolschema"
)

func (h *house) control() *Control {
	h.t.Helper()
	c := NewControl(h.Identity)
	must(h.t, c.Offer(All(h.Services)))
	return c
}

func operationsOf(tools []agent.ControlTool) []string {
	var out []string
	for _, t := range tools {
		out = append(out, strings.TrimPrefix(t.Name, "capstore__"))
	}
	return out
}

// Every operation is a tool whose schema says what it takes, save those that
// hold secrets or are a person's own word.
func TestEveryOperationIsATool(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tools := h.control().Tools(capability.RoleAdmin, capability.ScopeSession)
	names := operationsOf(tools)
	for _, op := range All(h.Services) {
		if got, want := slices.Contains(names, op.Name), !op.Confidential && !op.Personal; got != want {
			t.Errorf("%s is a tool: %v, want %v", op.Name, got, want)
		}
	}
	for _, tool := range tools {
		if len(tool.Name) > capability.MaxRuntimeName {
			t.Errorf("%s is too long a name", tool.Name)
		}
		schema, err := toolschema.Compile(tool.Schema)
		if err != nil {
			t.Errorf("%s: %v", tool.Name, err)
			continue
		}
		if faults := schema.Validate([]byte(`{"\u0001":1}`)); len(faults) == 0 {
			t.Errorf("%s takes any argument", tool.Name)
		}
	}
	if !slices.IsSortedFunc(tools, func(a, b agent.ControlTool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the tools are in no order")
	}
}

// A role is offered what its table of rights lets it try.
func TestToolsByRole(t *testing.T) {
	t.Parallel()
	c := newHouse(t).control()
	for _, role := range capability.Roles {
		for _, scope := range append([]capability.Scope{capability.ScopeSession}, capability.Scopes...) {
			for _, tool := range c.Tools(role, scope) {
				op := c.byName[tool.Name]
				actor := capability.Actor{Workspace: "acme", Subject: "x", Role: role, Scope: scope}
				if op.Action != "" && capability.May(actor, op.Action, capability.Ownership{Creator: true}) != nil {
					t.Errorf("%s %q is offered %s", role, scope, tool.Name)
				}
			}
		}
	}
	if viewer := operationsOf(c.Tools(capability.RoleViewer, capability.ScopeSession)); slices.Contains(viewer, "create_capability") || !slices.Contains(viewer, "list_capabilities") {
		t.Errorf("a viewer is offered %v", viewer)
	}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.control()
	member := h.who(capability.RoleMember, capability.ScopeSession).Actor()
	invoke := func(actor capability.Actor, name, arguments string) (map[string]any, error) {
		raw, err := c.Invoke(t.Context(), actor, capability.ControlToolName(name), json.RawMessage(arguments))
		if err != nil {
			return nil, err
		}
		var out map[string]any
		must(t, json.Unmarshal(raw, &out))
		return out, nil
	}
	made, err := invoke(member, "create_capability", `{"name":"greeter","description":"Greets.","spec":`+codeSpec+`,"visibility":"workspace"}`)
	must(t, err)
	if made["version"] != "1.0.0" || made["source"] != "acme" {
		t.Errorf("published %v", made)
	}
	listed, err := invoke(member, "list_capabilities", `{"q":"greeter","kind":["code"],"limit":5}`)
	must(t, err)
	if n := len(listed["items"].([]any)); n != 1 {
		t.Errorf("found %d", n)
	}
	_, err = invoke(member, "set_capability_visibility", `{"id":"greeter","tags":["a","b"]}`)
	must(t, err)
	got, err := invoke(member, "get_capability", `{"id":"greeter"}`)
	must(t, err)
	if diff := cmp.Diff([]any{"a", "b"}, got["tags"]); diff != "" {
		t.Error(diff)
	}
	_, err = invoke(member, "import_skills", `{"file":{"name":"SKILL.md","content":"---\nname: waving\ndescription: Waves.\n---\nWave.\n"}}`)
	must(t, err)
	exported, err := invoke(member, "export_capability", `{"id":"greeter"}`)
	must(t, err)
	if text, _ := exported["text"].(string); !strings.Contains(text, "greeter") {
		t.Errorf("exported %v", exported)
	}

	viewer := h.who(capability.RoleViewer, capability.ScopeSession).Actor()
	viewer.Role = capability.RoleAdmin // as an old turn may still believe
	refusals := []struct {
		name, arguments, code string
		actor                 capability.Actor
	}{
		{"create_capability", `{"name":"x","description":"x","spec":` + codeSpec + `}`, "role_too_low", viewer},
		{"create_capability", `{"name":"x","description":"x","spec":` + codeSpec + `,"colour":1}`, "invalid", member},
		{"get_capability", `{"id":"none"}`, "not_found", member},
		{"no_such_thing", `{}`, "unknown_tool", member},
		{"create_secret", `{"name":"KEY","value":"x"}`, "unknown_tool", member},
		{"list_capabilities", `{"limit":"ten"}`, "invalid", member},
	}
	for _, r := range refusals {
		if _, err := invoke(r.actor, r.name, r.arguments); !fault.HasCode(err, r.code) {
			t.Errorf("%s %s: %v, want %s", r.name, r.arguments, err, r.code)
		}
	}
}
