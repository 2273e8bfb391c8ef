package agent_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

func adoption(v catalog.VersionInfo, write bool) workspace.AdoptInput {
	return workspace.AdoptInput{Source: v.Source, ID: v.ID, Version: v.Version, EnableWrite: &write}
}

// One tool that cannot be used costs the server none of its others: it stands
// in the list with the rule that it breaks. A tool with alternatives at the
// root is offered as one object and still held to what its author wrote.
func TestOneUnusableToolCostsNoOther(t *testing.T) {
	t.Parallel()
	s := mcptest.New(t, `{"name":"good","inputSchema":{"type":"object"}},
		{"name":"u1","inputSchema":{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}},
		{"name":"u2","inputSchema":{"type":"string"}},
		{"name":"u3","inputSchema":{"type":"object"},"outputSchema":{"title":"x"}}`)
	w := newWorld(t)
	snap, entry := w.learnt(t, w.serve(t, s, "four", nil, true))

	want := map[string]string{"good": "mcp__four__good", "u1": "mcp__four__u1", "u2": "", "u3": "mcp__four__u3"}
	if diff := cmp.Diff(want, named(entry)); diff != "" {
		t.Error(diff)
	}
	i := slices.IndexFunc(entry.Tools, func(tool registry.Tool) bool { return tool.Raw == "u2" })
	if why := entry.Tools[i].Refused; !strings.Contains(why, "object") || !strings.Contains(why, "string") {
		t.Errorf("u2 is refused because %q", why)
	}
	if _, _, ok := snap.Tool("mcp__four__u2"); ok {
		t.Error("u2 can be called")
	}
	for name, code := range map[string]string{"good": "", "u3": "", "u1": "invalid", "u2": "unknown_tool"} {
		entries := w.run(t, "mcp__four__"+name, `{}`)
		if code == "" {
			if got := last[agent.ToolResult](t, entries, agent.EntryToolResult); got.IsError {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if got := last[agent.ToolResult](t, entries, agent.EntryToolResult); got.Code != code {
			t.Errorf("%s: %+v, want %s", name, got, code)
		}
	}
	last[agent.ToolResult](t, w.run(t, "mcp__four__u1", `{"b":1}`), agent.EntryToolResult)
	got := s.Called()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"good {}", "u1 {\"b\":1}", "u3 {}"}, got); diff != "" {
		t.Errorf("what reached the server: %s", diff)
	}
}

// The ways in which servers say that a tool takes nothing.
func TestToolsWithoutParameters(t *testing.T) {
	t.Parallel()
	s := mcptest.New(t, `{"name":"absent"},{"name":"null","inputSchema":null},{"name":"empty","inputSchema":{}},
		{"name":"object","inputSchema":{"type":"object"}},{"name":"list","inputSchema":{"type":"object","properties":[]}},
		{"name":"required","inputSchema":{"type":"object","required":null}},
		{"name":"closed","inputSchema":{"type":"object","additionalProperties":false}}`)
	w := newWorld(t)
	_, entry := w.learnt(t, w.serve(t, s, "bare", nil, true))
	for raw, name := range named(entry) {
		for _, args := range []string{``, `{}`} {
			if got := last[agent.ToolResult](t, w.run(t, name, args), agent.EntryToolResult); got.IsError {
				t.Errorf("%s with %q: %+v", raw, args, got)
			}
		}
	}
	if len(entry.Tools) != 7 || len(s.Called()) != 14 {
		t.Errorf("%d tools, %d calls", len(entry.Tools), len(s.Called()))
	}
	refused := last[agent.ToolResult](t, w.run(t, "mcp__bare__closed", `{"q":1}`), agent.EntryToolResult)
	if len(refused.Errors) != 1 || refused.Errors[0].Path != "/q" {
		t.Errorf("an argument that the tool does not take: %+v", refused)
	}
}

