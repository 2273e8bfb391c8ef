package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.uber.org/goleak"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/interchange/intake"
	"capstore/internal/netguard"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
	"capstore/internal/web"
	"capstore/internal/workspace"
)

// TestMain ignores the clock of the colouring's regular expressions, which
// stops by itself a while after the last of them.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// The people of newSite. Max belongs to both workspaces and Lone to none.
const (
	ada  = "ada@acme.test"  // admin of acme
	max  = "max@acme.test"  // member of acme, viewer of globex
	vera = "vera@acme.test" // viewer of acme
	gus  = "gus@globex.test"
	lone = "lone@nowhere.test"
)

const base = "http://localhost"

// site is the whole server over a database of its own, driven through its
// handler without a port.
type site struct {
	t  *testing.T
	db *pg.DB
	web.Parts
	handler http.Handler
}

// newSite has the workspaces acme and globex and the people above.
func newSite(t *testing.T) *site {
	t.Helper()
	s := emptySite(t)
	s.user(ada, "Ada")
	s.user(max, "Max")
	s.user(vera, "Vera")
	s.user(gus, "Gus")
	s.user(lone, "Lone")
	s.workspace("acme", "Acme Logistics")
	s.workspace("globex", "Globex Finance")
	s.join("acme", ada, capability.RoleAdmin)
	s.join("acme", max, capability.RoleMember)
	s.join("acme", vera, capability.RoleViewer)
	s.join("globex", gus, capability.RoleAdmin)
	s.join("globex", max, capability.RoleViewer)
	return s
}

// emptySite is a server that nobody has an account on.
func emptySite(t *testing.T) *site {
	t.Helper()
	db, log := pgtest.New(t), slog.New(slog.DiscardHandler)
	secrets, err := secret.Open(t.Context(), db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "secret.key")})
	must(t, err)
	runner, err := sandbox.NewRunner(sandbox.Options{Folder: t.TempDir()})
	must(t, err)
	guard, err := netguard.New([]string{"127.0.0.1"})
	must(t, err)
	rules := capability.Rules{AllowLoopbackHTTP: true}
	cat := catalog.New(db, catalog.Options{Rules: rules})
	spaces := workspace.New(db, cat, workspace.Options{Rules: rules, Guard: guard})
	chat := agent.New(agent.Parts{
		DB: db, Catalog: cat, Workspace: spaces, Secrets: secrets, Sandbox: runner, Guard: guard, Rules: rules, Log: log,
	})
	must(t, chat.Start(t.Context()))
	t.Cleanup(chat.Stop)
	root := httpd.New(httpd.Config{CookieKey: []byte(strings.Repeat("k", 64))},
		identity.New(db), identity.NewSessions(db, false), log, db.Reachable)
	s := &site{t: t, db: db, Parts: web.Parts{Root: root, Catalog: cat, Workspace: spaces, Secrets: secrets, Agent: chat, Staging: intake.NewStaging(db, secrets), Guard: guard}}
	web.Mount(s.Parts)
	root.Mount("POST /static/sign-in", root.Sessions.LoadAndSave(http.HandlerFunc(s.signIn)))
	s.handler = root.Handler()
	return s
}

