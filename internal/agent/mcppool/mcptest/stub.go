// Package mcptest is an MCP server for tests that lists and answers whatever
// it is told, well formed or not.
package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Stub is a running server on loopback. It calls itself "stub", as many
// servers call themselves alike.
type Stub struct {
	URL string

	mu     sync.Mutex
	tools  string
	result string
	fails  string
	calls  []string
}

// New starts a server that lists the tools, a sequence of JSON objects, and
// ends it with the test. Make it before whatever holds sessions with it.
func New(t *testing.T, tools string) *Stub {
	t.Helper()
	s := &Stub{tools: tools, result: `{"content":[{"type":"text","text":"done"}]}`}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	s.URL = h.URL + "/mcp"
	return s
}

// List changes what the server offers.
func (s *Stub) List(tools string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// Answer makes every call end with the result, as JSON.
func (s *Stub) Answer(result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result = result
}

// Fail makes every list and call an error with the message.
func (s *Stub) Fail(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = message
}

// Called returns the calls so far, each a raw name and its arguments.
func (s *Stub) Called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ServeHTTP speaks the last revision with sessions.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m) // what cannot be read has no method
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s")
		reply(w, m.ID, `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}`)
	case m.Method == "ping":
		reply(w, m.ID, `"result":{}`)
	case m.Method == "tools/list" && s.fails == "":
		reply(w, m.ID, `"result":{"tools":[`+s.tools+`]}`)
	case m.Method == "tools/call" && s.fails == "":
		s.calls = append(s.calls, m.Params.Name+" "+string(m.Params.Arguments))
		reply(w, m.ID, `"result":`+s.result)
	case m.Method == "tools/list", m.Method == "tools/call":
		message, _ := json.Marshal(s.fails) // a string always encodes
		reply(w, m.ID, `"error":{"code":-32000,"message":`+string(message)+`}`)
	case m.ID == nil && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
	case r.Method != http.MethodDelete:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func reply(w http.ResponseWriter, id json.RawMessage, outcome string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, outcome)
}
