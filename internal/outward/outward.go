// Package outward serves the store to programs that know other stores: the read
// API of the MCP registry, a marketplace of Claude Code plugins, and Agent
// Skills. It only reads, shows each caller what he may see, and says nothing of
// the rest.
package outward

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

// Base is where every route begins.
const Base = "/registry/"

// Parts are what the routes need.
type Parts struct {
	Root      *httpd.Root
	Catalog   *catalog.Service
	Workspace *workspace.Service
}

// Route is an address that is answered.
type Route struct {
	Pattern string
	// Registry says that faults are told as the MCP registry tells them.
	Registry bool
	handler  func(*call) error
}

// Routes lists every route, each for GET.
func Routes() []Route { return (&surface{}).routes() }

// Mount answers everything below /registry/ on the root.
func Mount(p Parts) {
	s := &surface{Parts: p, mux: http.NewServeMux(), packed: newSums(), building: make(chan struct{}, maxBuilding), waiting: make(chan struct{}, maxWaiting)}
	for _, rt := range s.routes() {
		s.mux.Handle("GET "+rt.Pattern, s.serve(rt))
	}
	p.Root.Mount(Base, http.HandlerFunc(s.dispatch))
}

type surface struct {
	Parts
	mux    *http.ServeMux
	packed *sums
	// building holds as many as build archives at once: each holds its content
	// in memory.
	building chan struct{}
	// waiting holds as many as build or wait for it; further ones are told to
	// come again, since they would wait longer than a client does.
	waiting chan struct{}
}

const (
	maxBuilding = 4
	maxWaiting  = 16
)

func (s *surface) routes() []Route {
	var out []Route
	for _, v := range []string{"v0.1", "v0"} {
		servers := Base + "{workspace}/" + v + "/servers"
		out = append(out,
			Route{servers, true, s.listServers},
			Route{servers + "/{name}/versions", true, s.serverVersions},
			Route{servers + "/{name}/versions/{version}", true, s.serverVersion},
		)
	}
	return append(out,
		Route{Base + "{workspace}/marketplace.json", false, s.marketplace},
		Route{Base + "{workspace}/marketplace.zip", false, s.marketplaceFolder},
		Route{Base + "{workspace}/plugins/{source}/{id}/{file}", false, s.plugin},
		Route{Base + "{workspace}/skills", false, s.skills},
		Route{Base + "{workspace}/.well-known/agent-skills/index.json", false, s.skills},
		Route{Base + "{workspace}/skills/{source}/{id}/{file}", false, s.skill},
	)
}

// call is one request of somebody who belongs to the workspace.
type call struct {
	w   http.ResponseWriter
	r   *http.Request
	who identity.Principal
	// origin is the server's address without a slash at its end.
	origin string
	names  namespace
}

// serve finds out who calls and answers, every fault in the way of the route.
func (s *surface) serve(rt Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.Root.Caller(r, r.PathValue("workspace"))
		if err == nil && !clean(r) {
			err = fault.Missing()
		}
		if err == nil {
			origin := s.origin(r)
			err = rt.handler(&call{w, r, who, strings.TrimSuffix(origin.String(), "/"), namespaceOf(origin)})
		}
		if err != nil {
			s.fail(w, r, err, rt.Registry)
		}
	})
}

// clean reports whether the path and the query are texts that a database holds.
func clean(r *http.Request) bool {
	q, err := url.QueryUnescape(r.URL.RawQuery)
	for _, s := range []string{r.URL.Path, q} {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return false
		}
	}
	return err == nil
}

// origin is where people reach the server.
func (s *surface) origin(r *http.Request) *url.URL {
	if s.Root.Config.BaseURL != nil {
		return s.Root.Config.BaseURL
	}
	return &url.URL{Scheme: "http", Host: r.Host}
}

func (s *surface) fail(w http.ResponseWriter, r *http.Request, err error, registry bool) {
	s.Root.LogFault(r, err)
	p := httpd.ProblemOf(r, err)
	if !registry {
		p.Write(w)
		return
	}
	p.WriteAs(w, "application/json", map[string]string{"error": strings.TrimSpace(p.Detail + " " + p.Action)})
}

// dispatch answers what no route has as a problem.
func (s *surface) dispatch(w http.ResponseWriter, r *http.Request) {
	if _, pattern := s.mux.Handler(r); pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	err := error(fault.Missing())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		err = fault.New(fault.Malformed, "method_not_allowed", "What is served here can only be read.").Do("Publish with the pages, the JSON API or capstore import.")
	}
	s.fail(w, r, err, strings.Contains(r.URL.Path, "/servers"))
}

// send answers with a JSON document. It is checked anew each time, since what a
// caller may see can change at any moment; one that did not costs no body.
func (c *call) send(v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("outward: %w", err)
	}
	sum := sha256.Sum256(body)
	return c.answer("application/json", hex.EncodeToString(sum[:16]), "", func() ([]byte, error) { return body, nil })
}

// answer sends a body, which is only made where the caller has not got it.
func (c *call) answer(mediaType, tag, file string, body func() ([]byte, error)) error {
	h := c.w.Header()
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", "private, no-cache")
	h.Add("Vary", "Authorization, Cookie")
	if matches(c.r.Header.Get("If-None-Match"), tag) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	data, err := body()
	if err != nil {
		h.Del("ETag")
		return err
	}
	h.Set("Content-Type", mediaType)
	if file != "" {
		h.Set("Content-Disposition", `attachment; filename="`+file+`"`)
	}
	_, _ = c.w.Write(data) // whoever left does not read it
	return nil
}

// matches reads If-None-Match. What compresses on the way may have marked the
// tag as weak or put an ending to it.
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.Trim(strings.TrimPrefix(strings.TrimSpace(part), "W/"), `"`)
		if part == "*" || part == tag || strings.HasPrefix(part, tag+"-") {
			return true
		}
	}
	return false
}
