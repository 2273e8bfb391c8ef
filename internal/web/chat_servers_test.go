package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
)

// server publishes and adopts an MCP server for acme and returns its key.
func (s *site) server(url, name string, provides ...string) capability.Key {
	s.t.Helper()
	spec, err := json.Marshal(map[string]any{"type": "mcp", "url": url, "provides": provides})
	must(s.t, err)
	v := s.publish(max, "acme", catalog.Publication{Name: name, Description: "A server.", Spec: spec, Visibility: capability.ReachWorkspace})
	write := true
	_, err = s.Workspace.Adopt(s.t.Context(), s.actor(max, "acme"), workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, EnableWrite: &write,
	})
	must(s.t, err)
	return capability.CapabilityKey(v.Source, v.ID)
}

// One tool that cannot be used costs a server none of its others, and the
// person who picks is told which and why.
func TestPickingFromAnOddServer(t *testing.T) {
	t.Parallel()
	stub := mcptest.New(t, `{"name":"good","inputSchema":{"type":"object"}},
		{"name":"u1","inputSchema":{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}},
		{"name":"u2","inputSchema":{"type":"string"}},
		{"name":"u3","inputSchema":{"type":"object"},"outputSchema":{"title":"x"}},
		{"name":"files.read","inputSchema":{"type":"object","$defs":{"Box":{"type":"object","properties":{"w":{"type":"integer"}}}},
			"properties":{"b":{"$ref":"#/$defs/Box"},"n":{"type":"integer"}}}},
		{"name":"good","description":"again"}`)
	s := newSite(t)
	s.server(stub.URL, "four")
	member := s.as(max)

	ask := member.get("/acme/chat?pick=1").status(200).find(`a[href*="ask="]`).AttrOr("href", "")
	if n := len(stub.Called()); n != 0 {
		t.Errorf("%d calls before anybody asked", n)
	}
	picker := member.get(ask).status(200)
	for _, name := range []string{"mcp__four__good", "mcp__four__u1", "mcp__four__u3"} {
		picker.find(`a[href*="tool=` + name + `"]`)
	}
	picker.none(`a[href*="mcp__four__u2"]`)
	said := picker.text("section[aria-labelledby=pick-title]")
	for _, want := range []string{"four: 4 usable, 1 refused.", "u2: ", `"good" twice`, "files.read"} {
		if !strings.Contains(said, want) {
			t.Errorf("the picker does not say %q: %s", want, said)
		}
	}
	form := member.get("/acme/chat?tool=mcp__four__u1").status(200)
	form.find("[name='arg.a']")
	form.find("[name='arg.b']")
	refused := member.post("/acme/chat", "tool", "mcp__four__u1").status(303)
	if got := member.get(refused.Header.Get("Location")).text("main"); !strings.Contains(got, "b") || len(stub.Called()) != 0 {
		t.Errorf("neither of the two sets: %s, %v", got, stub.Called())
	}
	member.post("/acme/chat", "tool", "mcp__four__u1", "arg.b", "1").status(303)
	member.post("/acme/chat", "tool", "mcp__four__good").status(303)
	if diff := cmp.Diff([]string{`u1 {"b":1}`, "good {}"}, stub.Called()); diff != "" {
		t.Errorf("the server was called: %s", diff)
	}
}

// A server that cannot be asked says so where its tools would stand.
func TestPickingFromAServerInTrouble(t *testing.T) {
	t.Parallel()
	stub := mcptest.New(t, "")
	stub.Fail(hostileText)
	s := newSite(t)
	key := s.server(stub.URL, "broken", "declared")
	member := s.as(max)
	for _, path := range []string{"/acme/chat?pick=1&ask=" + string(key), "/acme/chat?tool=mcp__broken__declared"} {
		page := member.get(path).status(200)
		page.harmless()
		if got := page.text("main"); !strings.Contains(got, "<svg/onload=1>") && strings.Contains(path, "ask=") {
			t.Errorf("%s does not say why: %s", path, got)
		}
	}
	member.get("/acme/chat?pick=1&ask=capability:acme%2Fnothing").status(200)
	member.get("/acme/chat?pick=1&ask=nonsense").status(200)
}
