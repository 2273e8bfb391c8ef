package mcppool_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"capstore/internal/agent/mcppool"
	"capstore/internal/netguard"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// message is a request as the server gets it, its parts as they are spelt.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// server is a scripted MCP server of the last revision with sessions. A script
// answers the methods it knows and leaves the rest to the server.
type server struct {
	url    string
	script func(w http.ResponseWriter, r *http.Request, m message) bool

	mu       sync.Mutex
	seen     []string // methods, in order; GET and DELETE under their own names
	headers  []http.Header
	sessions int
	killed   map[string]bool
}

func serve(t *testing.T, script func(w http.ResponseWriter, r *http.Request, m message) bool) *server {
	t.Helper()
	s := &server{script: script, killed: map[string]bool{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL + "/mcp"
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m message
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	if m.Method == "" {
		m.Method = r.Method
	}
	s.mu.Lock()
	s.seen = append(s.seen, m.Method)
	s.headers = append(s.headers, r.Header.Clone())
	lost := s.killed[r.Header.Get("Mcp-Session-Id")]
	s.mu.Unlock()
	if lost {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
		return
	}
	if s.script != nil && s.script(w, r, m) {
		return
	}
	switch {
	case m.Method == "initialize":
		s.mu.Lock()
		s.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s-%d", s.sessions))
		s.mu.Unlock()
		answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"stub","version":"1"}}`)
	case m.Method == "ping":
		answer(w, m, `{}`)
	case m.Method == "tools/list":
		answer(w, m, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
	case m.Method == "tools/call":
		answer(w, m, `{"content":[{"type":"text","text":"ok"}]}`)
	case m.ID == nil && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodDelete:
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "no such method")
	}
}

func answer(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func event(w http.ResponseWriter, fields, data string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "%sdata: %s\n\n", fields, data)
	w.(http.Flusher).Flush()
}

// count returns how often a method was asked for.
func (s *server) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, m := range s.seen {
		if m == method {
			n++
		}
	}
	return n
}

// forget makes every session so far a lost one.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.sessions {
		s.killed[fmt.Sprintf("s-%d", i+1)] = true
	}
}

func (s *server) target(headers ...mcppool.Header) mcppool.Target {
	return mcppool.Target{URL: s.url, Headers: headers}
}

// clock is set by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newPool(t *testing.T, o mcppool.Options) *mcppool.Pool {
	t.Helper()
	g, err := netguard.New([]string{"127.0.0.1", "::1"})
	if err != nil {
		t.Fatal(err)
	}
	p := mcppool.New(g, o)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.Started()
	t.Cleanup(p.Stop)
	return p
}

var alice = mcppool.Key{Workspace: "acme", Subject: "alice", Server: "stub"}

func header(t *testing.T, name, scheme, value string) mcppool.Header {
	t.Helper()
	h, _, err := mcppool.NewHeader(name, scheme, value)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
