package identity_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/lifecycle"
	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/pg"
)

// browser keeps the cookies of one client of a server that knows sessions.
type browser struct {
	sessions *identity.Sessions
	client   *http.Client
	url      string
	do       func(ctx context.Context)
}

func newBrowser(t *testing.T, h *house) *browser {
	t.Helper()
	b := &browser{sessions: identity.NewSessions(h.db, false)}
	server := httptest.NewServer(b.sessions.LoadAndSave(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b.do(pg.WithAddress(r.Context(), "192.0.2.7"))
	})))
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b.client, b.url = server.Client(), server.URL
	b.client.Jar = jar
	return b
}

// visit runs do within a request.
func (b *browser) visit(t *testing.T, do func(ctx context.Context)) *http.Response {
	t.Helper()
	b.do = do
	res, err := b.client.Get(b.url)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res
}

func (b *browser) signIn(t *testing.T, subject string) *http.Response {
	t.Helper()
	return b.visit(t, func(ctx context.Context) {
		if err := b.sessions.Begin(ctx, subject, "password", "test browser"); err != nil {
			t.Error(err)
		}
	})
}

func (b *browser) subject(t *testing.T) (subject string) {
	t.Helper()
	b.visit(t, func(ctx context.Context) { subject = b.sessions.Subject(ctx) })
	return subject
}

func (b *browser) key(t *testing.T) (key string) {
	t.Helper()
	b.visit(t, func(ctx context.Context) { key = b.sessions.Key(ctx) })
	return key
}

func TestSessionFromSignInToSignOut(t *testing.T) {
	t.Parallel()
	h := build(t)
	b := newBrowser(t, h)
	if b.subject(t) != "" {
		t.Fatal("signed in before signing in")
	}
	res := b.signIn(t, h.admin.Subject)
	cookie := res.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if b.subject(t) != h.admin.Subject {
		t.Fatal("not signed in")
	}
	first := b.key(t)
	b.signIn(t, h.admin.Subject)
	if b.key(t) == first {
		t.Error("signing in kept the old cookie")
	}
	b.visit(t, func(ctx context.Context) {
		if err := b.sessions.End(ctx); err != nil {
			t.Error(err)
		}
	})
	if b.subject(t) != "" {
		t.Error("still signed in")
	}
	var rows int
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM sessions`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d sessions are left, %v", rows, err)
	}
}

func TestSecureCookieIsHostOnly(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := identity.NewSessions(h.db, true)
	if c := s.Cookie; c.Name != "__Host-capstore" || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" {
		t.Errorf("got %+v", c)
	}
}

func TestCookieIsStoredHashed(t *testing.T) {
	t.Parallel()
	h := build(t)
	b := newBrowser(t, h)
	cookie := b.signIn(t, h.admin.Subject).Cookies()[0].Value
	var dump string
	err := h.db.QueryRow(t.Context(), `SELECT (SELECT json_agg(s) FROM sessions s)::text || (SELECT json_agg(o) FROM session_owners o)::text`).Scan(&dump)
	if err != nil || strings.Contains(dump, cookie) {
		t.Errorf("the cookie is in the database, or %v", err)
	}
}

func TestSessionsAreListedAndEndedByTheirOwner(t *testing.T) {
	t.Parallel()
	h := build(t)
	here, there := newBrowser(t, h), newBrowser(t, h)
	here.signIn(t, h.admin.Subject)
	there.signIn(t, h.admin.Subject)
	var list []identity.Session
	here.visit(t, func(ctx context.Context) {
		var err error
		if list, err = here.sessions.List(ctx, h.admin.Subject); err != nil {
			t.Error(err)
		}
	})
	if len(list) != 2 || list[0].Current || !list[1].Current || list[0].UserAgent != "test browser" || list[0].Address != "192.0.2.7" {
		t.Fatalf("got %+v", list)
	}
	err := here.sessions.EndOne(t.Context(), h.member.Subject, list[0].ID)
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("another's session: %v", err)
	}
	if err := here.sessions.EndOne(t.Context(), h.admin.Subject, list[0].ID); err != nil {
		t.Fatal(err)
	}
	if there.subject(t) != "" || here.subject(t) != h.admin.Subject {
		t.Error("the wrong session ended")
	}
	there.signIn(t, h.admin.Subject)
	here.visit(t, func(ctx context.Context) {
		if n, err := here.sessions.EndOthers(ctx, h.admin.Subject); err != nil || n != 1 {
			t.Errorf("ended %d, %v", n, err)
		}
	})
	if there.subject(t) != "" || here.subject(t) != h.admin.Subject {
		t.Error("the wrong sessions ended")
	}
}

// A request that runs while its session is ended elsewhere must not bring the
// session back when it saves.
func TestEndedSessionStaysEnded(t *testing.T) {
	t.Parallel()
	h := build(t)
	b := newBrowser(t, h)
	b.signIn(t, h.admin.Subject)
	b.visit(t, func(ctx context.Context) {
		b.sessions.Put(ctx, "something", "else")
		if _, err := h.db.Exec(ctx, `DELETE FROM sessions`); err != nil {
			t.Error(err)
		}
	})
	if b.subject(t) != "" {
		t.Error("the session came back")
	}
}

func TestSessionExpiresByTheDatabase(t *testing.T) {
	t.Parallel()
	h := build(t)
	b := newBrowser(t, h)
	b.signIn(t, h.admin.Subject)
	if _, err := h.db.Exec(t.Context(), `UPDATE sessions SET expiry = now()`); err != nil {
		t.Fatal(err)
	}
	if b.subject(t) != "" {
		t.Error("an expired session signs in")
	}
}

func TestSessionLookupIsOneCountedStatement(t *testing.T) {
	t.Parallel()
	h := build(t)
	b := newBrowser(t, h)
	cookie := b.signIn(t, h.admin.Subject).Cookies()[0].Value
	ctx, counter := pg.Counted(t.Context())
	if _, err := b.sessions.Load(ctx, cookie); err != nil {
		t.Fatal(err)
	}
	if n := counter.Count(); n != 1 {
		t.Errorf("%d statements, want 1", n)
	}
}

func TestCleanerIsAService(t *testing.T) {
	t.Parallel()
	lifecycletest.Conforms(t, func(t *testing.T) lifecycle.Service { return identity.NewCleaner(build(t).db) })
}
