package views

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/static"
	"capstore/views/browsertest"
	"capstore/views/ui"
)

// csp is the policy that pages are served with; the gallery proves that the
// frame and every component live with it.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// htmlText is a component of literal HTML.
func htmlText(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	})
}

// inside renders the children within a component.
func inside(outer templ.Component, children ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return outer.Render(templ.WithChildren(ctx, templ.Join(children...)), w)
	})
}

func div(class string, children ...templ.Component) templ.Component {
	return templ.Join(append(append([]templ.Component{htmlText(`<div class="` + class + `">`)}, children...), htmlText("</div>"))...)
}

func section(title string, children ...templ.Component) templ.Component {
	return templ.Join(htmlText(`<section class="mb-10 flex flex-col gap-4"><h2>`+html.EscapeString(title)+`</h2>`), div("flex flex-col gap-4", children...), htmlText("</section>"))
}

const sampleCode = `import json, sys

def main(amount: float, currency: str = "EUR") -> dict:
    """Convert an amount."""  # rates come from the ledger
    rate = 1.0842 if currency == "EUR" else None
    return {"amount": round(amount * rate, 2), "note": "ok` + "\u202e" + `"}

json.dump(main(**json.load(sys.stdin)), sys.stdout)
`

const sampleMarkdown = "# Reading invoices\n\nUse this when somebody sends a **scanned invoice** and wants `net`, `vat` and `gross`. See [the tax office](https://example.org).\n\n## Steps\n\n1. Ask for the file.\n2. Run `read_pdf`.\n\n- [x] totals agree\n- [ ] currency known\n\n> Never guess an amount.\n\n| field | type |\n|---|--:|\n| net | 1,200.00 |\n\n```python\nprint(\"net\", 12)\n```\n\n![diagram](https://example.org/d.png)"

func row(name, source, id, kind, reach, description string, badges ...ui.BadgeArgs) templ.Component {
	return ui.Row(ui.RowArgs{Kind: kind, Name: name, Href: "#" + id, Ref: source + "/" + id, Version: "1.4.0", Text: description,
		Reach: reach, Tags: []string{"finance", "documents"}, Meta: []string{"128 adopters"}, At: time.Now().Add(-50 * time.Hour), Badges: badges})
}

func galleryLists() templ.Component {
	return templ.Join(
		section("Lists",
			ui.SearchBox(ui.SearchArgs{Action: "/search", Target: "#results", Label: "Search the store", Query: "invoice"}),
			ui.Chips(ui.ChipsArgs{Label: "Kind", Clear: "#", Chips: []ui.Chip{
				{Label: "MCP server", Href: "#", Icon: ui.IconMCP, HasCount: true, Count: 12, Current: true},
				{Label: "Code tool", Href: "#", Icon: ui.IconCode, HasCount: true, Count: 1000, Capped: true},
				{Label: "Skill", Href: "#", Icon: ui.IconSkill, HasCount: true, Count: 7}}}),
			htmlText(`<div id="results">`), inside(ui.Rows("Capabilities"),
				row("Invoice reader", "acme", "invoice-reader", "code", "public", "Reads totals and tax lines out of a scanned invoice and returns them as JSON.", ui.BadgeArgs{Label: "in your workspace", Tone: ui.Success, Icon: ui.IconCheck}),
				row("Contract review", "globex", "contract-review", "skill", "subset", "Walks through a contract clause by clause and lists what is unusual.", ui.BadgeArgs{Label: "update 1.4.0", Tone: ui.Accent}),
				row("Issue tracker", "acme", "issue-tracker", "mcp", "workspace", "Search, open and comment on issues of the tracker.", ui.BadgeArgs{Label: "needs setup", Tone: ui.Warning, Icon: ui.IconWarning}),
				row("Old converter", "acme", "old-converter", "command", "private", "Replaced by the currency tool.", ui.BadgeArgs{Label: "deprecated", Tone: ui.Danger}),
				row("Data lab", "acme", "data-lab", "environment", "workspace", "Python with pandas, DuckDB and a small sample of orders."),
				row("Research agent", "globex", "research-agent", "delegation", "public", "Hands a question to a longer running agent."),
				inside(ui.Row(ui.RowArgs{Kind: "hook", Name: "Spend guard", Href: "#guard", Text: "Asks before anything costs more than the limit.", Reason: "on: adopted by the workspace"}), ui.Switch(ui.SwitchArgs{Action: "#", Label: "Spend guard", On: true}))),
			htmlText(`</div>`), ui.Pager(ui.PagerArgs{Previous: "#p", Next: "#n", Note: "51–100"})),
		section("Table", inside(ui.Table(ui.TableArgs{Caption: "Runs", Columns: []ui.Column{{Label: "Tool"}, {Label: "When"}, {Label: "Took", Numeric: true}, {Label: "Actions", Hidden: true}}}),
			htmlText(`<tr><td class="font-mono">invoice_reader</td><td>`), ui.Time(time.Now().Add(-3*time.Minute)), htmlText(`</td><td data-numeric>340 ms</td><td>`), ui.Button(ui.ButtonArgs{Label: "Show", Small: true, Href: "#"}), htmlText(`</td></tr><tr><td class="font-mono">convert</td><td>`), ui.Time(time.Now().Add(-30*time.Hour)), htmlText(`</td><td data-numeric>1,204 ms</td><td></td></tr>`))),
		section("Nothing here", inside(ui.Empty(ui.EmptyArgs{Icon: ui.IconMine, Title: "Nothing published yet", Text: "What this workspace publishes stands here, of every kind and reach."}),
			ui.Button(ui.ButtonArgs{Label: "New capability", Icon: ui.IconPlus, Variant: ui.Primary, Href: "#"}))),
	)
}

