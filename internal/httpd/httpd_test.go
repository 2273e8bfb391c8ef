package httpd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/pg/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a root with a few routes of its own.
type server struct {
	root *httpd.Root
	log  *bytes.Buffer
}

func newServer(t *testing.T, change func(*httpd.Config), ready func(context.Context) error) *server {
	t.Helper()
	db := pgtest.New(t)
	cfg := httpd.Config{BaseURL: &url.URL{Scheme: "http", Host: "store.example"}, CookieKey: bytes.Repeat([]byte("k"), 64)}
	if change != nil {
		change(&cfg)
	}
	if ready == nil {
		ready = db.Reachable
	}
	s := &server{log: &bytes.Buffer{}}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.root = httpd.New(cfg, identity.New(db), identity.NewSessions(db, cfg.Secure()), log, ready)
	s.root.Mount("GET /{workspace}/page", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("page of " + r.PathValue("workspace")))
	}))
	s.root.Mount("POST /{workspace}/page", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	s.root.Mount("GET /panic", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a secret of the code") }))
	s.root.Mount("GET /invite/{token}", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	return s
}

func (s *server) do(method, target string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.root.Handler().ServeHTTP(w, r)
	return w
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	plain, tls := newServer(t, nil, nil), newServer(t, func(c *httpd.Config) { c.BaseURL.Scheme = "https" }, nil)
	for _, path := range []string{"http://store.example/acme/page", "http://store.example/nowhere", "http://store.example/healthz", "http://other.example/"} {
		h := plain.do("GET", path, nil).Header()
		csp := h.Get("Content-Security-Policy")
		for _, bad := range []string{"unsafe-inline", "unsafe-eval", "*"} {
			if strings.Contains(csp, bad) {
				t.Errorf("%s: policy allows %s: %s", path, bad, csp)
			}
		}
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
	if tls.do("GET", "https://store.example/healthz", nil).Header().Get("Strict-Transport-Security") == "" {
		t.Error("over TLS there is no HSTS")
	}
}

func TestOnlyOurHostsAreAnswered(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(c *httpd.Config) { c.Hosts = []string{"intern.example"} }, nil)
	for host, want := range map[string]int{
		"store.example": 200, "STORE.example:8080": 200, "intern.example": 200, "localhost:8080": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "store.example.evil.example": 421, "": 421,
	} {
		if got := s.do("GET", "http://store.example/acme/page", map[string]string{"Host": host}).Code; got != want {
			t.Errorf("Host %q: %d, want %d", host, got, want)
		}
	}
}

func TestAnotherSitesFormIsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil, nil)
	for name, tc := range map[string]struct {
		header map[string]string
		want   int
	}{
		"cross-site":            {map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"same-site is another":  {map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		"same origin":           {map[string]string{"Sec-Fetch-Site": "same-origin"}, 204},
		"old browser, foreign":  {map[string]string{"Origin": "https://evil.example"}, 403},
		"old browser, null":     {map[string]string{"Origin": "null"}, 403},
		"old browser, own":      {map[string]string{"Origin": "http://store.example"}, 204},
		"a program, no headers": {nil, 204},
	} {
		if got := s.do("POST", "http://store.example/acme/page", tc.header); got.Code != tc.want {
			t.Errorf("%s: %d, want %d", name, got.Code, tc.want)
		}
	}
}

func TestAPanicNamesOnlyItsReference(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil, nil)
	w := s.do("GET", "http://store.example/panic", nil)
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	_, ref, ok := strings.Cut(strings.TrimSpace(w.Body.String()), "Reference: ")
	if !ok || !strings.Contains(s.log.String(), ref) || !strings.Contains(s.log.String(), "a secret of the code") {
		t.Errorf("the log does not have it under %q", ref)
	}
	if after := s.do("GET", "http://store.example/acme/page", nil); after.Code != 200 {
		t.Errorf("after a panic: %d", after.Code)
	}
}

// A reader who leaves interrupts what was done for him, which is no failure.
func TestLeavingIsNoFailure(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil, nil)
	gone, leave := context.WithCancel(t.Context())
	leave()
	s.root.LogFault(httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil), fmt.Errorf("commit: %w", context.Canceled))
	if strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("logged %s", s.log)
	}
	s.root.LogFault(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), fmt.Errorf("commit: %w", context.Canceled))
	if !strings.Contains(s.log.String(), "level=ERROR") {
		t.Error("what was interrupted without anybody leaving is not logged as an error")
	}
}

