// Package e2e_test drives the whole server, with the demo's people and
// catalogue, as a browser does.
package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"testing"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/pg/pgtest"
	"capstore/internal/web"
	"capstore/views/browsertest"
)

// The demo's people that the tests are.
const (
	member      = "member@acme.demo"
	viewer      = "viewer@acme.demo"
	admin       = "admin@acme.demo"
	globexAdmin = "admin@globex.demo"
)

// site is a server of the test's own.
type site struct {
	*app.App
	url string
}

// serve starts a server that may reach the hosts and stops it with the test.
func serve(t *testing.T, demo bool, hosts ...string) *site {
	t.Helper()
	cfg := app.Config{Addr: "127.0.0.1:0", Data: t.TempDir(), DatabaseURL: pgtest.URL(t), LogLevel: "info", LogFormat: "text", AllowHosts: hosts}
	a, err := app.Open(t.Context(), cfg, app.Options{Demo: demo}, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	at, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- a.Serve(ctx, func(addr net.Addr) { at <- addr }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.Close()
	})
	select {
	case addr := <-at:
		return &site{App: a, url: "http://" + addr.String()}
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return nil
}

// routes lists every page and form of the site.
func (s *site) routes() []web.Route {
	return (&web.Site{Parts: web.Parts{
		Root: s.Root, Catalog: s.Catalog, Workspace: s.Workspace, Secrets: s.Secrets, Agent: s.Agent,
	}}).Routes()
}

// actor is one of the demo's people as the services know him.
func (s *site) actor(t *testing.T, email, workspace string) capability.Actor {
	t.Helper()
	user, err := s.Identity.UserByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	who, err := s.Identity.PrincipalOf(t.Context(), user.Subject, workspace)
	if err != nil {
		t.Fatal(err)
	}
	return who.Actor()
}

// become signs the tab in as one of the demo's people, or out for "".
func (s *site) become(t *testing.T, tab *browsertest.Tab, email string) {
	t.Helper()
	tab.Visit(s.url+"/healthz", browsertest.View{}) // a page that neither leads on nor loads anything
	path, body := "/demo/login", url.Values{"email": {email}}.Encode()
	if email == "" {
		path = "/logout"
	}
	script := fmt.Sprintf(`fetch(%q, {method: "POST", body: new URLSearchParams(%q)}).then(r => r.ok)`, path, body)
	if !browsertest.Eval[bool](tab, script) {
		t.Fatalf("signing in as %q failed: %v", email, tab.Troubles())
	}
}
