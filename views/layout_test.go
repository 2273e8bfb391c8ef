package views

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"capstore/internal/fault"
	"capstore/internal/i18n"
)

func samplePage(l i18n.Locale) Page {
	return Page{
		Title: "Tools", Locale: l, Nav: NavSettings, ChatPath: "/acme/chat/panel",
		Viewer: &Viewer{Name: `Mina "<b>`}, Workspace: &Workspace{Slug: "acme", Name: "Acme"},
		Workspaces: []Workspace{{Slug: "acme", Name: "Acme"}, {Slug: "globex", Name: "Globex"}},
	}
}

func drawn(t *testing.T, p Page, c templ.Component) *goquery.Document {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(i18n.With(t.Context(), p.Locale), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func has(t *testing.T, doc *goquery.Document, selectors ...string) {
	t.Helper()
	for _, selector := range selectors {
		if n := doc.Find(selector).Length(); n != 1 {
			t.Errorf("%d × %s, want 1", n, selector)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	p := samplePage(i18n.Korean)
	p.Theme, p.ChatOpen = "dark", true
	doc := drawn(t, p, Layout(p))
	has(t, doc,
		"html[lang=ko][data-theme=dark]", "body > a.skip-link[href='#content']:first-child", "main#content",
		"nav a[href='/acme/settings/agent'][aria-current=page]", "nav a[href='/acme/store']:not([aria-current])",
		"a[href='/globex']", "a[href='/account']", "form[action='/logout'][method=post]",
		"form[role=search][action='/acme/store'] input[name=q]",
		"aside#chat-panel[data-open] #chat-panel-body[data-src='/acme/chat/panel']", "#toasts[aria-live=polite]", "#dialog-host")
	if n := doc.Find("script:not([src]), style, [style], [onclick]").Length(); n != 0 {
		t.Errorf("%d inline scripts or styles", n)
	}
	if doc.Find("b").Length() != 0 {
		t.Error("a name became an element")
	}
}

func TestLayoutLeavesOutWhatDoesNotApply(t *testing.T) {
	t.Parallel()
	p := Page{Title: "Sign in", Locale: i18n.English, Theme: `x" onload="alert(1)`}
	doc := drawn(t, p, Layout(p))
	for _, selector := range []string{"html[data-theme]", "html[onload]", "#chat-panel", "[role=search]", "form[action='/logout']", "nav a.sidebar-link"} {
		if n := doc.Find(selector).Length(); n != 0 {
			t.Errorf("%d × %s, want none", n, selector)
		}
	}
	p = samplePage(i18n.English)
	p.OwnSearch = true
	if n := drawn(t, p, Layout(p)).Find("[role=search]").Length(); n != 0 {
		t.Errorf("%d searches beside the page's own", n)
	}
}

func TestFlashOffersUndo(t *testing.T) {
	t.Parallel()
	p := samplePage(i18n.English)
	p.Flash = &Flash{Text: "Off", Undo: &Undo{Action: "/acme/undo", Values: map[string]string{"key": "a/b"}}}
	has(t, drawn(t, p, Layout(p)), "main [role=status] form[method=post][action='/acme/undo'] input[name=key][value='a/b']")
}

func TestErrorPage(t *testing.T) {
	t.Parallel()
	p := samplePage(i18n.English)
	trouble := TroubleOf(p.Locale, errors.New("pq: password=hunter2"), "REF1")
	doc := drawn(t, p, ErrorPage(p, trouble))
	text := doc.Find("main").Text()
	if strings.Contains(text, "hunter2") {
		t.Error("the cause of an error is shown")
	}
	for _, want := range []string{"REF1", fault.From(errors.New("x")).Message} {
		if !strings.Contains(text, want) {
			t.Errorf("page does not say %q", want)
		}
	}
	has(t, doc, "main h1", "main a[href='/']")
}

func TestFaultsSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	f := fault.Missing()
	if got := FaultText(i18n.Korean, f); got == f.Message || got == "" {
		t.Errorf("got %q, want the Korean text", got)
	}
	f = fault.New(fault.Conflict, "no_text_for_this", "Version %s exists", "1.0.0").Do("Choose another.")
	got := TroubleOf(i18n.Korean, f, "")
	if diff := cmp.Diff(Trouble{Kind: "conflict", Message: "Version 1.0.0 exists", Action: "Choose another."}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
