// Package web is the pages: it parses a request, calls one service and hands
// plain structs to a view. Every page works without script; where htmx asks,
// the same handler answers with the fragment.
package web

import (
	"net/http"
	"strings"

	"capstore/internal/agent"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/interchange/intake"
	"capstore/internal/netguard"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// Parts are the services that pages call.
type Parts struct {
	Root      *httpd.Root
	Catalog   *catalog.Service
	Workspace *workspace.Service
	Secrets   *secret.Service
	Agent     *agent.Service
	Staging   *intake.Staging
	Guard     *netguard.Guard // for addresses that members give
}

// Site is the pages over one set of services.
type Site struct{ Parts }

// Access says who may ask for a route at all. What he may do there is for the
// service to say.
type Access int

const (
	Anyone Access = iota
	SignedIn
	Member // of the workspace in the path
)

// Route is one page or form. All of them stand in Routes.
type Route struct {
	Method  string
	Pattern string
	Access  Access
	// Body bounds the request's body; 0 means 16 MiB.
	Body    int64
	handler func(c *Ctx) error
}

// maxBody bounds a form. Uploads have their own, larger bound.
const maxBody = 16 << 20

// Mount answers every route on the root.
func Mount(p Parts) *Site {
	s := &Site{p}
	for _, route := range s.Routes() {
		p.Root.Mount(route.Method+" "+route.Pattern, p.Root.Sessions.LoadAndSave(s.adapt(route)))
	}
	p.Root.Sessions.ErrorFunc = func(w http.ResponseWriter, r *http.Request, err error) {
		s.fail(s.newCtx(w, r), err)
	}
	p.Root.NotFound(p.Root.Sessions.LoadAndSave(s.adapt(Route{Access: SignedIn, handler: missing})))
	return s
}

// missing answers an address that no route has, within the frame of the
// workspace that it begins with when the reader belongs to it.
func missing(c *Ctx) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(c.R.URL.Path, "/"), "/")
	for _, m := range c.Who.Memberships {
		if m.Workspace == first {
			c.Who.Workspace, c.Who.WorkspaceName, c.Who.Role = m.Workspace, m.Name, m.Role
		}
	}
	return fault.Missing()
}

// adapt turns a handler that returns an error into one that answers it.
func (s *Site) adapt(route Route) http.Handler {
	limit := route.Body
	if limit == 0 {
		limit = maxBody
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		c := s.newCtx(w, r)
		err := s.enter(c, route.Access)
		if err == nil {
			err = route.handler(c)
		}
		if err != nil {
			s.fail(c, err)
		}
	})
}

// enter loads who asks, and refuses whoever the route is not for.
func (s *Site) enter(c *Ctx, access Access) error {
	workspace := c.R.PathValue("workspace")
	who, err := s.Root.BySession(c.R, workspace)
	switch {
	case access == Anyone && fault.Is(err, fault.Unauthenticated):
		return nil
	case access == Member:
		who, err = httpd.MemberOnly(who, err)
	}
	if err != nil {
		return err
	}
	c.as(who)
	return nil
}
