package web_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// shown is the part of hostileText that a page must show as it stands.
const shown = `<img src=x onerror=alert(1)>`

// longText is what nobody reads to its end; a page has to hold it all the same.
var longText = hostileText + strings.Repeat(" lorem ipsum", 16_000) + "\x1b]8;;https://evil.example\x1b\\ \u202egnp.exe"

// TestNoPageRunsWhatOthersWrote fills a workspace with text that would be a
// program where it is pasted, and visits every page that links lead to.
func TestNoPageRunsWhatOthersWrote(t *testing.T) {
	t.Parallel()
	stub := mcptest.New(t, hostileTools(t))
	s := newSite(t)
	s.hostileStore(stub.URL)
	s.hostileSkills()
	admin := s.as(ada)
	s.hostileChat(admin, stub)

	seen := admin.crawl(
		"/acme/store", "/acme/store/mine", "/acme/chat", "/acme/chat?pick=1", "/acme/chat?pick=1&ask=capability:acme%2Fserver",
		"/acme/settings/agent", "/acme/settings/tools", "/acme/settings/skills", "/acme/settings/members", "/acme/settings/secrets", "/account",
	)
	for family, least := range map[string]int{
		"/acme/store/mine?": 1, "/acme/store/acme/": 20, "/acme/store/acme/tool/adopt": 1, "/acme/chat/": 2, "/acme/chat?": 1,
		"/acme/settings/tools": 1, "/acme/settings/skills": 1, "/acme/settings/agent": 1,
	} {
		n := 0
		for path, page := range seen {
			if strings.HasPrefix(path+"?", family) && strings.Contains(page.Doc.Find("main").Text()+formValues(page), shown) {
				n++
			}
		}
		if n < least {
			t.Errorf("%d pages of %s show the text, want %d of %d", n, family, least, len(seen))
		}
	}
}

// TestNoFormEchoesAProgram sends every form of the same workspace filled in with
// the text, and looks at the fault, the flash or the page that answers, and at
// the pages of addresses that do not exist.
func TestNoFormEchoesAProgram(t *testing.T) {
	t.Parallel()
	stub := mcptest.New(t, hostileTools(t))
	s := newSite(t)
	s.hostileStore(stub.URL)
	s.hostileSkills()
	admin := s.as(ada)
	sent := map[string]bool{}
	for _, page := range admin.crawl(
		"/acme/store/mine", "/acme/store/new?kind=code", "/acme/settings/agent", "/acme/settings/tools", "/acme/settings/skills",
		"/acme/settings/members/invite", "/acme/settings/secrets/new", "/acme/chat", "/workspaces/new", "/account", "/account/tokens/new", "/account/security",
	) {
		page.Doc.Find("form[method=post]").Each(func(_ int, form *goquery.Selection) {
			action := form.AttrOr("action", "")
			at, _, _ := strings.Cut(action, "?")
			if at == "" || at == "/logout" || sent[at] || form.AttrOr("enctype", "") != "" {
				return
			}
			sent[at] = true
			admin.follow(admin.post(action, filled(form)...))
			admin.htmx().post(action, filled(form)...).safe("htmx " + action)
		})
	}
	if len(sent) < 25 {
		t.Errorf("only %d forms were sent", len(sent))
	}
	for _, path := range []string{"/acme/%s", "/%s", "/acme/store/acme/%s", "/acme/store/%s/x", "/acme/settings/tools/%s", "/acme/settings/skills/%s", "/login?next=%s", "/invite/%s", "/acme/store?q=%s", "/acme/chat?tool=%s"} {
		to := strings.ReplaceAll(path, "%s", url.QueryEscape(hostileText))
		admin.get(to).safe(to)
		s.stranger().get(to).safe(to)
		admin.htmx().get(to).safe("htmx " + to)
	}
}

// filled is what the form sends with the text in every field that takes one.
func filled(form *goquery.Selection) []string {
	var out []string
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, f *goquery.Selection) {
		value := hostileText
		switch {
		case goquery.NodeName(f) == "select":
			value = f.Find("option[selected], option").First().AttrOr("value", "")
		case f.AttrOr("type", "text") != "text" && goquery.NodeName(f) == "input":
			value = f.AttrOr("value", "")
		}
		out = append(out, f.AttrOr("name", ""), value)
	})
	return out
}

// formValues is what the fields of the page hold.
func formValues(a *answer) string {
	var out strings.Builder
	a.Doc.Find("input, textarea").Each(func(_ int, f *goquery.Selection) { out.WriteString(f.AttrOr("value", "") + f.Text()) })
	return out.String()
}

func hostileTools(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"name": `<b onclick=alert(1)>`, "description": longText[:60_000], "title": hostileText,
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{`"><svg/onload=1>`: map[string]any{
			"type": "string", "description": hostileText, "enum": []string{hostileText, "b"}}}},
	})
	must(t, err)
	return string(raw) + `,{"name":"<i>refused","inputSchema":{"type":"<script>alert(1)</script>"}}`
}