func galleryForms() templ.Component {
	return section("Form",
		ui.ErrorSummary([]ui.SummaryItem{{FieldID: ui.FieldID("name"), Text: "The name is taken in this workspace"}, {Text: "Nothing was saved"}}),
		div("grid gap-5 sm:max-w-xl",
			ui.Input(ui.InputArgs{Field: ui.Field{Name: "name", Label: "Name", Help: "1 to 64 characters; the agent sees it", Error: "The name is taken in this workspace. Choose another."}, Value: "invoice reader"}),
			ui.Input(ui.InputArgs{Field: ui.Field{Name: "tags", Label: "Tags", Optional: true}, Placeholder: "finance, documents", Mono: true}),
			ui.Select(ui.SelectArgs{Field: ui.Field{Name: "bump", Label: "Version"}, Options: []ui.Option{{Value: "patch", Label: "Patch 1.4.1"}, {Value: "minor", Label: "Minor 1.5.0"}}}),
			ui.Textarea(ui.TextareaArgs{Field: ui.Field{Name: "description", Label: "Description", Help: "What it does and when to use it"}}),
			ui.Textarea(ui.TextareaArgs{Field: ui.Field{Name: "code", Label: "Code"}, Value: sampleCode, Editor: "python", Rows: 8}),
			ui.Choices(ui.ChoicesArgs{Field: ui.Field{Name: "reach", Label: "Reach"}, Columns: true, Options: []ui.Option{
				{Value: "private", Label: "Private", Icon: ui.IconLock, Help: "Only you and its maintainers can see it", Selected: true},
				{Value: "workspace", Label: "Workspace", Icon: ui.IconPeople, Help: "Every member can see it"},
				{Value: "subset", Label: "Shared", Icon: ui.IconShared, Help: "Chosen workspaces can see it too"},
				{Value: "public", Label: "Public", Icon: ui.IconGlobe, Help: "Everyone who is signed in", Reason: "Ask an admin of acme to make it public"}}}),
			ui.Secret(ui.SecretArgs{Field: ui.Field{Name: "token", Label: "API_TOKEN"}, Stored: true, Removable: true}),
			ui.Secret(ui.SecretArgs{Field: ui.Field{Name: "key", Label: "LEDGER_KEY", Help: "From the settings of the ledger"}}),
			ui.Checkbox(ui.CheckboxArgs{Field: ui.Field{Name: "consent", Label: "I have read this source", Help: "Consent is to this version alone"}}),
			div("flex items-center justify-between gap-4 rounded-lg border p-4", htmlText(`<div><p class="font-medium">Invoice reader</p><p class="text-muted-foreground">on: adopted by the workspace</p></div>`), ui.Switch(ui.SwitchArgs{Action: "#", Label: "Invoice reader", On: true})),
			div("flex items-center justify-between gap-4 rounded-lg border p-4", htmlText(`<div><p class="font-medium">Issue tracker</p><p class="text-muted-foreground">off: you switched it off · <a class="link" href="#">follow the workspace</a></p></div>`), ui.Switch(ui.SwitchArgs{Action: "#", Label: "Issue tracker"}))))
}

