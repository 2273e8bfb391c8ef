package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func TestAuthoringPagesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.managed()
	s.offer(max, "acme", catalog.Publication{
		ID: "guide", Name: "guide", Visibility: capability.ReachWorkspace, Spec: capability.EncodeSpec(&capability.SkillSpec{
			Instructions: "# Guide", Metadata: map[string]string{"author": "Max"}, Files: []capability.File{
				{Path: "a/rather/long/folder/with/a/template-that-has-a-long-name.md", Content: "x"}, {Path: "b.bin", Encoding: "base64", Content: "AAE="},
			},
		}),
	})
	tab, server := s.browse(max)
	audit(t, tab, server, "/acme/store/new", "/acme/store/new?kind=code", "/acme/store/new?kind=mcp", "/acme/store/new?kind=hook",
		"/acme/store/acme/guide/edit", "/acme/store/import", manage)

	tab.Visit(server+"/acme/store/new?kind=code", auditViews[0])
	tab.Do(
		chromedp.SendKeys("#field-name", "Shout"),
		chromedp.WaitVisible(`#author-live a[href="#field-description"]`),
		chromedp.WaitNotPresent(`#author-live a[href="#field-name"]`),
	)
}
