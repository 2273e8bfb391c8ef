package web_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// hostileText is text that would be a program in a page that pasted it.
const hostileText = `<img src=x onerror=alert(1)> [x](javascript:alert(1)) "><svg/onload=1> {{constructor}} </script>`

// harmless fails when the page runs anything that its text brought along.
func (a *answer) harmless() {
	a.t.Helper()
	a.none("img[src=x], svg[onload], [onerror], [onload], iframe, object, embed")
	a.Doc.Find("a[href]").Each(func(_ int, link *goquery.Selection) {
		if href := link.AttrOr("href", ""); strings.HasPrefix(strings.ToLower(strings.TrimSpace(href)), "javascript:") {
			a.t.Errorf("a link runs %q", href)
		}
	})
	a.Doc.Find("script:not([src])").Each(func(_ int, script *goquery.Selection) {
		a.t.Errorf("inline script: %s", script.Text())
	})
}

func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i, name := range []string{"evil", "evil"} {
		s.offer(gus, "globex", catalog.Publication{
			ID: "evil", Name: name, Description: hostileText, Note: hostileText, VersionTags: []string{`"><b>tag`}, Tags: nil,
			Spec: greetSpec(t, map[string]any{
				"code": "# " + hostileText + strings.Repeat("!", i) + "\n", "serves": []string{"documents"},
				"requiredSecrets": []map[string]any{{"name": "KEY", "description": hostileText}},
				"examples":        []map[string]any{{"name": hostileText[:40], "note": hostileText, "input": map[string]any{"name": hostileText[:30]}}},
			}),
		})
	}
	must(t, s.Catalog.Update(t.Context(), s.actor(gus, "globex"), "globex", "evil", catalog.Patch{
		Tags: &[]string{`<b>tag</b>`, `"onload="`}, Deprecated: &catalog.Deprecation{Note: hostileText},
	}))
	s.offer(gus, "globex", catalog.Publication{ID: "evil-skill", Name: "evil-skill", Description: hostileText, Spec: textSkill(t, "# Title\n\n"+hostileText)})
	s.promote(gus, "globex", "evil", capability.ReachPublic)
	s.promote(gus, "globex", "evil-skill", capability.ReachPublic)
	member := s.as(max)
	for _, path := range []string{
		"/acme/store", "/acme/store?q=%22%3E%3Csvg/onload=1%3E", "/acme/store?tag=%22%3E%3Csvg/onload=1%3E&source=%22%3E%3Cb%3E",
		"/acme/store/globex/evil", "/acme/store/globex/evil?tab=functions", "/acme/store/globex/evil?tab=source",
		"/acme/store/globex/evil?tab=versions", "/acme/store/globex/evil?tab=try", "/acme/store/globex/evil?tab=try&example=0",
		"/acme/store/globex/evil-skill", "/acme/store/globex/evil-skill?tab=files", "/acme/store/globex/evil?from=%22%3E%3Cb%3E&tab=%3Cb%3E",
	} {
		member.get(path).status(200).harmless()
	}
}

func TestFilesAreShownAndHandedOver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	picture := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"))
	spec, err := json.Marshal(map[string]any{
		"type": "skill", "instructions": "# Pack\n\nSee [the steps](docs/steps.md).", "license": "MIT",
		"files": []map[string]any{
			{"path": "docs/steps.md", "mediaType": "text/markdown", "content": "1. Fold"},
			{"path": "scripts/run.sh", "content": "#!/bin/sh\n", "executable": true},
			{"path": "logo.png", "encoding": "base64", "content": picture},
			{"path": "logo.svg", "content": "<svg onload=alert(1)></svg>"},
			{"path": "page.html", "content": "<script>alert(1)</script>"},
		},
	})
	must(t, err)
	s.offer(max, "acme", catalog.Publication{ID: "pack", Name: "pack", Spec: spec})
	member := s.as(max)
	about := member.get("/acme/store/acme/pack").status(200)
	about.find(".prose a[href='/acme/store/acme/pack?tab=files&file=docs%2Fsteps.md']")
	if got := about.text("aside"); !strings.Contains(got, "MIT") {
		t.Errorf("no licence: %s", got)
	}
	files := member.get("/acme/store/acme/pack?tab=files").status(200)
	if got := files.text("nav[aria-label=Files]"); !strings.Contains(got, "SKILL.md") || !strings.Contains(got, "steps.md") {
		t.Errorf("files: %s", got)
	}
	if got := member.get("/acme/store/acme/pack?tab=files&file=docs%2Fsteps.md").text("#file .prose li"); got != "Fold" {
		t.Errorf("opened file: %q", got)
	}
	if got := member.get("/acme/store/acme/pack?tab=files&file=scripts%2Frun.sh").text(".callout"); !strings.Contains(got, "can be run") {
		t.Errorf("a script is shown as %q", got)
	}
	member.get("/acme/store/acme/pack?tab=files&file=logo.png").find("main img[src*='path=logo.png']")
	member.get("/acme/store/acme/pack?tab=files&file=page.html").harmless()

	for file, kind := range map[string]string{
		"logo.png": "image/png", "logo.svg": "application/octet-stream", "page.html": "application/octet-stream", "SKILL.md": "application/octet-stream",
	} {
		got := member.get("/acme/store/acme/pack/file?version=1.0.0&path=" + file).status(200)
		if got.Header.Get("Content-Type") != kind || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s is sent with %v", file, got.Header)
		}
	}
	member.get("/acme/store/acme/pack/file?version=1.0.0&path=..%2Fetc%2Fpasswd").status(404)
	member.get("/acme/store/acme/pack/file?version=9.0.0&path=SKILL.md").status(404)
	s.as(vera).get("/acme/store/acme/pack/file?version=1.0.0&path=SKILL.md").status(404)
}

