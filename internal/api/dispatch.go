package api

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/httpd"
)

// dispatch finds the route of a request, and answers as a problem what the mux
// would answer as text.
func (a *surface) dispatch(w http.ResponseWriter, r *http.Request) {
	r = withWholeKey(r)
	if _, pattern := a.mux.Handler(r); pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	allowed := a.methodsOf(r)
	if len(allowed) == 0 {
		a.fail(w, r, unknownRoute())
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	a.fail(w, r, fault.New(fault.Malformed, "method_not_allowed", "%s is not answered here.", r.Method).
		Do("Use one of "+strings.Join(allowed, ", ")+"."))
}

// methodsOf lists the methods that the address answers, sorted.
func (a *surface) methodsOf(r *http.Request) []string {
	var out []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = m
		if _, pattern := a.mux.Handler(other); pattern != "" {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// bareKey is a key of a capability whose slash was not percent-encoded.
var bareKey = regexp.MustCompile(`^(` + Base + `/workspaces/[^/]+/agent/(?:tools|skills|hooks|commands)/capability(?::|%3[Aa])[^/%]+)/([^/]+)(/probe|/secrets)?$`)

// withWholeKey makes one segment of a capability's key however its slash was
// sent, since nobody who types an address encodes it.
func withWholeKey(r *http.Request) *http.Request {
	m := bareKey.FindStringSubmatch(r.URL.EscapedPath())
	if m == nil {
		return r
	}
	out := *r
	u := url.URL(*r.URL)
	u.RawPath = m[1] + "%2F" + m[2] + m[3]
	out.URL = &u
	return &out
}

// exact are the statuses of codes that say more than their fault's kind.
var exact = map[string]int{
	"method_not_allowed":     http.StatusMethodNotAllowed,
	"unsupported_media_type": http.StatusUnsupportedMediaType,
}

// stale are the codes of a state that is not the one that If-Match named.
var stale = []string{"changed_since", "stale_revision", "stale_config"}

// fail answers with the fault within err.
func (a *surface) fail(w http.ResponseWriter, r *http.Request, err error) {
	a.Root.LogFault(r, err)
	p := httpd.ProblemOf(r, err)
	if status, ok := exact[p.Code]; ok {
		p.Status = status
	}
	if r.Header.Get("If-Match") != "" && slices.Contains(stale, p.Code) {
		p.Status = http.StatusPreconditionFailed
	}
	p.Title = http.StatusText(p.Status)
	p.Write(w)
}
