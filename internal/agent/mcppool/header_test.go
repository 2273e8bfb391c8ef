package mcppool_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"capstore/internal/agent/mcppool"
	"capstore/internal/fault"
)

func TestHeaderBindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		name, scheme, value string
		code                string
		trimmed             bool
	}{
		"plain":              {"X-Api-Key", "", "k", "", false},
		"bearer":             {"authorization", "Bearer", "k", "", false},
		"trailing line end":  {"X-Api-Key", "", "k\r\n", "", true},
		"injection":          {"X-Org", "", "acme\r\nX-Admin: 1", "bad_header_value", false},
		"line feed":          {"X-Org", "", "a\nb", "bad_header_value", false},
		"NUL":                {"X-Org", "", "a\x00", "bad_header_value", false},
		"beyond ASCII":       {"X-Org", "", "käse", "bad_header_value", false},
		"empty":              {"X-Org", "", "", "bad_header_value", false},
		"line end only":      {"X-Org", "Bearer", "\n", "bad_header_value", true},
		"spaces around":      {"X-Org", "", " a ", "bad_header_value", false},
		"70 kB":              {"X-Org", "", strings.Repeat("x", 70_000), "bad_header_value", false},
		"name with a space":  {"Bad Name", "", "x", "bad_header", false},
		"name with line end": {"X\r\nY", "", "x", "bad_header", false},
		"no name":            {"", "", "x", "bad_header", false},
		"host":               {"host", "", "x", "bad_header", false},
		"length":             {"Content-Length", "", "1", "bad_header", false},
		"encoding":           {"TRANSFER-ENCODING", "", "x", "bad_header", false},
		"type":               {"content-type", "", "x", "bad_header", false},
		"session":            {"mcp-session-id", "", "x", "bad_header", false},
		"protocol":           {"MCP-Protocol-Version", "", "x", "bad_header", false},
		"proxy":              {"Proxy-Authorization", "", "x", "bad_header", false},
		"origin":             {"Origin", "", "x", "bad_header", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, trimmed, err := mcppool.NewHeader(c.name, c.scheme, c.value)
			if c.code == "" && err != nil || c.code != "" && !fault.HasCode(err, c.code) {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			if trimmed != c.trimmed {
				t.Errorf("trimmed %v", trimmed)
			}
			shown := fmt.Sprintf("%v %+v %#v %s", h, h, h, err)
			if err == nil && strings.Contains(shown, c.value) {
				t.Errorf("the value shows: %s", shown)
			}
			if err != nil && len(c.value) > 3 && strings.Contains(err.Error(), c.value) {
				t.Errorf("the fault holds the value: %v", err)
			}
		})
	}
}

// A bound secret is for the server it was bound for, wherever that one points.
func TestRedirectsCarryNoCredential(t *testing.T) {
	t.Parallel()
	away := serve(t, nil)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case r.URL.Path == "/mcp" && m.Method == "tools/call":
			http.Redirect(w, r, away.url, http.StatusTemporaryRedirect)
			return true
		case r.URL.Path == "/mcp" && m.Method == "tools/list":
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	p := newPool(t, mcppool.Options{})
	target := s.target(header(t, "Authorization", "Bearer", "canary-1"), header(t, "X-Api-Key", "", "canary-2"))
	if _, err := p.Call(t.Context(), alice, target, "x", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Tools(t.Context(), alice, target); err != nil {
		t.Fatal(err)
	}
	for _, h := range away.headers {
		if all := fmt.Sprint(h); strings.Contains(all, "canary") || h.Get("Mcp-Session-Id") != "" {
			t.Errorf("a credential went elsewhere: %s", all)
		}
	}
	if len(away.headers) != 1 {
		t.Errorf("%d requests went elsewhere", len(away.headers))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range s.headers {
		if h.Get("Authorization") != "Bearer canary-1" || h.Get("X-Api-Key") != "canary-2" {
			t.Errorf("%s came without its credential", s.seen[i])
		}
	}
}