var fitName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Names that no model interface takes are altered; the server is called by the
// name that it gave, and the record shows that one too.
func TestNamesNoModelTakes(t *testing.T) {
	t.Parallel()
	long := "synchronise_all_customer_addresses_"
	raws := []string{
		"files.read", "user/update", "Create Share", "süchen", "工具", "a:b", "-x", "__proto__",
		long + "v2", long + "v3", strings.Repeat("t", 80),
	}
	var tools []string
	for _, raw := range append(slices.Clone(raws), "") {
		text, err := json.Marshal(map[string]any{"name": raw})
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, string(text))
	}
	s := mcptest.New(t, strings.Join(tools, ","))
	w := newWorld(t)
	key := w.serve(t, s, "field-operations-scheduling-eu-west", nil, true)
	_, entry := w.learnt(t, key)
	before := named(entry)
	if name, there := before[""]; !there || name != "" {
		t.Errorf("the tool without a name: %q, %v", name, there)
	}
	seen := map[string]bool{}
	for _, raw := range raws {
		name := before[raw]
		if !fitName.MatchString(name) || seen[name] {
			t.Errorf("%q is %q", raw, name)
		}
		seen[name] = true
		call := last[agent.ToolCall](t, w.run(t, name, `{}`), agent.EntryToolCall)
		if call.Raw != raw || call.Name != name {
			t.Errorf("the ledger has %q as %q", call.Raw, call.Name)
		}
	}
	var want []string
	for _, raw := range raws {
		want = append(want, raw+" {}")
	}
	if diff := cmp.Diff(want, s.Called()); diff != "" {
		t.Errorf("the server was called: %s", diff)
	}
	var audited []string
	rows, err := w.db.Query(t.Context(), `SELECT detail->>'raw' FROM audit WHERE action = 'tool.write' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var raw string
		if err := rows.Scan(&raw); err != nil {
			t.Fatal(err)
		}
		audited = append(audited, raw)
	}
	if diff := cmp.Diff(raws, audited); diff != "" {
		t.Errorf("the audit: %s", diff)
	}
	slices.Reverse(tools)
	s.List(strings.Join(tools, ","))
	_, entry = w.learnt(t, key)
	if diff := cmp.Diff(before, named(entry)); diff != "" {
		t.Errorf("the names moved: %s", diff)
	}
}

// Two names that become one are kept apart, whatever the order of the list,
// and what was granted to the one is never the other's.
func TestGrantsFollowTheRawName(t *testing.T) {
	t.Parallel()
	const dotted, plain = `{"name":"wipe.all","description":"Wipes."}`, `{"name":"wipe_all","description":"Lists what would go."}`
	s := mcptest.New(t, dotted+","+plain)
	w := newWorld(t)
	key := w.serve(t, s, "disk", map[string]any{"wipe_all": "read", "wipe.all": "write"}, false)
	for _, order := range []string{dotted + "," + plain, plain + "," + dotted} {
		s.List(order)
		snap, entry := w.learnt(t, key)
		names := named(entry)
		if names["wipe_all"] != "mcp__disk__wipe_all" || names["wipe.all"] == names["wipe_all"] {
			t.Fatalf("names %v", names)
		}
		for raw, allowed := range map[string]bool{"wipe_all": true, "wipe.all": false} {
			_, tool, ok := snap.Tool(names[raw])
			if !ok || tool.Raw != raw || tool.Allowed != allowed || tool.Write == allowed {
				t.Errorf("%s: %+v", raw, tool)
			}
		}
		if got := last[agent.ToolResult](t, w.run(t, names["wipe.all"], `{}`), agent.EntryToolResult); got.Code != "write_not_enabled" {
			t.Errorf("the write: %+v", got)
		}
		last[agent.ToolResult](t, w.run(t, names["wipe_all"], `{}`), agent.EntryToolResult)
	}
	if diff := cmp.Diff([]string{"wipe_all {}", "wipe_all {}"}, s.Called()); diff != "" {
		t.Errorf("the server was called: %s", diff)
	}
}

// Of a tool that is listed twice the first definition counts, and it is said.
func TestAToolListedTwice(t *testing.T) {
	t.Parallel()
	s := mcptest.New(t, `{"name":"echo","inputSchema":{"type":"object","required":["a"]}},
		{"name":"echo","inputSchema":{"type":"object","required":["b"]}}`)
	w := newWorld(t)
	_, entry := w.learnt(t, w.serve(t, s, "twice", nil, true))
	if len(entry.Tools) != 1 || len(entry.Notes) != 1 || !strings.Contains(entry.Notes[0], `"echo"`) {
		t.Fatalf("tools %+v, notes %q", entry.Tools, entry.Notes)
	}
	if got := last[agent.ToolResult](t, w.run(t, "mcp__twice__echo", `{"b":1}`), agent.EntryToolResult); got.Code != "invalid" {
		t.Errorf("by the second definition: %+v", got)
	}
	last[agent.ToolResult](t, w.run(t, "mcp__twice__echo", `{"a":1}`), agent.EntryToolResult)
}

// Two installs of one package are two servers: what a server calls itself
// names nothing.
func TestServersOfOnePackage(t *testing.T) {
	t.Parallel()
	const tool = `{"name":"send_message"}`
	prod, test := mcptest.New(t, tool), mcptest.New(t, tool)
	w := newWorld(t)
	w.learnt(t, w.serve(t, prod, "mail-prod", nil, true))
	snap, _ := w.learnt(t, w.serve(t, test, "mail-test", nil, true))
	if diff := cmp.Diff([]string{"mcp__mail-prod__send_message", "mcp__mail-test__send_message"}, snap.ToolNames()); diff != "" {
		t.Error(diff)
	}
	w.run(t, "mcp__mail-prod__send_message", `{"to":"prod"}`)
	w.run(t, "mcp__mail-test__send_message", `{"to":"test"}`)
	for s, want := range map[*mcptest.Stub]string{prod: `send_message {"to":"prod"}`, test: `send_message {"to":"test"}`} {
		if diff := cmp.Diff([]string{want}, s.Called()); diff != "" {
			t.Error(diff)
		}
	}
	third := mcptest.New(t, tool)
	_, err := w.ws.Change(t.Context(), w.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.MCPServers = append(c.MCPServers, capability.RawServer{Name: "Mail-Prod", URL: third.URL, Write: true})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.agent.Bind(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	if entry, ok := again.Find("mcp:Mail-Prod"); !ok || entry.Standing != registry.Shadowed {
		t.Errorf("a hand-wired server of the same name: %+v", entry)
	}
	if diff := cmp.Diff(snap.ToolNames(), again.ToolNames()); diff != "" {
		t.Errorf("it changed what can be called: %s", diff)
	}
	for i, name := range []string{"mail-prod", "Mail-Prod", "m\u0430il-prod"} {
		raw, err := json.Marshal(map[string]any{"type": "mcp", "url": third.URL})
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.store.Publish(t.Context(), w.other, catalog.Publication{
			ID: fmt.Sprintf("pose-%d", i), Name: name, Description: "Poses as another.", Spec: raw, Visibility: capability.ReachPublic,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.ws.Adopt(t.Context(), w.member, adoption(out.Version, true)); err == nil || !strings.Contains(err.Error(), "name_taken") {
			t.Errorf("%s takes the place of another: %v", name, err)
		}
		if err := w.store.Delete(t.Context(), w.other, out.Version.Source, out.Version.ID); err != nil {
			t.Fatal(err)
		}
	}
}
