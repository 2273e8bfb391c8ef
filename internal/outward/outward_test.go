package outward_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/outward"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The people: Ada and Mia belong to acme, Gus to globex, Lone to nothing.
const ada, mia, gus, lone = "ada@acme.test", "mia@acme.test", "gus@globex.test", "lone@nowhere.test"

// site is the surface over a database of its own.
type site struct {
	t       *testing.T
	ids     *identity.Service
	store   *catalog.Service
	spaces  *workspace.Service
	handler http.Handler
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newSite(t *testing.T) *site {
	t.Helper()
	db := pgtest.New(t)
	store := catalog.New(db, catalog.Options{})
	s := &site{t: t, ids: identity.New(db), store: store, spaces: workspace.New(db, store, workspace.Options{})}
	base := &url.URL{Scheme: "https", Host: "store.example.com"}
	root := httpd.New(httpd.Config{BaseURL: base, CookieKey: []byte(strings.Repeat("k", 64))}, s.ids, identity.NewSessions(db, true), slog.New(slog.DiscardHandler), db.Reachable)
	outward.Mount(outward.Parts{Root: root, Catalog: store, Workspace: s.spaces})
	s.handler = root.Handler()
	for slug, name := range map[string]string{"acme": "Acme Logistics", "globex": "Globex Finance"} {
		must(t, s.ids.EnsureWorkspace(t.Context(), slug, name))
	}
	for _, p := range []struct {
		email, workspace string
		role             capability.Role
	}{{ada, "acme", capability.RoleAdmin}, {mia, "acme", capability.RoleMember}, {gus, "globex", capability.RoleAdmin}, {lone, "", ""}} {
		_, err := s.ids.EnsureUser(t.Context(), identity.NewUser{Email: p.email, Name: p.email})
		must(t, err)
		if p.workspace != "" {
			must(t, s.ids.EnsureMember(t.Context(), p.workspace, s.actor(p.email, p.workspace).Subject, p.role))
		}
	}
	return s
}

func (s *site) actor(email, workspace string) capability.Actor {
	s.t.Helper()
	u, err := s.ids.UserByEmail(s.t.Context(), email)
	must(s.t, err)
	who, err := s.ids.PrincipalOf(s.t.Context(), u.Subject, workspace)
	must(s.t, err)
	return who.Actor()
}

// publish makes a version of what the spec describes.
func (s *site) publish(email, workspace, id, version string, reach capability.Reach, spec string) {
	s.t.Helper()
	p := catalog.Publication{ID: id, Name: id, Description: "What " + id + " does.", Spec: json.RawMessage(spec), Version: version, Visibility: reach}
	_, err := s.store.Publish(s.t.Context(), s.actor(email, workspace), p)
	must(s.t, err)
}

const (
	serverSpec  = `{"type":"mcp","url":"https://mcp.example.com/x","auth":"secret","requiredSecrets":[{"name":"KEY"}],"provides":["look"]}`
	imageSpec   = `{"type":"mcp","image":"registry.example.com/x:1","auth":"none"}`
	hookSpec    = `{"type":"hook","event":"before_tool","language":"python","code":"import sys\nsys.exit(0)\n"}`
	commandSpec = `{"type":"command","template":"Explain $ARGUMENTS."}`
	skillSpec   = `{"type":"skill","instructions":"Do it.","files":[{"path":"a.txt","content":"a"}]}`
	codeSpec    = `{"type":"code","language":"python","code":"print(1)","parametersSchema":{"type":"object"},"isReadOnly":true}`
)

// client is a program with a token.
type client struct {
	s      *site
	header http.Header
}

func (s *site) as(email, workspace string) client {
	s.t.Helper()
	_, token, err := s.ids.IssueToken(s.t.Context(), email, workspace, identity.NewToken{Name: "test", Scope: capability.ScopeRead})
	must(s.t, err)
	return client{s, http.Header{"Authorization": {"Bearer " + token}}}
}

type answer struct {
	t          *testing.T
	status     int
	header     http.Header
	body       []byte
	statements []string
}

func (c client) get(path string) answer { c.s.t.Helper(); return c.send(http.MethodGet, path) }

func (c client) send(method, path string) answer {
	c.s.t.Helper()
	ctx, counter := pg.Counted(context.WithoutCancel(c.s.t.Context()))
	req := httptest.NewRequestWithContext(ctx, method, "https://store.example.com"+path, http.NoBody)
	for k, v := range c.header {
		req.Header[k] = v
	}
	rec := httptest.NewRecorder()
	c.s.handler.ServeHTTP(rec, req)
	return answer{c.s.t, rec.Code, rec.Header(), rec.Body.Bytes(), counter.Statements()}
}

func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

func (a answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.want(http.StatusOK).body, v); err != nil {
		a.t.Fatalf("%v in %s", err, a.body)
	}
}

