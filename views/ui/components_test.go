package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
	"pgregory.net/rapid"

	"capstore/internal/i18n"
)

// drawn renders a component and parses it.
func drawn(t testing.TB, c templ.Component) *goquery.Document {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// has checks that every selector matches exactly once.
func has(t *testing.T, doc *goquery.Document, selectors ...string) {
	t.Helper()
	for _, selector := range selectors {
		if n := doc.Find(selector).Length(); n != 1 {
			html, _ := doc.Html()
			t.Errorf("%d × %s, want 1 in\n%s", n, selector, html)
		}
	}
}

func TestButtons(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args ButtonArgs
		want []string
	}{
		"submits":         {ButtonArgs{Label: "Save", Name: "do", Value: "save"}, []string{"button[type=submit][name=do][value=save]"}},
		"does not submit": {ButtonArgs{Label: "Open", Button: true}, []string{"button[type=button]"}},
		"link":            {ButtonArgs{Label: "New", Href: "/new"}, []string{"a.btn[href='/new']"}},
		"hostile link":    {ButtonArgs{Label: "New", Href: "javascript:alert(1)"}, []string{"a[href^='about:invalid']"}},
		"icon only":       {ButtonArgs{Label: "Close", IconOnly: true, Icon: IconClose}, []string{"button[aria-label=Close] svg[aria-hidden=true]"}},
		"cannot, and why": {ButtonArgs{Label: "Publish", ID: "p", Reason: "Ask an admin"}, []string{"button[type=button][aria-disabled=true][aria-describedby=p-reason]", "#p-reason"}},
		"cannot follow":   {ButtonArgs{Label: "New", Href: "/new", Reason: "Ask"}, []string{"button[aria-disabled=true]"}},
		"by htmx":         {ButtonArgs{Label: "x", Attrs: Hx{Post: "/p", Target: "#t"}.Attrs()}, []string{"button[hx-post='/p'][hx-target='#t']"}},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); has(t, drawn(t, Button(tc.args)), tc.want...) })
	}
}

func TestFieldsNameTheirHelpAndError(t *testing.T) {
	t.Parallel()
	f := Field{Name: "spec/code", Label: "Code", Help: "Python", Error: "Line 3 does not parse"}
	for name, c := range map[string]templ.Component{
		"input": Input(InputArgs{Field: f}), "textarea": Textarea(TextareaArgs{Field: f, Editor: "python"}), "select": Select(SelectArgs{Field: f}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			has(t, drawn(t, c), "label[for=field-spec-code]", "#field-spec-code[name='spec/code'][aria-invalid=true]",
				"[aria-describedby='field-spec-code-error field-spec-code-help']", "#field-spec-code-error", "#field-spec-code-help")
		})
	}
	has(t, drawn(t, ErrorSummary([]SummaryItem{{FieldID: FieldID("spec/code"), Text: "x"}})), "[role=alert] a[href='#field-spec-code']")
}

func TestSwitchPostsTheOtherState(t *testing.T) {
	t.Parallel()
	on := drawn(t, Switch(SwitchArgs{Action: "/t", Label: "Reader", On: true, Hidden: map[string]string{"key": "a/b"}}))
	has(t, on, "form[method=post][action='/t'] button[type=submit][role=switch][aria-checked=true][name=enabled][value=false]", "input[type=hidden][name=key][value='a/b']")
	off := drawn(t, Switch(SwitchArgs{Action: "/t", Label: "Reader"}))
	has(t, off, "button[aria-checked=false][value=true]")
	held := drawn(t, Switch(SwitchArgs{Action: "/t", Label: "Reader", Reason: "Its definition changed"}))
	has(t, held, "button[type=button][aria-disabled=true]")
}

