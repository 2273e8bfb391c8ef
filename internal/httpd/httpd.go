// Package httpd is the ground under every HTTP surface: the root mux, the
// middleware, sessions and authentication, the error adapter's shared parts,
// static assets and probes. Surfaces (pages, JSON, MCP) mount on it and never
// on each other.
package httpd

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/static"
)

// Config is what the operator decides about HTTP.
type Config struct {
	BaseURL    *url.URL // where people reach the server; its scheme decides on Secure cookies
	Hosts      []string // further Host values that are answered
	TrustProxy bool     // take the client's address from X-Forwarded-For
	Demo       []string // e-mails of those who sign in by one click; only a demo has any
	CookieKey  []byte   // 64 bytes; signs and encrypts flash cookies
}

// Secure reports whether people reach the server over TLS.
func (c Config) Secure() bool { return c.BaseURL != nil && c.BaseURL.Scheme == "https" }

// Root owns the mux that every surface mounts on.
type Root struct {
	Config   Config
	Sessions *identity.Sessions
	Identity *identity.Service
	Log      *slog.Logger

	flash *flashes
	// fixed holds the routes whose first segment is a word of ours, tenant
	// those that begin with a workspace. No slug is such a word, but one mux
	// could not know that.
	fixed  *http.ServeMux
	tenant *http.ServeMux
	// notFound renders an address that no route has.
	notFound http.Handler
}

// New returns a root without surfaces. Ready is asked by /readyz and returns
// why the server cannot serve, or nil.
func New(cfg Config, ids *identity.Service, sessions *identity.Sessions, log *slog.Logger, ready func(context.Context) error) *Root {
	r := &Root{Config: cfg, Sessions: sessions, Identity: ids, Log: log, fixed: http.NewServeMux(), tenant: http.NewServeMux()}
	r.flash, r.notFound = newFlashes(cfg), http.NotFoundHandler()
	r.fixed.Handle("GET /static/", static.Handler())
	// What is no page has no link to its icon, so browsers look here.
	r.fixed.Handle("GET /favicon.ico", http.RedirectHandler(static.Path("favicon.svg"), http.StatusFound))
	r.fixed.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	r.fixed.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) {
		ctx, cancel := context.WithTimeout(req.Context(), 2*time.Second)
		defer cancel()
		if err := ready(ctx); err != nil {
			log.WarnContext(ctx, "httpd: not ready", "error", err)
			plain(w, http.StatusServiceUnavailable, fault.From(err).Message)
			return
		}
		plain(w, http.StatusOK, "ready")
	})
	return r
}

// Mount answers the pattern with the handler. A pattern whose path begins with
// a wildcard stands behind all those that begin with a word.
func (r *Root) Mount(pattern string, h http.Handler) {
	if strings.Contains(pattern, " /{") && !strings.HasSuffix(pattern, " /{$}") {
		r.tenant.Handle(pattern, h)
		return
	}
	r.fixed.Handle(pattern, h)
}

// NotFound sets what answers an address that no route has.
func (r *Root) NotFound(h http.Handler) { r.notFound = h }

// Handler returns the root with its middleware, outermost first: recovery,
// the reference number, security headers, the Host check, cross-site
// protection and compression. They hold for every route of every surface.
func (r *Root) Handler() http.Handler {
	var h http.Handler = http.HandlerFunc(r.route)
	h = crossOrigin(h)
	h = r.hosts(h)
	h = gzhttp.GzipHandler(h)
	h = r.headers(h)
	h = r.observe(h)
	return h
}

// route serves the mux that has the address, and what neither has through the
// page that says so, so that an unknown address looks like an unseen one.
func (r *Root) route(w http.ResponseWriter, req *http.Request) {
	for _, mux := range []*http.ServeMux{r.fixed, r.tenant} {
		if _, pattern := mux.Handler(req); pattern != "" {
			mux.ServeHTTP(w, req)
			return
		}
	}
	r.notFound.ServeHTTP(w, req)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
