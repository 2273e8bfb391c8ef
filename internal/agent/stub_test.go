package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/registry"
)

// stub is an MCP server that lists whatever it is told, well formed or not, and
// answers every call. It calls itself "stub", as many servers do.
type stub struct {
	url string

	mu    sync.Mutex
	tools string   // the list, as JSON
	calls []string // raw names with their arguments, in order
	fails string   // what calls and lists are answered with instead, "" for a result
}

// newStub starts one. Make it before the world, so that it outlives the
// agent's sessions with it.
func newStub(t *testing.T, tools string) *stub {
	t.Helper()
	s := &stub{tools: tools}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.url = h.URL + "/mcp"
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	s.mu.Lock()
	defer s.mu.Unlock()
	result := ""
	switch {
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s")
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}`
	case s.fails != "" && (m.Method == "tools/list" || m.Method == "tools/call"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, m.ID, s.fails)
		return
	case m.Method == "tools/list":
		result = `{"tools":[` + s.tools + `]}`
	case m.Method == "tools/call":
		s.calls = append(s.calls, m.Params.Name+" "+string(m.Params.Arguments))
		result = `{"content":[{"type":"text","text":"done"}]}`
	case m.Method == "ping":
		result = `{}`
	case m.ID == nil && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
		return
	case r.Method == http.MethodDelete:
		return
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// list changes what the server offers.
func (s *stub) list(tools string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// fail makes every list and call an error with the message.
func (s *stub) fail(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = message
}

// called returns what was called so far.
func (s *stub) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.calls...)
}

// serve publishes the server under the name and adopts it, with the classes
// and the right to write that an adopter confirms.
func (w *world) serve(t *testing.T, s *stub, name string, classes map[string]any, write bool) capability.Key {
	t.Helper()
	v := w.publish(t, w.member, name, map[string]any{"type": "mcp", "url": s.url, "toolClasses": classes})
	w.adoptServer(t, v, write)
	return capability.CapabilityKey(v.Source, v.ID)
}

// learnt asks the server of the key and returns its entry.
func (w *world) learnt(t *testing.T, key capability.Key) (*registry.Snapshot, registry.Entry) {
	t.Helper()
	snap, err := w.agent.Learn(t.Context(), w.member, key)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := snap.Find(key)
	if !ok || entry.Trouble != "" {
		t.Fatalf("entry %+v", entry)
	}
	return snap, entry
}

// named returns the runtime names by the server's own ones, "" for a refused
// tool.
func named(e registry.Entry) map[string]string {
	out := map[string]string{}
	for _, tool := range e.Tools {
		out[tool.Raw] = tool.Name
		if tool.Refused != "" {
			out[tool.Raw] = ""
		}
	}
	return out
}

// run calls a tool by its runtime name and returns the ledger.
func (w *world) run(t *testing.T, name, args string) []agent.Entry {
	t.Helper()
	return w.say(t, w.member, agent.Ask{Tool: name, Arguments: json.RawMessage(args)})
}

func (w *world) adoptServer(t *testing.T, v catalog.VersionInfo, write bool) {
	t.Helper()
	_, err := w.ws.Adopt(t.Context(), w.member, adoption(v, write))
	if err != nil {
		t.Fatalf("adopt %s: %v", v.ID, err)
	}
}
