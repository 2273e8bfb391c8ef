package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/api"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/ops"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The people of newSite. Max belongs to both workspaces and Lone to none.
const (
	ada  = "ada@acme.test"  // admin of acme
	max  = "max@acme.test"  // member of acme, viewer of globex
	mia  = "mia@acme.test"  // another member of acme
	vera = "vera@acme.test" // viewer of acme
	gus  = "gus@globex.test"
	lone = "lone@nowhere.test"
)

const acme, globex = "/api/v1/workspaces/acme", "/api/v1/workspaces/globex"

// site is the whole JSON surface over a database of its own.
type site struct {
	t  *testing.T
	db *pg.DB
	ops.Services
	root    *httpd.Root
	handler http.Handler
}

// newSite has the workspaces acme and globex and the people above.
func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteLogging(t, slog.New(slog.DiscardHandler))
}

func newSiteLogging(t *testing.T, log *slog.Logger) *site {
	t.Helper()
	db := pgtest.New(t)
	secrets, err := secret.Open(t.Context(), db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "secret.key")})
	must(t, err)
	runner, err := sandbox.NewRunner(sandbox.Options{Folder: t.TempDir()})
	must(t, err)
	store := catalog.New(db, catalog.Options{})
	spaces := workspace.New(db, store, workspace.Options{})
	chat := agent.New(agent.Parts{DB: db, Catalog: store, Workspace: spaces, Secrets: secrets, Sandbox: runner, Log: log})
	must(t, chat.Start(t.Context()))
	t.Cleanup(chat.Stop)
	people := identity.New(db)
	s := &site{t: t, db: db, Services: ops.Services{
		Identity: people, Catalog: store, Workspace: spaces, Secrets: secrets, Agent: chat,
	}}
	s.root = httpd.New(httpd.Config{CookieKey: []byte(strings.Repeat("k", 64))}, people, identity.NewSessions(db, false), log, db.Reachable)
	must(t, api.Mount(api.Parts{Root: s.root, DB: db, Services: s.Services}))
	s.root.Mount("POST /static/sign-in", s.root.Sessions.LoadAndSave(http.HandlerFunc(s.signIn)))
	s.handler = s.root.Handler()
	s.people()
	return s
}

func (s *site) people() {
	s.t.Helper()
	must(s.t, s.Identity.EnsureWorkspace(s.t.Context(), "acme", "Acme Logistics"))
	must(s.t, s.Identity.EnsureWorkspace(s.t.Context(), "globex", "Globex Finance"))
	for _, email := range []string{ada, max, mia, vera, gus, lone} {
		name, _, _ := strings.Cut(email, "@")
		_, err := s.Identity.EnsureUser(s.t.Context(), identity.NewUser{Email: email, Name: name})
		must(s.t, err)
	}
	s.join("acme", ada, capability.RoleAdmin)
	s.join("acme", max, capability.RoleMember)
	s.join("acme", mia, capability.RoleMember)
	s.join("acme", vera, capability.RoleViewer)
	s.join("globex", gus, capability.RoleAdmin)
	s.join("globex", max, capability.RoleViewer)
}

func (s *site) join(workspace, email string, role capability.Role) {
	s.t.Helper()
	must(s.t, s.Identity.EnsureMember(s.t.Context(), workspace, s.subject(email), role))
}

func (s *site) subject(email string) string {
	s.t.Helper()
	u, err := s.Identity.UserByEmail(s.t.Context(), email)
	must(s.t, err)
	return u.Subject
}

// signIn stands for the password, whose hash would cost every test a while.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) {
	u, err := s.Identity.UserByEmail(r.Context(), r.FormValue("email"))
	if err == nil {
		err = s.root.Sessions.Begin(r.Context(), u.Subject, "password", r.UserAgent())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// client is one program, with the headers of every request that it sends.
type client struct {
	t       *testing.T
	handler http.Handler
	header  http.Header
}

// stranger is a client without a credential.
func (s *site) stranger() *client { return &client{t: s.t, handler: s.handler, header: http.Header{}} }

// as is a client with a token of the scope agent for acme.
func (s *site) as(email string) *client { return s.with(email, "acme", capability.ScopeAgent) }

func (s *site) with(email, workspace string, scope capability.Scope) *client {
	s.t.Helper()
	_, token, err := s.Identity.IssueToken(s.t.Context(), email, workspace, identity.NewToken{Name: "test", Scope: scope})
	must(s.t, err)
	return s.stranger().plus("Authorization", "Bearer "+token)
}

// plus is the client with one more header.
func (c *client) plus(name, value string) *client {
	out := *c
	out.header = maps.Clone(c.header)
	out.header.Set(name, value)
	return &out
}

// answer is what came back.
type answer struct {
	t          *testing.T
	Status     int
	Header     http.Header
	Body       string
	Statements []string // that the database ran for it
}

// send sends a body that is a string as it is and everything else as JSON.
func (c *client) send(method, path string, body any) *answer {
	c.t.Helper()
	var in io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		must(c.t, err)
		in = strings.NewReader(string(raw))
	}
	ctx, counter := pg.Counted(context.WithoutCancel(c.t.Context()))
	req := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path, in)
	maps.Copy(req.Header, c.header)
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	rec := httptest.NewRecorder()
	c.handler.ServeHTTP(rec, req)
	a := &answer{t: c.t, Status: rec.Code, Header: rec.Header(), Body: rec.Body.String(), Statements: counter.Statements()}
	rules, err := theContract()
	must(c.t, err)
	rules.holds(c.t, req, a)
	return a
}

func (c *client) get(path string) *answer { c.t.Helper(); return c.send(http.MethodGet, path, nil) }

func (c *client) post(path string, body any) *answer {
	c.t.Helper()
	return c.send(http.MethodPost, path, body)
}

func (c *client) put(path string, body any) *answer {
	c.t.Helper()
	return c.send(http.MethodPut, path, body)
}

// want checks the status and returns the answer.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.Status != status {
		a.t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	return a
}

// refused checks status and code of a problem and returns it.
func (a *answer) refused(status int, code string) httpd.Problem {
	a.t.Helper()
	p := httpd.Problem{}
	problemOf(a.t, a.want(status).Body, &p)
	if p.Code != code || p.Status != status || a.Header.Get("Content-Type") != "application/problem+json" {
		a.t.Fatalf("problem %q (%s), want %q: %s", p.Code, a.Header.Get("Content-Type"), code, a.Body)
	}
	return p
}

func (a *answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.Body), v); err != nil {
		a.t.Fatalf("%v in %q", err, a.Body)
	}
}

// object is the answer as a tree.
func (a *answer) object() map[string]any {
	a.t.Helper()
	var out map[string]any
	a.into(&out)
	return out
}

// codeTool is a publication of a code tool that answers its own version.
func codeTool(name string, change ...func(map[string]any)) map[string]any {
	out := map[string]any{
		"name": name, "description": "Answers what it is.", "visibility": "workspace",
		"spec": map[string]any{
			"type": "code", "language": "python", "isReadOnly": true,
			"parametersSchema": map[string]any{"type": "object"}, "code": "print('{}')",
		},
	}
	for _, f := range change {
		f(out)
	}
	return out
}

func withCode(code string) func(map[string]any) {
	return func(p map[string]any) { p["spec"].(map[string]any)["code"] = code }
}

func with(key string, value any) func(map[string]any) {
	return func(p map[string]any) {
		if value == nil {
			delete(p, key)
			return
		}
		p[key] = value
	}
}