func TestTryShowsWhatIsWrongAtItsField(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.greeter(map[string]any{
		"requiredSecrets": []map[string]any{{"name": "GREETING_KEY"}},
		"parametersSchema": map[string]any{
			"type": "object", "required": []string{"name", "times"},
			"properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": 40}, "times": map[string]any{"type": "integer"}},
		},
	})
	member := s.as(max)
	form := member.get("/acme/store/globex/greeter?tab=try").status(200)
	form.find("#try form[action='/acme/store/globex/greeter/try?version=1.0.0'] input[name='arg.times'][type=number], #try input[name='arg.times']")
	form.find("#try input[name=consent]")
	bad := member.post("/acme/store/globex/greeter/try?version=1.0.0", "arg.name", "Kim", "arg.times", "often").status(422)
	bad.find("#try input[name='arg.times'][aria-invalid=true]")
	if got := bad.find("#try input[name='arg.name']").AttrOr("value", ""); got != "Kim" {
		t.Errorf("what was typed is lost: %q", got)
	}
	part := member.htmx().post("/acme/store/globex/greeter/try?version=1.0.0", "arg.name", "Kim", "arg.times", "often")
	part.find("#try")
	part.none("h1")
	member.post("/acme/store/globex/none/try", "arg.name", "Kim").status(404)
	s.as(lone).post("/acme/store/globex/greeter/try").status(404)
}

func TestStorePagesInABrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.greeter(map[string]any{"examples": []map[string]any{{"input": map[string]any{"name": "Kim"}}}})
	s.pin(max, "acme", v)
	s.offer(gus, "globex", catalog.Publication{ID: "greeter", Name: "greeter", Note: "Shouts.", Spec: greetSpec(t, map[string]any{
		"code": "print('HELLO')\n", "egress": []string{"api.example.com"},
	})})
	s.offer(max, "acme", catalog.Publication{ID: "pack", Name: "pack", Spec: textSkill(t, "# Pack\n\n- Fold\n- Tape\n"), Visibility: capability.ReachWorkspace})
	s.extreme()
	tab, server := s.browse(max)
	audit(t, tab, server, "/acme/store", "/acme/store?q=nothing", "/acme/store/mine", "/acme/store/globex/greeter",
		"/acme/store/globex/greeter?tab=functions", "/acme/store/globex/greeter?tab=source", "/acme/store/globex/greeter?tab=versions",
		"/acme/store/globex/greeter?tab=versions&view=split", "/acme/store/globex/greeter?tab=try&version=1.0.0",
		"/acme/store/acme/pack?from=mine", "/acme/store/acme/pack?tab=files",
		"/acme/store/acme/wide", "/acme/store/acme/wide?tab=functions", "/acme/store/acme/wide?tab=versions")
}

// extreme publishes something whose every text is as long, and as hard to
// break, as may be.
func (s *site) extreme() {
	s.t.Helper()
	word := strings.Repeat("w", 60)
	parameters := map[string]any{}
	for _, name := range []string{word, word + "2"} {
		parameters[name] = map[string]any{"type": "array", "items": map[string]any{"enum": []string{word, word + "3"}}, "description": strings.Repeat(word, 4)}
	}
	p := catalog.Publication{
		ID: "wide", Name: word + "name", Description: strings.Repeat(word, 17), Tags: []string{word, word[:59] + "2", word[:59] + "3"},
		VersionTags: []string{word}, Note: strings.Repeat(word, 10), Visibility: capability.ReachWorkspace,
	}
	for _, code := range []string{word + " = 1\n", word + " = 2\n"} {
		p.Spec = greetSpec(s.t, map[string]any{
			"code": code, "parametersSchema": map[string]any{"type": "object", "properties": parameters},
			"egress": []string{word + ".example.com"}, "serves": []string{"documents"}, "requires": []string{"acme/" + word, "mcp__" + word[:50]},
			"requiredSecrets": []map[string]any{{"name": strings.Repeat("W", 64), "description": strings.Repeat(word, 4)}},
			"examples":        []map[string]any{{"name": word, "note": strings.Repeat(word, 4), "input": map[string]any{}}},
		})
		s.publish(max, "acme", p)
		p.Visibility, p.Tags = "", nil
	}
}
