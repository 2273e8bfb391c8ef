package views

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"capstore/views/browsertest"
)

func key(keys string) chromedp.Action[chromedp.Void] { return chromedp.KeyEvent(keys) }

func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

// What the scripts add, done by hand in a browser, in the order a reader might.
func TestScripts(t *testing.T) {
	t.Parallel()
	server, tab := gallery(t), browsertest.Open(t)
	is := func(what, script string, want any) {
		t.Helper()
		if diff := cmp.Diff(want, browsertest.Eval[any](tab, script)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	desk := browsertest.View{}

	tab.Visit(server.URL+"/lists", desk)
	browsertest.Wait(tab, `document.querySelector("[hx-get]").dataset.htmxPowered === "true"`) // it listens
	tab.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	is("Ctrl+K jumps to the search", `document.activeElement.name + "=" + document.activeElement.value`, "q=invoice")
	tab.Do(key("s"))
	browsertest.Wait(tab, `document.querySelector("#results").textContent.includes("Nothing for s")`)
	is("the address follows", `location.search`, "?q=s")
	is("the field keeps the focus", `document.activeElement.name`, "q")
	tab.Visit(server.URL+"/lists", desk)
	tab.Do(chromedp.Focus(chromedp.CSS(".row-link")), key("j"), key(kb.ArrowDown), key("k"))
	is("keys move through rows", `document.activeElement.hash`, "#contract-review")

	tab.Do(click("[data-theme-set=dark]"))
	is("theme is set", `document.documentElement.dataset.theme`, "dark")
	is("theme is remembered", `document.cookie.includes("theme=dark")`, true)
	is("its button is pressed", `document.querySelector("[data-theme-set=dark]").ariaPressed`, "true")
	is("colours follow", `getComputedStyle(document.body).colorScheme + getComputedStyle(document.documentElement).colorScheme`, "darkdark")

	tab.Do(click("[data-panel-opener]"), chromedp.WaitVisible(chromedp.CSS("#chat-log")))
	is("panel is remembered", `document.cookie.includes("chat=open")`, true)
	is("toggle says so", `document.querySelector("[data-panel-opener]").ariaExpanded`, "true")
	tab.Do(click("#chat-panel [data-panel-toggle]"), chromedp.WaitNotVisible(chromedp.CSS("#chat-panel")))
	is("focus is back at the toggle", `"panelOpener" in document.activeElement.dataset`, true)

	tab.Visit(server.URL+"/controls", desk)
	tab.Do(click("summary.btn"), key(kb.ArrowDown))
	is("menu moves by keys", `document.activeElement.textContent.trim()`, "Edit")
	tab.Do(key(kb.Escape))
	is("escape closes the menu", `[document.querySelectorAll("details[open]").length, document.activeElement.tagName]`, []any{0.0, "SUMMARY"})
	tab.Do(click("[data-dialog=sample]"), chromedp.WaitVisible(chromedp.CSS("#sample")))
	is("dialog is modal", `document.querySelector("#sample").matches(":modal")`, true)
	tab.Do(key(kb.Escape))
	is("focus comes back", `document.activeElement.dataset.dialog`, "sample")
	tab.Do(click("[data-toast-close]"))
	is("toast is gone", `document.querySelectorAll("main .toast").length`, 0.0)

	tab.Do(click("#toast"), chromedp.WaitVisible(chromedp.CSS("#toasts .toast")))
	is("toast is announced", `document.querySelector("#toasts").textContent.includes("Switched off")`, true)
	tab.Do(click("#fetch"), chromedp.WaitVisible(chromedp.CSS("#fetched")))
	is("fetched dialog is modal", `document.querySelector("#fetched").matches(":modal")`, true)
	tab.Do(click("#fetched [data-dialog-close]"), chromedp.WaitNotPresent(chromedp.CSS("#fetched")))
	is("focus is back at its link", `document.activeElement.id`, "fetch")
	for _, wrong := range tab.Troubles() {
		t.Error(wrong)
	}
	tab.Do(click("#fail"))
	browsertest.Wait(tab, `document.querySelector("#toasts").textContent.includes("The server could not do that")`)
	is("a failure's text is not shown", `document.body.textContent.includes("secret")`, false)
	tab.Troubles() // the browser logs the 502 itself

	tab.Visit(server.URL+"/forms", desk)
	tab.Do(chromedp.ScrollIntoView(chromedp.CSS(".editor-host")))
	is("editor stands in for the field", `(() => {
		document.querySelector(".editor-host").shadowRoot.querySelector(".cm-content").focus();
		return document.querySelector("#field-code").hidden;
	})()`, true)
	tab.Do(key("# mine "))
	browsertest.Wait(tab, `document.querySelector("#field-code").value.startsWith("# mine ")`)
	for _, wrong := range tab.Troubles() {
		t.Error(wrong)
	}
}

// Without script the drawer, the menus and every form still work.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	server, tab := gallery(t), browsertest.Open(t)
	tab.Visit(server.URL+"/controls", browsertest.View{Width: 375, Height: 740, NoScript: true})
	tab.Do(click(".drawer-button"), chromedp.WaitVisible(chromedp.CSS("#sidebar nav")),
		key(kb.Escape), chromedp.WaitNotVisible(chromedp.CSS("#sidebar nav")),
		click("main summary.btn"), chromedp.WaitVisible(chromedp.CSS("main .menu-panel .menu-item")))
	for _, hidden := range []string{".copy-button", ".script-only"} {
		tab.Do(chromedp.WaitNotVisible(chromedp.CSS(hidden), chromedp.AtLeast(0)))
	}
	tab.Visit(server.URL+"/forms", browsertest.View{NoScript: true})
	tab.Do(chromedp.WaitVisible(chromedp.CSS("textarea#field-code")))
}

// Tab goes through a page in the order that it is read.
func TestFocusOrder(t *testing.T) {
	t.Parallel()
	server, tab := gallery(t), browsertest.Open(t)
	tab.Visit(server.URL+"/settings", browsertest.View{})
	var got []string
	for range 13 {
		tab.Do(key(kb.Tab))
		got = append(got, tab.Focused())
	}
	want := []string{"Skip to the content", "capstore", "Switch workspace: Acme", "Store", "Mine", "Chat", "Approvals", "Settings", "Account: Mina Park", "Sign out", "Acme", "Search the store", "Light"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tab.Visit(server.URL+"/settings", browsertest.View{})
	tab.Do(key(kb.Tab), key(kb.Enter), key(kb.Tab))
	if got := tab.Focused(); got != "Undo" {
		t.Errorf("the skip link leads to %q, want the first control of the content", got)
	}
}
