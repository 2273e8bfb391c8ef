package web_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"capstore/internal/capability"
	"capstore/views/browsertest"
)

// browse is a real browser signed in as the person ("" for nobody), with the
// address of the server.
func (s *site) browse(email string) (*browsertest.Tab, string) {
	s.t.Helper()
	server := httptest.NewServer(s.handler)
	s.t.Cleanup(server.Close)
	tab := browsertest.Open(s.t)
	if email == "" {
		return tab, server.URL
	}
	at, err := url.Parse(base)
	must(s.t, err)
	for _, cookie := range s.as(email).http.Jar.Cookies(at) {
		tab.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{
				Name: cookie.Name, Value: cookie.Value, URL: server.URL,
			})
			return err
		}))
	}
	return tab, server.URL
}

// views in which every page is audited.
var auditViews = []browsertest.View{{}, {Width: 375, Height: 812, Dark: true, Language: "ko"}}

// audit opens each path in every view and reports what is wrong with it.
func audit(t *testing.T, tab *browsertest.Tab, server string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		for _, view := range auditViews {
			tab.Visit(server+path, view)
			for _, trouble := range tab.Audit() {
				t.Errorf("%s at %d px, dark %v: %s", path, view.Width, view.Dark, trouble)
			}
		}
	}
}

func TestPeoplePagesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.workspace("initech", "Initech Intercontinental Holdings and Subsidiaries of the North")
	s.join("initech", ada, capability.RoleMember)
	s.invite("member", "somebody-with-a-long-address@subsidiary.example.com")
	s.as(ada).post("/acme/settings/secrets/new", "name", "A_VERY_LONG_NAME_OF_A_SECRET_THAT_NOBODY_WOULD_TYPE_TWICE", "value", "x").status(303)
	s.as(ada).post("/acme/settings/secrets/new", "name", "OWN", "value", "x", "personal", "1").status(303)
	s.as(ada).post("/account/tokens/new", "workspace", "acme", "name", "laptop", "scope", "agent", "expires", "30").status(200)
	member := "/acme/settings/members/" + s.subject(max)
	tab, server := s.browse(ada)
	audit(t, tab, server, "/", "/workspaces/new", "/account", "/account/security", "/account/tokens", "/account/tokens/new",
		"/account/secrets", "/acme/settings/members", "/acme/settings/members/invite", member+"/remove",
		"/acme/settings/secrets", "/acme/settings/secrets/new", "/acme/settings/secrets/OWN/delete?personal=1")
}

func TestJoiningPagesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := s.invite("member", "")
	tab, server := s.browse("")
	audit(t, tab, server, "/login", link)
	tab, server = s.browse(lone)
	audit(t, tab, server, link)
	empty := emptySite(t)
	empty.Root.Identity.RequireSetupToken()
	fresh, at := empty.browse("")
	audit(t, fresh, at, "/setup")
}