func TestTheLogHasNoPaths(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil, nil)
	s.do("GET", "http://store.example/invite/the-links-own-secret?next=/x", nil)
	if strings.Contains(s.log.String(), "the-links-own-secret") {
		t.Errorf("logged: %s", s.log)
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	broken := fault.New(fault.Unavailable, "database_unavailable", "The database cannot be reached.").Because(errors.New("dial tcp: password=hunter2"))
	up, down := newServer(t, nil, nil), newServer(t, nil, func(context.Context) error { return broken })
	for name, tc := range map[string]struct {
		server *server
		path   string
		want   int
	}{
		"alive": {up, "/healthz", 200}, "ready": {up, "/readyz", 200},
		"alive without a database": {down, "/healthz", 200}, "not ready": {down, "/readyz", 503},
	} {
		w := tc.server.do("GET", "http://store.example"+tc.path, nil)
		if w.Code != tc.want || strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err    error
		status int
		code   string
	}{
		{fault.Missing(), 404, "not_found"},
		{fault.Fields([]fault.Field{{Path: "/name", Code: "required", Message: "Give it a name."}}), 422, "invalid"},
		{fault.New(fault.Malformed, "bad_json", "Not JSON."), 400, "bad_json"},
		{fault.New(fault.TooLarge, "body_too_large", "Too large."), 413, "body_too_large"},
		{fault.New(fault.Conflict, "version_exists", "There is one."), 409, "version_exists"},
		{fault.Deny("role", "Not you.", "Ask an admin."), 403, "role"},
		{fault.New(fault.Unauthenticated, "sign_in_needed", "Nobody."), 401, "sign_in_needed"},
		{fault.New(fault.Revoked, "switched_off", "Off."), 403, "switched_off"},
		{fault.New(fault.Limited, "throttled", "Later.").With("retryAfterSec", 90), 429, "throttled"},
		{fault.New(fault.Unavailable, "database_unavailable", "Gone."), 503, "database_unavailable"},
		{errors.New("pq: password authentication failed for user capstore"), 500, "internal"},
	} {
		w := httptest.NewRecorder()
		httpd.WriteProblem(w, httptest.NewRequest("GET", "/", nil), tc.err)
		var p httpd.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if w.Code != tc.status || p.Status != tc.status || p.Code != tc.code || p.Title == "" || p.Detail == "" {
			t.Errorf("%v: %d %+v", tc.err, w.Code, p)
		}
		if w.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(w.Body.String(), "password") {
			t.Errorf("%v: %v %s", tc.err, w.Header(), w.Body)
		}
		if tc.status == 429 && w.Header().Get("Retry-After") != "90" {
			t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
		}
	}
}

func TestAFlashIsShownOnceAndCannotBeForged(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil, nil)
	w := httptest.NewRecorder()
	s.root.AddFlash(w, httptest.NewRequest("POST", "/", nil), httpd.Flash{Tone: "success", Text: "Published.", UndoURL: "/undo", UndoFields: map[string]string{"a": "b"}})
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || strings.Contains(cookie.Value, "Published") {
		t.Errorf("cookie %+v", cookie)
	}
	take := func(value string) ([]httpd.Flash, []*http.Cookie) {
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
		w := httptest.NewRecorder()
		return s.root.TakeFlashes(w, r), w.Result().Cookies()
	}
	got, cleared := take(cookie.Value)
	if len(got) != 1 || got[0].Text != "Published." || got[0].UndoFields["a"] != "b" {
		t.Errorf("got %+v", got)
	}
	if len(cleared) != 1 || cleared[0].MaxAge >= 0 {
		t.Errorf("the cookie stays: %+v", cleared)
	}
	forged := []byte(cookie.Value)
	forged[len(forged)/2] ^= 1
	if got, _ := take(string(forged)); got != nil {
		t.Errorf("a forged one gives %+v", got)
	}
}
