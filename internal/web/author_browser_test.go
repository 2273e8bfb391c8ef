package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views/browsertest"
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
	s.as(max).htmx().post("/acme/store/new?kind=hook", with(s.as(max).get("/acme/store/new?kind=hook").fields("#author"), "name", "A draft of a hook")...).status(200)
	tab, server := s.browse(max)
	audit(t, tab, server, "/acme/store/new", "/acme/store/new?kind=code", "/acme/store/new?kind=mcp", "/acme/store/new?kind=hook", "/acme/store/new?kind=command", "/acme/store/new?kind=environment",
		"/acme/store/new?kind=delegation", "/acme/store/new/drafts", "/acme/store/acme/guide/edit", "/acme/store/import", manage)

	tab.Visit(server+"/acme/store/new?kind=code", auditViews[0])
	tab.Do(
		chromedp.SendKeys("#field-name", "Shout"),
		chromedp.WaitVisible(`#author-live a[href="#field-description"]`),
		chromedp.WaitNotPresent(`#author-live a[href="#field-name"]`),
		chromedp.WaitVisible(`#author-live [data-saved]`),
		chromedp.WaitNotPresent(`form[data-dirty]`),
	)
}

// primary is the button that goes on.
const primary = `#author-end button[data-variant=primary]`

// writeHook writes, tries and publishes a hook in the browser.
func writeHook(tab *browsertest.Tab, server, name string, view browsertest.View) {
	tab.Visit(server+"/acme/store/new?kind=hook", view)
	tab.Do(
		chromedp.SendKeys("#field-name", name),
		chromedp.SendKeys("#field-description", "Stops what mentions a password."),
		chromedp.Click(primary),
		chromedp.WaitVisible(`[aria-current=step][value="step:check"]`),
		chromedp.Click(`button[name=op][value=try]`),
		chromedp.WaitVisible(`#author-outcome [role=group]`),
		chromedp.Click(primary),
		chromedp.WaitVisible(`[aria-current=step][value="step:publish"]`),
		chromedp.Click(primary),
		chromedp.WaitVisible(`.tabbar`),
	)
}

// writeCode does the same with a code tool that gets a second parameter.
func writeCode(tab *browsertest.Tab, server, name string, view browsertest.View) {
	tab.Visit(server+"/acme/store/new?kind=code", view)
	tab.Do(
		chromedp.SendKeys("#field-name", name),
		chromedp.SendKeys("#field-description", "Writes in capitals."),
		chromedp.Click(`input[name="spec.isReadOnly"][value=true]`),
		chromedp.Click(`button[value="add:schema.rows"]`),
		chromedp.WaitVisible(`#field-schema-rows-1-name`),
		chromedp.SendKeys(`#field-schema-rows-1-name`, "times"),
		chromedp.Click(primary),
		chromedp.WaitVisible(`[aria-current=step][value="step:check"]`),
		chromedp.Click(`button[name=op][value=try]`),
		chromedp.WaitVisible(`#author-outcome [role=group]`),
		chromedp.Click(`button[value="step:write"].step`),
		chromedp.WaitVisible(`#field-schema-rows-1-name`),
		chromedp.Click(`button[value="step:publish"].step`),
		chromedp.WaitVisible(`[aria-current=step][value="step:publish"]`),
		chromedp.Click(primary),
		chromedp.WaitVisible(`.tabbar`),
	)
}

func TestWritingInABrowser(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]bool{"with script": true, "without script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			tab, server := s.browse(max)
			view := browsertest.View{NoScript: !script}
			writeHook(tab, server, "Guard", view)
			writeCode(tab, server, "Shout", view)
			for _, trouble := range tab.Troubles() {
				t.Error(trouble)
			}
			for _, id := range []string{"guard", "shout"} {
				if got := s.latest(max, "acme", id); got.Version != "1.0.0" {
					t.Errorf("%s %s", id, got.Version)
				}
			}
			if left := s.drafts(max, "acme"); len(left) != 0 {
				t.Errorf("published, yet there are drafts: %+v", left)
			}
		})
	}
}

// The editor takes Tab for itself; Escape gives it back.
func TestTheEditorIsNoTrap(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab, server := s.browse(max)
	tab.Visit(server+"/acme/store/new?kind=code", auditViews[0])
	at := func() string {
		return browsertest.Eval[string](tab, `document.activeElement.className || document.activeElement.name`)
	}
	browsertest.Wait(tab, `!!document.querySelector(".editor-host")`)
	tab.Do(chromedp.Click(`label[for=field-spec-code]`), chromedp.KeyEvent(kb.Tab))
	if got := at(); got != "editor-host" {
		t.Fatalf("Tab leads to %q", got)
	}
	tab.Do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Tab))
	if got := at(); got == "editor-host" {
		t.Error("the focus stays after Escape and Tab")
	}
}
