package web

import (
	"net"
	"net/http"
	"net/url"

	"capstore/views"
)

// elsewherePage says how other programs use what the workspace has.
func (s *Site) elsewherePage(c *Ctx) error {
	origin := c.Absolute("")
	v := views.Elsewhere{Workspace: c.Who.Workspace, Origin: origin, Archives: fetchable(origin)}
	return c.Render(http.StatusOK, views.ElsewherePage(c.agentSubpage(c.T("elsewhere.title")), v))
}

// fetchable reports whether Claude Code fetches archives from the address: over
// https, and from no loopback one.
func fetchable(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback() && !ip.IsLinkLocalUnicast()
}
