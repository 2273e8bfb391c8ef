package web_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"capstore/internal/catalog"
	"capstore/internal/interchange/plugintest"
	"capstore/views/browsertest"
)

// fromTheField are what people have: a skill zipped on a Mac with front matter
// that is no YAML, a client's configuration as it was kept by hand, and the
// folder of a plugin with everything in it.
func fromTheField(t *testing.T) (files []string, folder string) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		p := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(text), 0o644))
		return p
	}
	skill := "\ufeff" + strings.ReplaceAll("---\nname: tidy-inbox\ndescription: Sorts mail. Triggers: tidy, sort: by date\n---\n\n# Tidy\n\nRun scripts/tidy.py.\n", "\n", "\r\n")
	files = append(files, put("tidy.skill", zipped(t, "tidy-inbox/SKILL.md", skill, "tidy-inbox/scripts/tidy.py", "#!/usr/bin/env python3\nprint('tidy')\n",
		"__MACOSX/tidy-inbox/._SKILL.md", "x", "tidy-inbox/.DS_Store", "x")))
	files = append(files, put("claude_desktop_config.json", `{
  // what we use
  "mcpServers": {
    "board": {"type": "streamable-http", "url": "https://board.example.com/mcp", "headers": {"Authorization": "Bearer ${BOARD_KEY}"}},
    "notes": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "NOTES_TOKEN=sk_live_5up3rs3cr3tV4lu3xyz", "ghcr.io/example/notes:1.2"]},
    "local": {"command": "npx", "args": ["-y", "local-mcp"]},
  },
}`))
	for name, text := range plugintest.Release() {
		put("plugin/"+name, text)
	}
	return files, filepath.Join(dir, "plugin")
}

// A new user takes what he has through the browser into published capabilities
// and back out: what was odd is explained on the way, and what comes out is what
// is there already when it is brought in again.
func TestFromTheFieldAndBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	files, folder := fromTheField(t)
	tab, server := s.browse(max)

	sendInBrowser(tab, server, "#field-file", files...)
	for _, trouble := range tab.Audit() {
		t.Error("looking:", trouble)
	}
	text := browsertest.Eval[string](tab, `document.querySelector("main").textContent`)
	for _, part := range []string{"tidy-inbox", "Repaired", "read line by line", "comments", "BOARD_KEY", "local", "Needs an answer", "secret stands in the file"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not say %q: %s", part, text)
		}
	}
	if strings.Contains(text, "5up3rs3cr3t") {
		t.Error("the page shows the secret")
	}
	tab.Do(
		chromedp.SendKeys(`input[name=image]`, "ghcr.io/example/local:2"), chromedp.Click(`button[value=look]`),
		chromedp.WaitNotPresent(`[data-fate=wants]`),
	)
	publishInBrowser(t, tab, 4)
	sendInBrowser(tab, server, "#field-folder", folder)
	made := browsertest.Eval[int](tab, `document.querySelectorAll("input[name=path]:checked").length`)
	if made < 4 {
		t.Errorf("%d things of the plugin can be published", made)
	}
	publishInBrowser(t, tab, made)
	for _, trouble := range tab.Audit() {
		t.Error("published:", trouble)
	}

	page, err := s.Catalog.Browse(t.Context(), s.actor(max, "acme"), catalog.Query{Scope: catalog.ScopeMine, Limit: 200})
	must(t, err)
	if len(page.Items) != 4+made {
		t.Errorf("%d are published, want %d", len(page.Items), 4+made)
	}
	member := s.as(max)
	for _, row := range page.Items {
		links := member.get("/acme/store/acme/" + row.ID).status(200).find(`a[href*="/export"]`)
		for _, link := range links.EachIter() {
			href := link.AttrOr("href", "")
			back := member.sends(nil, [3]string{"file", "back", member.get(href).status(200).Body})
			if back.page.Doc.Find("[data-fate=unchanged]").Length() == 0 || back.page.Doc.Find("input[name=listed]").Length() > 0 {
				t.Errorf("%s comes back as something else: %s", href, back.page.text("main"))
			}
		}
	}
	if kinds := kindsOf(page.Items); len(kinds) < 4 {
		t.Errorf("only %v", kinds)
	}
}

func kindsOf(rows []catalog.Row) []string {
	var out []string
	for _, row := range rows {
		if k := string(row.Kind); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// sendInBrowser chooses files, or a folder, and waits for what is in them.
func sendInBrowser(tab *browsertest.Tab, server, field string, paths ...string) {
	tab.Visit(server+"/acme/store/import", browsertest.View{})
	tab.Do(chromedp.SetUploadFiles(field, paths), chromedp.Click(`form[enctype] button[type=submit], form[enctype] button:not([type])`), chromedp.WaitVisible(importForm))
}

func publishInBrowser(t *testing.T, tab *browsertest.Tab, want int) {
	t.Helper()
	tab.Do(chromedp.Click(`button[value=publish]`), chromedp.WaitVisible(`main [role=status]`))
	got := browsertest.Eval[int](tab, `document.querySelectorAll("td .badge[data-tone=success]").length`)
	if got != want {
		t.Errorf("%d are published, want %d: %s", got, want, browsertest.Eval[string](tab, `document.querySelector("main").textContent`))
	}
}

func TestImportPagesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.as(max).sends(nil, [3]string{"file", "a-file-with-a-rather-long-name-that-somebody-chose.json", configuration},
		[3]string{"file", "b.zip", zipped(t, "mended/SKILL.md", skillText("mended", "says: a: thing"), "empty/SKILL.md", "", "a/very/long/path/to/a/skill/in/a/library/of/many/of/them/SKILL.md", skillText("deep", "Deep."))})
	over := s.as(max).sends([]string{"text", skillText("done", "Done.")})
	over.publishes()
	tab, server := s.browse(max)
	audit(t, tab, server, "/acme/store/import", w.path, w.path+"?show=refused", over.path)
}