func galleryControls() templ.Component {
	return templ.Join(
		section("Buttons", div("flex flex-wrap items-start gap-2",
			ui.Button(ui.ButtonArgs{Label: "Adopt", Variant: ui.Primary}), ui.Button(ui.ButtonArgs{Label: "Copy to library", Icon: ui.IconCopy}),
			ui.Button(ui.ButtonArgs{Label: "Save", Variant: ui.Secondary}), ui.Button(ui.ButtonArgs{Label: "Skip", Variant: ui.Ghost}),
			ui.Button(ui.ButtonArgs{Label: "Delete", Icon: ui.IconTrash, Variant: ui.Destructive}), ui.Button(ui.ButtonArgs{Label: "Search", Icon: ui.IconSearch, IconOnly: true}),
			ui.Button(ui.ButtonArgs{Label: "Small", Small: true}),
			inside(ui.Menu(ui.MenuArgs{Label: "Manage"}), ui.MenuEntry(ui.MenuItem{Label: "Edit", Icon: ui.IconEdit, Href: "#"}), ui.MenuLine(), ui.MenuEntry(ui.MenuItem{Label: "Delete", Icon: ui.IconTrash, Action: "#", Danger: true})),
			htmlText(`<div>`), ui.Button(ui.ButtonArgs{Label: "Make public", Variant: ui.Primary, Reason: "Only an admin of acme can make this public."}), htmlText(`</div>`),
			ui.Button(ui.ButtonArgs{Label: "Open dialog", Button: true, Attrs: templ.Attributes{"data-dialog": "sample"}}),
			ui.Button(ui.ButtonArgs{Label: "Fetch dialog", ID: "fetch", Href: "/dialog", Attrs: ui.InDialog("/dialog")}),
			ui.Button(ui.ButtonArgs{Label: "Toast", ID: "toast", Button: true, Attrs: ui.Hx{Get: "/toast", Swap: "none"}.Attrs()}),
			ui.Button(ui.ButtonArgs{Label: "Fail", ID: "fail", Button: true, Attrs: ui.Hx{Get: "/fail"}.Attrs()})),
			inside(ui.Dialog(ui.DialogArgs{ID: "sample", Title: "Adopt Invoice reader", Lead: "It can read files that you give it. It writes nothing."}), htmlText(`<p>Consent is to digest <code>sha256:1f0c</code>.</p>`), div("mt-4 flex justify-end gap-2", ui.Button(ui.ButtonArgs{Label: "Adopt", Variant: ui.Primary})))),
		section("Badges", div("flex flex-wrap gap-2",
			ui.KindBadge("mcp"), ui.KindBadge("code"), ui.KindBadge("skill"), ui.KindBadge("environment"), ui.KindBadge("delegation"), ui.KindBadge("hook"), ui.KindBadge("command"),
			ui.ReachBadge("private"), ui.ReachBadge("workspace"), ui.ReachBadge("subset"), ui.ReachBadge("public"))),
		section("Notices",
			ui.Callout(ui.CalloutArgs{Title: "An update waits", Text: "Version 1.4.0 changes the parameters."}), ui.Callout(ui.CalloutArgs{Tone: ui.Success, Text: "Published 1.4.0."}),
			ui.Callout(ui.CalloutArgs{Tone: ui.Warning, Title: "Code tools are off", Text: "The sandbox cannot start. Whoever runs this server can see why with capstore doctor."}), ui.Callout(ui.CalloutArgs{Tone: ui.Danger, Text: "The definition has changed since you consented."}),
			div("flex flex-wrap items-center gap-3", ui.Progress("Importing", 40), ui.Steps("Import", []ui.StepArgs{{Label: "Read", Done: true}, {Label: "Check", Current: true}, {Label: "Make"}})), ui.Skeleton(2),
			div("max-w-sm", ui.Toast(ui.ToastArgs{Text: "Invoice reader is off", Note: "For you alone"}))),
	)
}

func galleryContent() templ.Component {
	hunks := []ui.DiffHunk{{OldStart: 12, NewStart: 12, Lines: []ui.DiffLine{
		{Op: ui.DiffSame, Text: "def main(amount):"},
		{Op: ui.DiffRemoved, Text: "    rate = 1.0842", Marks: []ui.DiffSpan{{Start: 11, End: 17}}},
		{Op: ui.DiffAdded, Text: "    rate = 1.0917", Marks: []ui.DiffSpan{{Start: 11, End: 17}}},
		{Op: ui.DiffAdded, Text: "    audit(rate)\u200b"},
		{Op: ui.DiffSame, Text: "    return amount * rate"}}}}
	facts := []ui.Fact{{Label: "Author", Text: "Mina Park"}, {Label: "Licence", Text: "MIT"}, {Label: "Adopters", Text: "128"}, {Label: "Digest", Body: ui.Digest("digest", "sha256:1f0c9a2b7d3e4455667788990011aabbccddeeff")}}
	return templ.Join(
		div("with-facts mb-10", div("min-w-0", ui.Tabs(ui.TabsArgs{Label: "Views", Tabs: []ui.Tab{{Label: "About", Href: "#", Current: true}, {Label: "Functions", Href: "#", Count: 3}, {Label: "Source", Href: "#"}, {Label: "Versions", Href: "#", Count: 12}, {Label: "Try", Href: "#"}}}),
			div("pt-6", ui.Markdown(ui.MarkdownArgs{Text: sampleMarkdown}))), div("", ui.Facts(facts, false))),
		section("Source", ui.Code(ui.CodeArgs{Text: sampleCode, Language: "python", Name: "convert.py", Numbers: true})),
		section("Difference", ui.Diff(ui.DiffArgs{Name: "convert.py, 1.3.0 to 1.4.0", Hunks: hunks}), ui.Diff(ui.DiffArgs{Name: "side by side", Hunks: hunks, Split: true})),
		section("Long text", ui.LongText(strings.Repeat("A description that does not end. ", 40), 200)),
	)
}