// signIn stands for the password, whose hash would cost every test a while.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) {
	u, err := s.Root.Identity.UserByEmail(r.Context(), r.FormValue("email"))
	if err == nil {
		err = s.Root.Sessions.Begin(r.Context(), u.Subject, "password", r.UserAgent())
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

func (s *site) user(email, name string) {
	s.t.Helper()
	_, err := s.Root.Identity.EnsureUser(s.t.Context(), identity.NewUser{Email: email, Name: name})
	must(s.t, err)
}

func (s *site) workspace(slug, name string) {
	s.t.Helper()
	must(s.t, s.Root.Identity.EnsureWorkspace(s.t.Context(), slug, name))
}

func (s *site) join(workspace, email string, role capability.Role) {
	s.t.Helper()
	must(s.t, s.Root.Identity.EnsureMember(s.t.Context(), workspace, s.subject(email), role))
}

func (s *site) subject(email string) string {
	s.t.Helper()
	u, err := s.Root.Identity.UserByEmail(s.t.Context(), email)
	must(s.t, err)
	return u.Subject
}

// actor is somebody as the services know him, for arranging what a page shows.
func (s *site) actor(email, workspace string) capability.Actor {
	s.t.Helper()
	who, err := s.Root.Identity.PrincipalOf(s.t.Context(), s.subject(email), workspace)
	must(s.t, err)
	return who.Actor()
}

// publish publishes as a member of the workspace and returns the version.
func (s *site) publish(email, workspace string, p catalog.Publication) catalog.VersionInfo {
	s.t.Helper()
	out, err := s.Catalog.Publish(s.t.Context(), s.actor(email, workspace), p)
	must(s.t, err)
	return out.Version
}

// client is one browser. It follows no redirect by itself.
type client struct {
	t    *testing.T
	http http.Client
	// header is sent with every request, such as Accept-Language.
	header http.Header
}

// stranger is a browser that nobody has signed in with.
func (s *site) stranger() *client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	must(s.t, err)
	return &client{t: s.t, header: http.Header{}, http: http.Client{
		Jar: jar, Transport: direct{s.handler},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// as is a browser signed in as the person.
func (s *site) as(email string) *client {
	s.t.Helper()
	c := s.stranger()
	if got := c.post("/static/sign-in", "email", email); got.Status != http.StatusOK {
		s.t.Fatalf("sign in as %s: %s", email, got.Body)
	}
	return c
}

// direct hands requests to a handler in the same process.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	in := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), r.Body)
	in.Header = r.Header
	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, in)
	return rec.Result(), nil
}

// answer is what came back, read to its end.
type answer struct {
	t          *testing.T
	Status     int
	Header     http.Header
	Body       string
	Doc        *goquery.Document
	Statements []string // that the database ran for it
}

func (c *client) get(path string) *answer { c.t.Helper(); return c.do(http.MethodGet, path, nil) }

// post sends a form of names and values; a name may repeat.
func (c *client) post(path string, pairs ...string) *answer {
	c.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return c.do(http.MethodPost, path, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded")
}

// htmx is the same browser asking by htmx.
func (c *client) htmx() *client {
	out := *c
	out.header = c.header.Clone()
	out.header.Set("HX-Request", "true")
	return &out
}

func (c *client) do(method, path string, body io.Reader, header ...string) *answer {
	c.t.Helper()
	ctx, counter := pg.Counted(context.WithoutCancel(c.t.Context()))
	req, err := http.NewRequestWithContext(ctx, method, base+path, body)
	must(c.t, err)
	req.Header = c.header.Clone()
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := c.http.Do(req)
	must(c.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(c.t, err)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(text)))
	must(c.t, err)
	return &answer{t: c.t, Status: res.StatusCode, Header: res.Header, Body: string(text), Doc: doc, Statements: counter.Statements()}
}

// status checks the answer's status and returns the answer.
func (a *answer) status(want int) *answer {
	a.t.Helper()
	if a.Status != want {
		a.t.Fatalf("status %d, want %d:\n%s", a.Status, want, a.text("main"))
	}
	return a
}

// leadsTo checks that the answer is a redirect to the path.
func (a *answer) leadsTo(path string) {
	a.t.Helper()
	a.status(http.StatusSeeOther)
	if got := a.Header.Get("Location"); got != path {
		a.t.Fatalf("leads to %q, want %q", got, path)
	}
}

// find returns what the selector matches and fails when that is nothing.
func (a *answer) find(selector string) *goquery.Selection {
	a.t.Helper()
	found := a.Doc.Find(selector)
	if found.Length() == 0 {
		a.t.Fatalf("nothing matches %q in:\n%s", selector, a.Body)
	}
	return found
}

// none fails when the selector matches something.
func (a *answer) none(selector string) {
	a.t.Helper()
	if found := a.Doc.Find(selector); found.Length() > 0 {
		html, _ := goquery.OuterHtml(found.First())
		a.t.Fatalf("%q matches %s", selector, html)
	}
}

// text is the words that the selector matches, their spaces folded.
func (a *answer) text(selector string) string {
	return strings.Join(strings.Fields(a.Doc.Find(selector).Text()), " ")
}
