package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/views"
)

// The page names the addresses of this server and this workspace, and never a
// token.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.as(max).get(views.ElsewherePath("acme")).status(http.StatusOK)
	for _, want := range []string{"/registry/acme", views.SkillIndexPath("acme", views.OfCarried), "marketplace add ./capstore-acme", "YOUR_TOKEN"} {
		if !strings.Contains(page.find("main").Text(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, path := range []string{views.MarketplaceFolderPath("acme", ""), views.MarketplaceFolderPath("acme", views.OfCarried), views.NewTokenPath()} {
		page.find(`main a[href="` + path + `"]`)
	}
	s.as(max).get(views.AgentPath("acme")).find(`a[href="` + views.ElsewherePath("acme") + `"]`)
	s.as(vera).get(views.ElsewherePath("acme")).status(http.StatusOK)
	s.as(gus).get(views.ElsewherePath("acme")).status(http.StatusNotFound)
}