func galleryPage(r *http.Request) (Page, context.Context) {
	locale := i18n.Match("", r.Header.Get("Accept-Language"))
	p := Page{
		Title: "Gallery", Locale: locale, Nav: NavStore, Editor: true, ChatPath: "/panel", ChatOpen: r.URL.Query().Has("chat"),
		Viewer: &Viewer{Name: "Mina Park"}, Workspace: &Workspace{Slug: "acme", Name: "Acme"},
		Workspaces: []Workspace{{Slug: "acme", Name: "Acme"}, {Slug: "globex", Name: "Globex"}},
		Flash:      &Flash{Text: "Adopted Invoice reader 1.4.0.", Undo: &Undo{Action: "#"}},
	}
	return p, i18n.With(r.Context(), locale)
}

// gallery serves every component within the frame, and the pages without one.
func gallery(t *testing.T) *httptest.Server {
	t.Helper()
	if err := static.Check(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /static/", static.Handler())
	render := func(pattern string, page func(Page) templ.Component) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			p, ctx := galleryPage(r)
			w.Header().Set("Content-Security-Policy", csp)
			if err := page(p).Render(ctx, w); err != nil {
				t.Error(err)
			}
		})
	}
	for path, body := range map[string]func() templ.Component{
		"/lists": galleryLists, "/forms": galleryForms, "/controls": galleryControls, "/content": galleryContent,
	} {
		render(path, func(p Page) templ.Component {
			return inside(Layout(p), inside(ui.PageHeader(ui.HeaderArgs{Title: "Store", Lead: "What your agent can be given."}), ui.Button(ui.ButtonArgs{Label: "New capability", Icon: ui.IconPlus, Variant: ui.Primary, Href: "#"})), body())
		})
	}
	render("/settings", func(p Page) templ.Component {
		p.Nav = NavSettings
		return inside(SettingsLayout(p, "tools"), inside(ui.PageHeader(ui.HeaderArgs{Title: "Tools", Lead: "What your agent carries, and a switch for each."})))
	})
	trouble := Trouble{Kind: "not_found", Message: "There is nothing here, or nothing that you may see.", Action: "Check the address, or ask its owner to share it with you.", Reference: "K3J9QZ7W2M"}
	render("/error", func(p Page) templ.Component { return ErrorPage(p, trouble) })
	render("/bare", func(p Page) templ.Component { p.Workspace = nil; return ErrorPage(p, trouble) })
	mux.HandleFunc("GET /fail", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<b>secret</b>", http.StatusBadGateway) })
	mux.Handle("GET /toast", templ.Handler(ui.ToastSwap(ui.ToastArgs{Text: "Switched off"})))
	mux.Handle("GET /dialog", templ.Handler(ui.Dialog(ui.DialogArgs{ID: "fetched", Title: "Adopt", Modal: true})))
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `<div id="results">Nothing for `+html.EscapeString(r.FormValue("q"))+`</div>`)
	})
	mux.HandleFunc("GET /panel", func(w http.ResponseWriter, r *http.Request) {
		_, ctx := galleryPage(r)
		if err := ChatPanel(sampleChat(time.Now())).Render(ctx, w); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// Every page of the gallery, on a desk and on a phone, light and dark, in both
// languages. CAPSTORE_SCREENSHOTS names a folder that gets a picture of each.
func TestGallery(t *testing.T) {
	t.Parallel()
	server, tab := gallery(t), browsertest.Open(t)
	for _, path := range []string{"/lists", "/forms", "/controls", "/content", "/settings", "/error", "/bare", "/lists?chat"} {
		for _, v := range []struct {
			name string
			view browsertest.View
		}{
			{"desk", browsertest.View{}},
			{"desk-dark", browsertest.View{Dark: true, Language: "ko"}},
			{"phone", browsertest.View{Width: 375, Height: 740, Language: "ko"}},
			{"zoomed", browsertest.View{Width: 640, Height: 450}},
			{"phone-dark", browsertest.View{Width: 375, Height: 740, Dark: true}},
		} {
			tab.Visit(server.URL+path, v.view)
			for _, wrong := range tab.Audit() {
				t.Errorf("%s %s: %s", path, v.name, wrong)
			}
			tab.Screenshot(os.Getenv("CAPSTORE_SCREENSHOTS"), strings.NewReplacer("/", "", "?", "-").Replace(path)+"-"+v.name)
		}
	}
}
