package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg/pgtest"
)

// config is a server's over a database of its own.
func config(t *testing.T) app.Config {
	t.Helper()
	return app.Config{Addr: "127.0.0.1:8080", Data: t.TempDir(), DatabaseURL: pgtest.URL(t), LogLevel: "info", LogFormat: "text"}
}

func open(t *testing.T, cfg app.Config, opts app.Options) *app.App {
	t.Helper()
	a, err := app.Open(t.Context(), cfg, opts, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*app.Config)
		demo   bool
		code   string
	}{
		{"demo on every interface", func(c *app.Config) { c.Addr = "0.0.0.0:8080" }, true, "demo_exposed"},
		{"demo on a name", func(c *app.Config) { c.Addr = "example.com:8080" }, true, "demo_exposed"},
		{"no port", func(c *app.Config) { c.Addr = "localhost" }, false, "invalid"},
		{"base URL with a path", func(c *app.Config) { c.BaseURL = "https://example.com/store" }, false, "invalid"},
		{"no database there", func(c *app.Config) { c.DatabaseURL = "postgres://localhost:1/none" }, false, "database_unavailable"},
		{"no network", func(c *app.Config) { c.AllowHosts = []string{"10.0.0.0/99"} }, false, "invalid"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			tc.change(&cfg)
			a, err := app.Open(t.Context(), cfg, app.Options{Demo: tc.demo}, slog.New(slog.DiscardHandler))
			if err == nil {
				a.Close()
			}
			if !fault.HasCode(err, tc.code) {
				t.Errorf("%v, want code %s", err, tc.code)
			}
		})
	}
}

func TestAddressTaken(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cfg := config(t)
	cfg.Addr = listener.Addr().String()
	err = open(t, cfg, app.Options{}).Serve(t.Context(), func(net.Addr) { t.Error("ready on a taken address") })
	if f := fault.From(err); f.Code != "address_taken" || !strings.Contains(f.Message, cfg.Addr) || !strings.Contains(f.Action, "--addr") {
		t.Errorf("%v, want address_taken with the address and the flag", err)
	}
}

// TestServeEndsWithItsContext finishes what is under way and lets go.
func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Addr = "127.0.0.1:0"
	a := open(t, cfg, app.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	at := make(chan net.Addr, 1)
	go func() { ended <- a.Serve(ctx, func(addr net.Addr) { at <- addr }) }()
	res, err := http.Get("http://" + (<-at).String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("healthz: %d", res.StatusCode)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// without hides a program from the server and keeps every other.
func without(t *testing.T, program string) {
	t.Helper()
	bin := t.TempDir()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // a PATH may name what is not there
		}
		for _, e := range entries {
			if e.Name() != program {
				_ = os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(bin, e.Name())) // the first of a name counts
			}
		}
	}
	t.Setenv("PATH", bin)
	if path, err := exec.LookPath(program); err == nil {
		t.Fatalf("%s is still there: %s", program, path)
	}
}

// TestWithoutBubblewrap holds that code tools alone are off, and say so.
func TestWithoutBubblewrap(t *testing.T) {
	cfg := config(t) // before the PATH changes, for PostgreSQL's sake
	without(t, "bwrap")
	a := open(t, cfg, app.Options{Demo: true})
	ask := asMember(t, a)

	off := "bubblewrap"
	status, body := ask(http.MethodPost, "/agent/code-tools/try", map[string]any{"source": "acme", "id": "unit-convert", "version": "1.0.0", "input": map[string]any{"value": 1, "from": "kg", "to": "lb"}})
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `"sandbox_unavailable"`) || !strings.Contains(body, off) {
		t.Errorf("a try: %d %s, want sandbox_unavailable that names what is missing", status, body)
	}
	if status, body := ask(http.MethodGet, "/agent/tools", nil); status != http.StatusOK || !strings.Contains(body, "unit_convert") {
		t.Errorf("the tools: %d %s", status, body)
	}
	publication := map[string]any{"name": "Greets", "description": "Greets.", "spec": map[string]any{
		"type": "code", "language": "python", "isReadOnly": true, "code": "print('{}')", "parametersSchema": map[string]any{"type": "object"},
	}}
	if status, body := ask(http.MethodPost, "/capabilities", publication); status != http.StatusCreated {
		t.Errorf("publishing code: %d %s", status, body)
	}
	if status, body := ask(http.MethodGet, "/agent/skills", nil); status != http.StatusOK || !strings.Contains(body, "month-end-close") {
		t.Errorf("the skills: %d %s", status, body)
	}
	if err := a.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
}

// asMember asks JSON routes of acme as its member.
func asMember(t *testing.T, a *app.App) func(method, path string, body any) (int, string) {
	t.Helper()
	_, token, err := a.Identity.IssueToken(t.Context(), "member@acme.demo", "acme", identity.NewToken{Name: "test", Scope: capability.ScopeAgent})
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path string, body any) (int, string) {
		t.Helper()
		var in io.Reader = http.NoBody
		if body != nil {
			raw, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			in = strings.NewReader(string(raw))
		}
		req := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8080/api/v1/workspaces/acme"+path, in)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		a.Handler.ServeHTTP(rec, req)
		return rec.Code, rec.Body.String()
	}
}