func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	stored := drawn(t, Secret(SecretArgs{Field: Field{Name: "token", Label: "Token"}, Stored: true}))
	has(t, stored, "input[type=radio][name='token.action'][value=keep][checked]", "input[type=password][name=token]")
	if n := stored.Find("[value=remove]").Length(); n != 0 {
		t.Error("offers to remove what may not be removed")
	}
	fresh := drawn(t, Secret(SecretArgs{Field: Field{Name: "token", Label: "Token"}}))
	has(t, fresh, "input[type=hidden][name='token.action'][value=replace]", "input[type=password][name=token][autocomplete=new-password]")
}

func TestTimeSaysBoth(t *testing.T) {
	t.Parallel()
	at := clock().Add(-3 * time.Hour)
	doc := drawn(t, Time(at))
	has(t, doc, "time[datetime][title]")
	if got := doc.Find("time").Text(); got != "3 hours ago" {
		t.Errorf("got %q", got)
	}
	if drawn(t, Time(time.Time{})).Find("time").Length() != 0 {
		t.Error("the zero time has a time")
	}
}

func TestTextsFollowTheReader(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := KindBadge("skill").Render(i18n.With(t.Context(), i18n.Korean), &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "스킬") {
		t.Errorf("no Korean in %s", &b)
	}
}

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>{{constructor}}</textarea></title>'`

func TestComponentsEscapeWhatOthersWrote(t *testing.T) {
	t.Parallel()
	f := Field{Name: hostile, Label: hostile, Help: hostile, Error: hostile}
	for name, c := range map[string]templ.Component{
		"badge":   Badge(BadgeArgs{Label: hostile, Title: hostile}),
		"kind":    KindTile(hostile, false),
		"callout": Callout(CalloutArgs{Title: hostile, Text: hostile}),
		"toast":   Toast(ToastArgs{Text: hostile, Note: hostile}),
		"dialog":  Dialog(DialogArgs{ID: hostile, Title: hostile, Lead: hostile}),
		"button":  Button(ButtonArgs{Label: hostile, Reason: hostile, ID: hostile}),
		"copy":    CopyButton(CopyArgs{Text: hostile, Name: hostile}),
		"input":   Input(InputArgs{Field: f, Value: hostile}),
		"area":    Textarea(TextareaArgs{Field: f, Value: hostile}),
		"choices": Choices(ChoicesArgs{Field: f, Options: []Option{{Value: hostile, Label: hostile, Help: hostile}}}),
		"facts":   Facts([]Fact{{Label: hostile, Text: hostile}}, true),
		"code":    Code(CodeArgs{Text: hostile, Name: hostile, Language: "html", Numbers: true}),
		"diff":    Diff(DiffArgs{Name: hostile, Hunks: []DiffHunk{{OldStart: 1, NewStart: 1, Lines: []DiffLine{{Op: DiffAdded, Text: hostile, Marks: []DiffSpan{{0, 3}}}}}}}),
		"long":    LongText(hostile, 10),
		"digest":  Digest(hostile, hostile),
		"search":  SearchBox(SearchArgs{Action: hostile, Label: hostile, Query: hostile, Hidden: map[string]string{hostile: hostile}}),
		"menu":    MenuEntry(MenuItem{Label: hostile, Action: hostile, Values: map[string]string{hostile: hostile}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := drawn(t, c).Find("script, img, [onerror]").Length(); n != 0 {
				t.Errorf("%d elements out of a text", n)
			}
		})
	}
}

// Whatever the text, nothing of it is lost, and nothing of it is hidden.
func TestVisible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab<&\"'\n\t \u200b\u202e\u2066\x1b\u00a0\ufeff\U000e0041\u3164가")), 0, 30, -1).Draw(t, "text")
		var b strings.Builder
		writeVisible(&b, text)
		doc, err := goquery.NewDocumentFromReader(strings.NewReader("<pre>\n" + b.String() + "</pre>"))
		if err != nil {
			t.Fatal(err)
		}
		if got := doc.Find("pre").Text(); got != text {
			t.Fatalf("copied text %q, want %q", got, text)
		}
		doc.Find("bdi").Remove()
		for _, r := range doc.Find("pre").Text() {
			if invisible(r) {
				t.Fatalf("%U stands without a mark in %q", r, b.String())
			}
		}
	})
}