// hostileStore publishes and adopts one of each kind with all that its author
// can write.
func (s *site) hostileStore(server string) {
	s.t.Helper()
	_, err := s.Secrets.Set(s.t.Context(), s.actor(ada, "acme"), secret.NewSecret{Name: "KEY", Value: secret.NewValue("a value of a secret")})
	must(s.t, err)
	specs := map[string]map[string]any{
		"tool": {
			"type": "code", "language": "python", "isReadOnly": true,
			"code":             "import sys\nprint(" + quoted(hostileText) + ")\nprint(" + quoted(hostileText) + ", file=sys.stderr)\nprint(open(sys.argv[0]).read()[:0] + '{\"html\": ' + '\"<img src=x onerror=alert(1)>\"}')\n# " + longText,
			"parametersSchema": map[string]any{"type": "object", "properties": map[string]any{"<b>": map[string]any{"type": "string", "description": hostileText}}},
			"examples":         []map[string]any{{"name": shown, "note": hostileText, "input": map[string]any{"<b>": hostileText}}},
			"requiredSecrets":  []map[string]any{{"name": "OTHER", "description": hostileText}},
		},
		"server":  {"type": "mcp", "url": server, "provides": []string{"<b>declared"}, "settings": []map[string]any{{"name": "x", "description": hostileText}}},
		"hook":    {"type": "hook", "event": "before_tool", "language": "bash", "code": "echo '" + hostileText + "'", "failureMode": "advisory"},
		"command": {"type": "command", "template": hostileText + " $1", "argumentHint": hostileText[:60]},
		"skill": {
			"type": "skill", "instructions": "# " + hostileText + "\n\n" + longText, "license": hostileText, "allowedTools": hostileText,
			"files": []map[string]any{
				{"path": "<b>.md", "content": hostileText}, {"path": "logo.svg", "content": "<svg onload=alert(1)></svg>"},
				{"path": "page.html", "content": "<script>alert(1)</script>"}, {"path": `a"onload="b.txt`, "content": hostileText},
			},
		},
		"environment": {"type": "environment", "image": "acme/env:1", "instructions": hostileText, "benchmark": hostileText},
		"delegation":  {"type": "delegation", "harness": "claude-code", "image": "acme/env:1", "instructions": hostileText},
	}
	for id, spec := range specs {
		raw, err := json.Marshal(spec)
		must(s.t, err)
		p := catalog.Publication{
			ID: id, Name: "<b>" + id, Description: hostileText, Note: hostileText, Spec: raw, Visibility: capability.ReachWorkspace,
			Tags: []string{"<b>tag</b>", `"onload="`}, VersionTags: []string{"<i>label"},
		}
		first := s.publish(max, "acme", p)
		p.Visibility, p.Description = "", hostileText+" again"
		s.publish(max, "acme", p)
		if !capability.Kind(first.Kind).Adoptable() || first.Kind == capability.KindSkill {
			continue
		}
		write, bindings := true, map[string]string{}
		if id == "tool" {
			bindings["OTHER"] = "KEY"
		}
		_, err = s.Workspace.Adopt(s.t.Context(), s.actor(ada, "acme"), workspace.AdoptInput{
			Source: "acme", ID: id, Version: first.Version, Note: hostileText, EnableWrite: &write, SecretBindings: bindings,
		})
		must(s.t, err)
	}
	must(s.t, s.Catalog.Update(s.t.Context(), s.actor(max, "acme"), "acme", "command", catalog.Patch{Deprecated: &catalog.Deprecation{Note: hostileText}}))
	must(s.t, s.Catalog.Block(s.t.Context(), s.actor(ada, "acme"), "acme", "command", "1.0.0", hostileText))
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a string always encodes, and python reads it
	return string(raw)
}

func (s *site) hostileSkills() {
	s.t.Helper()
	_, err := s.Workspace.CreateSkill(s.t.Context(), s.actor(ada, "acme"), workspace.SkillInput{
		Name: "<b>own", Description: hostileText, Spec: &capability.SkillSpec{
			Instructions: longText, Files: []capability.File{{Path: "<b>.md", Content: hostileText}},
		},
	})
	must(s.t, err)
}

