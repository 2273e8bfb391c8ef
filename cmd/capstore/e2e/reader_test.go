package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"capstore/views/browsertest"
)

// reader does what a person does: follows links, presses buttons and fills in
// fields by the names that they have, and reads.
type reader struct {
	t    *testing.T
	site *site
	tab  *browsertest.Tab
	view browsertest.View
}

// visit opens a page by its address, as from a bookmark.
func (r reader) visit(path string) {
	r.t.Helper()
	r.tab.Visit(r.site.url+path, r.view)
}

// choose marks the visible thing of the kind whose name is, begins with or
// holds the given one, in this order, and answers whether there is one.
const choose = `((selector, name) => {
	document.querySelectorAll("[data-chosen]").forEach(e => e.removeAttribute("data-chosen"));
	const tidy = text => (text || "").replace(/\s+/g, " ").trim();
	const label = e => tidy(e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent);
	const seen = [...document.querySelectorAll(selector)].filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled);
	const found = seen.find(e => label(e) === name) ?? seen.find(e => label(e).startsWith(name)) ?? seen.find(e => label(e).includes(name));
	found?.setAttribute("data-chosen", "");
	found?.scrollIntoView({block: "center", behavior: "instant"});
	return found !== undefined;
})(%q, %q)`

const chosen = "[data-chosen]"

func (r reader) find(selector, name string) {
	r.t.Helper()
	r.until("there is "+name, fmt.Sprintf(choose, selector, name))
}

// follow goes where a link leads.
func (r reader) follow(name string) { r.t.Helper(); r.click("a[href]", name) }

// press presses a button or a switch.
func (r reader) press(name string) { r.t.Helper(); r.click("button, summary, [role=switch]", name) }

// tick chooses a box or a radio button.
func (r reader) tick(name string) {
	r.t.Helper()
	r.click("input[type=checkbox], input[type=radio]", name)
}

// click finds it again when the page has changed around it in between.
func (r reader) click(selector, name string) {
	r.t.Helper()
	for range 10 {
		r.find(selector, name)
		ctx, cancel := context.WithTimeout(r.tab.Ctx, 2*time.Second)
		err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(chosen)))
		cancel()
		if err == nil {
			return
		}
	}
	r.t.Fatalf("%s cannot be clicked", name)
}

// fill types into a field, in the place of what it held.
func (r reader) fill(name, text string) {
	r.t.Helper()
	r.find("input:not([type=hidden]), textarea", name)
	browsertest.Eval[bool](r.tab, `document.querySelector("[data-chosen]").select(), true`)
	r.tab.Do(chromedp.SendKeys(chromedp.CSS(chosen), text))
}

// chooses picks one of a list.
func (r reader) chooses(name, value string) {
	r.t.Helper()
	r.find("select", name)
	browsertest.Eval[bool](r.tab, fmt.Sprintf(`(list => { list.value = %q; return list.dispatchEvent(new Event("change", {bubbles: true})) })(document.querySelector("[data-chosen]"))`, value))
}

// sees waits for a text in the page's content.
func (r reader) sees(text string) {
	r.t.Helper()
	r.until("the page says "+text, fmt.Sprintf(`document.querySelector("main, body").innerText.replace(/\s+/g, " ").includes(%q)`, text))
}

// seesAfterReload is sees for what comes by itself only with script.
func (r reader) seesAfterReload(text string) {
	r.t.Helper()
	if !r.view.NoScript {
		r.sees(text)
		return
	}
	r.until("the page says "+text, fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text), chromedp.Reload())
}

// until asks again and again, after the steps, for what comes in a moment.
func (r reader) until(what, script string, between ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	tick, end := time.NewTicker(100*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for {
		// A page that is just being left has nothing to say.
		if is, err := chromedp.Run(r.tab.Ctx, chromedp.Evaluate[bool](script)); err == nil && is {
			return
		}
		select {
		case <-tick.C:
			r.tab.Do(between...)
		case <-end:
			text := browsertest.Eval[string](r.tab, `location.href + "\n" + document.body.innerText.slice(0, 3000)`)
			r.t.Fatalf("waited in vain until %s:\n%s", what, text)
		}
	}
}
