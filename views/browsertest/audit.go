package browsertest

import (
	"fmt"
	"os"
	"strings"
)

// Audit returns what is wrong with the page in the tab: serious findings of
// axe-core, sideways scrolling, and the browser's own complaints.
func (tab *Tab) Audit() []string {
	tab.t.Helper()
	return append(append(tab.Axe(), tab.Sideways()...), tab.Troubles()...)
}

// finding is one rule of axe-core that a page breaks, as the script returns it.
type finding struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

const axeRun = `axe.run(document, {resultTypes: ["violations"]%s}).then(r => r.violations
	.filter(v => v.impact === "serious" || v.impact === "critical")
	.map(v => ({id: v.id, impact: v.impact, help: v.help,
		nodes: v.nodes.slice(0, 5).map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? ""))})))`

// Axe returns the serious and critical findings of axe-core. It needs script.
func (tab *Tab) Axe() []string {
	tab.t.Helper()
	return tab.axe("")
}

// Contrast is Axe for the one rule that a theme can break by itself.
func (tab *Tab) Contrast() []string {
	tab.t.Helper()
	return tab.axe(`, runOnly: ["color-contrast"]`)
}

func (tab *Tab) axe(options string) []string {
	tab.t.Helper()
	source, err := os.ReadFile(moduleFile("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		tab.t.Fatalf("axe-core is not there (%v): run `npm ci`", err)
	}
	if !Eval[bool](tab, `"axe" in window`) {
		Eval[bool](tab, string(source)+"; true")
	}
	var out []string
	for _, f := range Eval[[]finding](tab, fmt.Sprintf(axeRun, options)) {
		out = append(out, fmt.Sprintf("axe %s (%s): %s\n\t%s", f.ID, f.Impact, f.Help, strings.Join(f.Nodes, "\n\t")))
	}
	return out
}

const sideways = `(() => {
	const root = document.documentElement, width = root.clientWidth;
	if (root.scrollWidth <= width) return [];
	return [...document.body.querySelectorAll("*")]
		.filter(e => e.getBoundingClientRect().right > width + 1)
		.slice(0, 5).map(e => e.outerHTML.slice(0, 120));
})()`

// Sideways returns the elements that make the page scroll sideways.
func (tab *Tab) Sideways() []string {
	tab.t.Helper()
	var out []string
	for _, element := range Eval[[]string](tab, sideways) {
		out = append(out, "reaches past the right edge: "+element)
	}
	return out
}

const focused = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body) return "";
	const copy = e.cloneNode(true);
	copy.querySelectorAll("[aria-hidden=true]").forEach(hidden => hidden.remove());
	return e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim() || copy.textContent.trim().slice(0, 60) || e.id || e.tagName;
})()`

// Focused returns the name of the element that has the focus, or "".
func (tab *Tab) Focused() string {
	tab.t.Helper()
	return Eval[string](tab, focused)
}