// hostileChat says and runs what answers with the text: as a result, a log, an
// error of a server, an argument and a fault.
func (s *site) hostileChat(c *client, stub *mcptest.Stub) {
	s.t.Helper()
	result, err := json.Marshal(map[string]any{"content": []any{
		map[string]any{"type": "text", "text": longText}, map[string]any{"type": shown}, map[string]any{"type": "image", "data": "AAAA", "mimeType": "text/html"},
		map[string]any{"type": "text", "text": `{"a":"` + shown + `"}`}, map[string]any{"type": "resource", "resource": map[string]any{"uri": "javascript:alert(1)"}},
	}})
	must(s.t, err)
	stub.Answer(string(result))
	picker := c.get("/acme/chat?pick=1&ask=capability:acme%2Fserver").status(200)
	href := picker.find(`a[href*="tool=mcp__"]`).First().AttrOr("href", "")
	at, err := url.Parse(href)
	must(s.t, err)
	tool := at.Query().Get("tool")
	code := capability.CodeToolName("<b>tool")
	for _, form := range [][]string{
		{"tool", code, "arg.<b>", hostileText}, {"tool", code, "mode", "json", "arguments", `{"<b>":1}`},
		{"text", hostileText}, {"text", "/" + hostileText}, {"text", "/tool " + hostileText},
		{"tool", tool, "mode", "json", "arguments", `{"x":` + quoted(hostileText) + `}`},
		{"tool", tool, "mode", "json", "arguments", hostileText},
		{"tool", hostileText, "mode", "json", "arguments", "{}"},
	} {
		c.follow(c.post("/acme/chat", form...))
	}
	stub.Fail(hostileText)
	c.follow(c.post("/acme/chat", "tool", tool))
}

// follow goes where the answer leads, if anywhere, and checks both.
func (c *client) follow(a *answer) {
	c.t.Helper()
	a.safe("what was posted")
	if to, _, _ := strings.Cut(a.Header.Get("Location"), "#"); to != "" {
		c.get(to).status(200).safe(to)
	}
}

// crawl visits the pages and all of this workspace that they lead to, as pages
// and as the fragments that htmx asks for, and checks each.
func (c *client) crawl(from ...string) map[string]*answer {
	c.t.Helper()
	seen, queries := map[string]*answer{}, map[string]int{}
	for len(from) > 0 {
		path := from[0]
		from = from[1:]
		page, _, _ := strings.Cut(path, "?")
		if seen[path] != nil || queries[page] >= 10 { // filters combine without end
			continue
		}
		queries[page]++
		got := c.get(path)
		seen[path] = got
		got.safe(path)
		got.Doc.Find("a[href], [hx-get]").Each(func(_ int, link *goquery.Selection) {
			to := link.AttrOr("href", link.AttrOr("hx-get", ""))
			to, _, _ = strings.Cut(to, "#")
			if strings.HasPrefix(to, "/acme/") || strings.HasPrefix(to, "/account") {
				from = append(from, to)
			}
			if to := link.AttrOr("hx-get", ""); to != "" && seen["htmx "+to] == nil {
				seen["htmx "+to] = c.htmx().get(to)
				seen["htmx "+to].safe("htmx " + to)
			}
		})
	}
	return seen
}

// editing is a text that somebody edits, which has to be as it is.
var editing = regexp.MustCompile(`(?s)<textarea.*?</textarea>`)

// fragments is what a stream puts into the page, as one answer.
func (a *answer) fragments() *answer {
	a.t.Helper()
	out := *a
	out.Header = a.Header.Clone()
	out.Header.Set("Content-Type", "text/html")
	var body strings.Builder
	for line := range strings.Lines(a.Body) {
		if line == ":\n" {
			continue // a comment, which keeps the stream alive
		}
		text, ok := strings.CutPrefix(line, "data: ")
		if !ok && line != "\n" {
			a.t.Errorf("a line of the stream is no fragment's: %q", line)
		}
		body.WriteString(text)
	}
	out.Body = body.String()
	var err error
	if out.Doc, err = goquery.NewDocumentFromReader(strings.NewReader(out.Body)); err != nil {
		a.t.Fatal(err)
	}
	return &out
}

// safe fails when the answer is our own fault, when a page of it could run what
// others wrote, or when a file of others would be shown in place.
func (a *answer) safe(path string) {
	a.t.Helper()
	if a.Status >= 500 {
		a.t.Errorf("%s: status %d: %s", path, a.Status, a.text("main"))
	}
	if a.Header.Get("X-Content-Type-Options") != "nosniff" {
		a.t.Errorf("%s: no nosniff: %v", path, a.Header)
	}
	if csp := a.Header.Get("Content-Security-Policy"); csp == "" || strings.Contains(csp, "unsafe") {
		a.t.Errorf("%s: policy %q", path, csp)
	}
	if a.Header.Get("Content-Type") == "text/event-stream" {
		a = a.fragments()
	}
	if kind := a.Header.Get("Content-Type"); kind != "" && !strings.HasPrefix(kind, "text/html") {
		if !strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment") {
			a.t.Errorf("%s: %s in place: %v", path, kind, a.Header)
		}
		return
	}
	a.harmless()
	a.none("[style], [onclick], b, i:not([class]), base, meta[http-equiv], form[action^='http'], a[href^='data:']")
	for _, r := range editing.ReplaceAllString(a.Body, "") {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != '\x1b' || r == '\u202e' && !strings.Contains(a.Body, "U+202E") {
			a.t.Errorf("%s: U+%04X stands in the page", path, r)
			return
		}
	}
}