// files are what a zip holds.
func (a answer) files() map[string]string {
	a.t.Helper()
	z, err := zip.NewReader(bytes.NewReader(a.want(http.StatusOK).body), int64(len(a.body)))
	must(a.t, err)
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		must(a.t, err)
		data, err := io.ReadAll(r)
		must(a.t, err)
		out[f.Name] = string(data)
	}
	return out
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A stranger, and what may not be seen, get what is missing: the same status and
// body, from the same statements.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(gus, "globex", "hidden", "1.0.0", capability.ReachWorkspace, serverSpec)
	s.publish(gus, "globex", "hidden-skill", "1.0.0", capability.ReachWorkspace, skillSpec)
	for _, rt := range outward.Routes() {
		path := strings.NewReplacer("{workspace}", "acme", "{name}", "com.example.store.globex%2Fhidden", "{version}", "1.0.0",
			"{source}", "globex", "{id}", "hidden-skill", "{file}", "1.0.0.zip").Replace(rt.Pattern)
		absent := strings.NewReplacer("globex%2Fhidden", "globex%2Fabsent", "hidden-skill", "absent-skill").Replace(path)
		if got := (client{s, nil}).get(path); got.status != http.StatusUnauthorized || got.header.Get("Www-Authenticate") == "" {
			t.Errorf("%s without a token: %d %s", path, got.status, got.body)
		}
		if got := s.as(gus, "globex").get(path); got.status != http.StatusUnauthorized && got.status != http.StatusNotFound {
			t.Errorf("%s with a token of another workspace: %d %s", path, got.status, got.body)
		}
		c := s.as(ada, "acme")
		unseen, missing := c.get(path), c.get(absent)
		if path == absent {
			continue
		}
		if unseen.status != http.StatusNotFound || missing.status != http.StatusNotFound || len(unseen.statements) != len(missing.statements) {
			t.Errorf("%s: %d and %d", path, unseen.status, missing.status)
		}
		if strings.Contains(string(unseen.body), "hidden") {
			t.Errorf("%s tells of what is hidden: %s", path, unseen.body)
		}
	}
}

func TestOnlyReading(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(ada, "acme")
	forged := client{s, http.Header{"Authorization": {"Bearer cap_" + strings.Repeat("0", 64)}}}
	forged.get("/registry/acme/marketplace.json").want(http.StatusUnauthorized)
	for path, want := range map[string]int{
		"/registry/acme/v0.1/publish":                http.StatusBadRequest,
		"/registry/acme/v0.1/servers":                http.StatusBadRequest,
		"/registry/acme/plugins/acme/x/1.0.0.zip":    http.StatusBadRequest,
		"/registry/acme/v0.1/servers/x%2Fy/versions": http.StatusBadRequest,
	} {
		c.send(http.MethodPost, path).want(want)
	}
	for _, path := range []string{
		"/registry/acme", "/registry/", "/registry/acme/v0.1/servers/x", "/registry/acme/plugins/acme/x/1.0.0", "/registry/acme/plugins/acme/%00/1.zip",
		"/registry/acme/v0.1/servers/%ff/versions", "/registry/nowhere/marketplace.json", "/registry/acme/marketplace.json?of=%00",
	} {
		if got := c.get(path); got.status != http.StatusNotFound && got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
