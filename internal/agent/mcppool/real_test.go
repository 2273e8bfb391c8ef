package mcppool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"capstore/internal/agent/mcppool"
	"capstore/internal/fault"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const everything = "../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js"

// startEverything runs the reference server of the protocol's authors.
func startEverything(t *testing.T) mcppool.Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", everything, "streamableHttp")
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("PORT=%d", port))
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("node cannot be run: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	lines := bufio.NewScanner(errs)
	var said strings.Builder
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "listening on port") {
			go func() { // its chatter must not fill the pipe
				for lines.Scan() {
				}
			}()
			return mcppool.Target{URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port)}
		}
	}
	t.Fatalf("the server did not start (npm ci installs it):\n%s", said.String())
	return mcppool.Target{}
}

func TestReferenceServer(t *testing.T) {
	t.Parallel()
	target := startEverything(t)
	p := newPool(t, mcppool.Options{})
	c, err := p.Tools(t.Context(), alice, target)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Tools) < 8 || len(c.Refused) > 0 {
		t.Errorf("%d tools, refused %v", len(c.Tools), c.Refused)
	}
	i := slices.IndexFunc(c.Tools, func(t mcppool.Tool) bool { return t.Name == "echo" })
	if i < 0 || len(c.Tools[i].Schema.Parameters()) != 1 {
		t.Fatalf("no echo: %+v", c.Tools)
	}
	if f := c.Tools[i].Schema.Validate(json.RawMessage(`{"message":7}`)); len(f) != 1 || f[0].Path != "/message" {
		t.Errorf("a wrong argument: %v", f)
	}
	r, err := p.Call(t.Context(), alice, target, "echo", json.RawMessage(`{"message":"héllo <b>"}`))
	if err != nil || len(r.Content) != 1 || r.Content[0].Text != "Echo: héllo <b>" {
		t.Errorf("echo: %+v, %v", r, err)
	}
	if r, err = p.Call(t.Context(), alice, target, "get-tiny-image", nil); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, b := range r.Content {
		kinds = append(kinds, b.Type+" "+b.MediaType)
	}
	if got := strings.Join(kinds, ", "); got != "text text/plain, image image/png, text text/plain" {
		t.Errorf("image: %s", got)
	}
	if r, err = p.Call(t.Context(), alice, target, "get-sum", json.RawMessage(`{"a":"x"}`)); err == nil && !r.IsError {
		t.Errorf("wrong arguments: %+v, %v", r, err)
	}
	if r, err = p.Call(t.Context(), alice, target, "no-such-tool", nil); err == nil && !r.IsError {
		t.Errorf("no such tool: %+v", r)
	}
}

// The newest revision has no sessions; one pool speaks both.
func TestNewestRevision(t *testing.T) {
	t.Parallel()
	impl := mcp.NewServer(&mcp.Implementation{Name: "modern", Version: "2"}, nil)
	mcp.AddTool(impl, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		A int64 `json:"a"`
		B int64 `json:"b"`
	}) (*mcp.CallToolResult, map[string]int64, error) {
		return nil, map[string]int64{"sum": in.A + in.B}, nil
	})
	var versions []string
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return impl }, &mcp.StreamableHTTPOptions{Stateless: true})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		versions = append(versions, r.Header.Get("Mcp-Protocol-Version"))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	p := newPool(t, mcppool.Options{})
	target := mcppool.Target{URL: s.URL}
	c, err := p.Tools(t.Context(), alice, target)
	if err != nil || c.Protocol != "2026-07-28" || len(c.Tools) != 1 || c.Server != "modern" {
		t.Fatalf("%+v, %v", c, err)
	}
	r, err := p.Call(t.Context(), alice, target, "add", json.RawMessage(`{"a":40,"b":2}`))
	if err != nil || string(r.Structured) != `{"sum":42}` {
		t.Errorf("%s, %v", r.Structured, err)
	}
	if _, err := p.Call(t.Context(), alice, target, "nope", nil); !fault.HasCode(err, "server_error") {
		t.Errorf("no such tool: %v", err)
	}
	if slices.ContainsFunc(versions, func(v string) bool { return v != "2026-07-28" }) {
		t.Errorf("revisions spoken: %v", versions)
	}
}

// The era of a server is learnt once: a new session asks no second time.
func TestEraIsRemembered(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	p := newPool(t, mcppool.Options{})
	for range 3 {
		if _, err := call(t, p, s, `{}`); err != nil {
			t.Fatal(err)
		}
		s.forget()
	}
	if n := s.count("server/discover"); n != 1 || s.count("initialize") != 3 {
		t.Errorf("asked %d times in %d sessions", n, s.count("initialize"))
	}
}
