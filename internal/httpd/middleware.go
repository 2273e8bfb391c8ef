package httpd

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"capstore/internal/fault"
	"capstore/internal/pg"
)

type contextKey int

const (
	keyReference contextKey = iota
)

// Reference returns the number under which the request stands in the log.
func Reference(ctx context.Context) string {
	s, _ := ctx.Value(keyReference).(string)
	return s
}

// observe gives the request its reference number, logs how it
// ended, and turns a panic into a 500 that names only the reference.
func (r *Root) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		start := time.Now()
		ctx := context.WithValue(req.Context(), keyReference, rand.Text()[:10])
		ctx = pg.WithAddress(ctx, r.clientAddress(req))
		req = req.WithContext(ctx)
		rec := &recorder{ResponseWriter: w}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				r.Log.ErrorContext(ctx, "httpd: panic", "ref", Reference(ctx), "panic", p, "stack", string(debug.Stack()))
				if rec.status == 0 {
					plain(rec, http.StatusInternalServerError, "Something went wrong on our side. Reference: "+Reference(ctx))
				}
			}
			r.logRequest(req, rec, time.Since(start))
		}()
		next.ServeHTTP(rec, req)
	})
}

// logRequest names the pattern, not the path: an invitation's path is its secret.
func (r *Root) logRequest(req *http.Request, rec *recorder, took time.Duration) {
	level := slog.LevelDebug
	if rec.status >= 500 && req.Context().Err() == nil { // else nobody was there to read it
		level = slog.LevelWarn
	}
	r.Log.Log(req.Context(), level, "httpd: request", "method", req.Method, "pattern", req.Pattern,
		"status", rec.status, "took", took, "ref", Reference(req.Context()))
}

// recorder notes the status for the log. Unwrap keeps http.ResponseController
// (flush, deadlines) working through it.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

func (w *recorder) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// clientAddress is the peer's, or the last hop that the operator's own proxy
// wrote. Earlier hops are the client's word and count for nothing.
func (r *Root) clientAddress(req *http.Request) string {
	if r.Config.TrustProxy {
		hops := strings.Split(req.Header.Get("X-Forwarded-For"), ",")
		if last := strings.TrimSpace(hops[len(hops)-1]); net.ParseIP(last) != nil {
			return last
		}
	}
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil {
		return req.RemoteAddr
	}
	return host
}

// contentSecurityPolicy needs no nonce: no page has inline script or style.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers sets what holds for every answer. Scripts and styles come from our
// own files only; nothing frames us.
func (r *Root) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		if r.Config.Secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, req)
	})
}

// hosts refuses a Host that is not ours before anything is routed, so that a
// name re-pointed at this server (DNS rebinding) reaches nothing.
func (r *Root) hosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.knownHost(req.Host) {
			plain(w, http.StatusMisdirectedRequest, "This server does not answer for that host name. "+
				"Whoever runs it can add the name with --hosts or --base-url.")
			return
		}
		next.ServeHTTP(w, req)
	})
}

func (r *Root) knownHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" {
		return true
	}
	if ip := net.ParseIP(host); ip != nil {
		return true // a rebound name never shows as an address
	}
	if r.Config.BaseURL != nil && strings.EqualFold(host, r.Config.BaseURL.Hostname()) {
		return true
	}
	return slices.ContainsFunc(r.Config.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// crossOrigin refuses unsafe requests that another site made a browser send.
func crossOrigin(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		WriteProblem(w, req, fault.Deny("cross_site", "The request came from another site.", "Open the page here and try again."))
	}))
	return guard.Handler(next)
}
