package views

import (
	"context"

	"github.com/a-h/templ"

	"capstore/internal/capability"
	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Fates of what was found, as the page groups them.
const (
	ImportNew       = "new"
	ImportNext      = "next"
	ImportWants     = "wants" // refused, and possible with an answer
	ImportRefused   = "refused"
	ImportUnchanged = "unchanged"
	ImportIgnored   = "ignored"
)

// importFates is the order in which the page shows them.
var importFates = []string{ImportNew, ImportNext, ImportWants, ImportRefused, ImportUnchanged, ImportIgnored}

// Import is where things come in from files: first what to read, then what was
// found, then what became of it.
type Import struct {
	Workspace     string
	WorkspaceName string
	Form          Form
	Reason        string // why the reader cannot publish and who can; "" when he can
	PublicReason  string
	SecretReason  string // why he cannot keep secrets
	Targets       []Workspace

	// ID is that of what was sent, "" before anything was.
	ID     string
	Name   string // of the file
	Origin string // the address
	Show   string // the one fate to show; "" shows all
	// Found is what was read; nil before anything was, and once it is published.
	Found *ImportFound
	// Results is what became of it; nil before.
	Results *ImportResults
}

// ImportFound is all that was found.
type ImportFound struct {
	Items []ImportItem
	Notes []ImportNote // about the whole
}

// ImportItem is one thing that was found.
type ImportItem struct {
	Path        string
	Kind        string // "" where that cannot be told
	Status      string
	Repaired    bool
	Name        string
	Description string
	ID          string
	Version     string // that it would get, or has
	Follows     string // the version before it
	Target      string // the address or image of a server
	Files       int
	Needs       []string // secrets and settings that it declares
	Effects     []ImportEffect
	Reason      string // why it was refused
	Faults      []string
	Notes       []ImportNote
	Secrets     []ImportSecret
	Wants       []string // image, url
	Image, URL  string   // what was supplied
	Chosen      bool
}

// ImportEffect is one thing that the next version changes for its users.
type ImportEffect struct {
	Text            string
	Power, Breaking bool
}

// ImportSecret is a literal secret that was found. Its value is never here.
type ImportSecret struct {
	Name string
	Key  string
	Keep bool
}

// ImportNote is something that was tolerated, changed or left out.
type ImportNote struct {
	Path   string
	Text   string
	Detail string
}

// ImportResults is what became of an import so far.
type ImportResults struct {
	Found, Made, Unchanged, Refused, Ignored int
	Rows                                     []ImportResult
	Over                                     bool
	Done, Of                                 int
}

// ImportResult is what became of one thing.
type ImportResult struct {
	Path    string
	Status  string // made, unchanged, refused or ignored
	Kind    string
	Name    string
	Ref     string
	Follows string
	Href    string // "" when there is nothing to see
	Text    string // why it was refused
	Secrets []string
}

func (f ImportFound) with(status string) []ImportItem {
	var out []ImportItem
	for _, item := range f.Items {
		if item.Status == status {
			out = append(out, item)
		}
	}
	return out
}

// ready are the items that can be published.
func (f ImportFound) ready() int { return len(f.with(ImportNew)) + len(f.with(ImportNext)) }

// publishable reports whether the item can be published as it is.
func (i ImportItem) publishable() bool { return i.Status == ImportNew || i.Status == ImportNext }

// title is what the item is called where its name was not read.
func (i ImportItem) title() string {
	if i.Name == "" {
		return i.Path
	}
	return i.Name
}

// shows reports whether the page shows items of the fate.
func (v Import) shows(status string) bool { return v.Show == "" || v.Show == status }

// fates are the buttons that show one fate alone, each with its number. They
// send the form, so that nothing that was chosen is lost.
func (v Import) fates(ctx context.Context) []importFate {
	out := []importFate{{Label: i18n.T(ctx, "import.fate_all"), Count: len(v.Found.Items), Current: v.Show == ""}}
	for _, status := range importFates {
		if n := len(v.Found.with(status)); n > 0 {
			out = append(out, importFate{Value: status, Label: i18n.T(ctx, "import.fate_"+status), Count: n, Current: v.Show == status})
		}
	}
	return out
}

type importFate struct {
	Value, Label string
	Count        int
	Current      bool
}

func (f importFate) attrs() templ.Attributes {
	if f.Current {
		return templ.Attributes{"aria-current": "true"}
	}
	return nil
}

func (v Import) field(ctx context.Context, name, key string) ui.Field {
	f := v.Form.Field(name, i18n.T(ctx, "import."+key))
	f.Help, f.Optional, f.Unmarked = i18n.T(ctx, "import."+key+"_help"), true, true
	return f
}

func (v Import) reaches(ctx context.Context) []ui.Option {
	options := ReachOptions(ctx, v.Form.Value("visibility", "private"), v.WorkspaceName, v.PublicReason)
	if len(v.Targets) == 0 {
		options[2].Reason = i18n.T(ctx, "author.no_targets")
	}
	return options
}

// choose is the box by which one thing is published or not.
func (i ImportItem) choose(n int) ui.CheckboxArgs {
	f := choiceField("path", n, i.title())
	return ui.CheckboxArgs{Field: f, Value: i.Path, Checked: i.Chosen}
}

// keep is the box by which a literal secret is kept.
func (v Import) keep(ctx context.Context, n int, s ImportSecret) ui.CheckboxArgs {
	f := choiceField("keep", n, i18n.T(ctx, "import.keep", "name", s.Name))
	out := ui.CheckboxArgs{Field: f, Value: s.Key, Checked: s.Keep}
	if v.SecretReason != "" {
		out.Help, out.Attrs, out.Checked = v.SecretReason, templ.Attributes{"disabled": true}, false
	}
	return out
}

// supplied is the field for one thing that an item lacks.
func (i ImportItem) supplied(ctx context.Context, n int, want string) ui.InputArgs {
	f := choiceField(want, n, i18n.T(ctx, "import.want_"+want))
	f.Help, f.Optional, f.Unmarked = i18n.T(ctx, "import.want_"+want+"_help"), true, true
	if i.Kind == string(capability.KindDelegation) {
		f.Help = i18n.T(ctx, "import.want_worker_help")
	}
	value := i.Image
	if want == "url" {
		value = i.URL
	}
	return ui.InputArgs{Field: f, Value: value, Mono: true}
}

func fileInput(accept string) templ.Attributes {
	return templ.Attributes{"accept": accept, "multiple": true}
}

// folderInput takes a whole folder, which browsers know by this old name.
func folderInput() templ.Attributes {
	return templ.Attributes{"webkitdirectory": true, "multiple": true}
}

var importTones = map[string]ui.Tone{
	"made": ui.Success, ImportUnchanged: ui.Neutral, ImportRefused: ui.Danger, ImportIgnored: ui.Neutral,
	ImportNew: ui.Success, ImportNext: ui.Accent, ImportWants: ui.Warning,
}

// percent is how much of the import was dealt with.
func (r ImportResults) percent() int {
	if r.Of == 0 {
		return 0
	}
	return 100 * r.Done / r.Of
}

// goesOn sends the form of an unfinished import by itself.
func goesOn(path string) templ.Attributes {
	return ui.Hx{Post: path, Trigger: "load"}.Attrs()
}

// wants reports whether the thing would make the item possible.
func (i ImportItem) wants(want string) bool {
	for _, w := range i.Wants {
		if w == want {
			return true
		}
	}
	return false
}

// points are what the next version changes, in its words and shapes.
func (i ImportItem) points() []ui.Point {
	var out []ui.Point
	for _, e := range i.Effects {
		p := ui.Point{Text: e.Text, Tone: ui.Neutral}
		switch {
		case e.Power:
			p.Tone = ui.Warning
		case e.Breaking:
			p.Tone = ui.Danger
		}
		out = append(out, p)
	}
	return out
}

func openWhen(open bool) templ.Attributes { return templ.Attributes{"open": open} }
