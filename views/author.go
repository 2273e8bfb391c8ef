package views

import (
	"context"
	"strconv"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Author is the form in which a capability, or its next version, is written,
// one step of it at a time.
type Author struct {
	Workspace     string
	WorkspaceName string
	Kind          string
	Form          Form
	// Base is the version that an edit starts from; nil for a new capability.
	Base *AuthorBase
	// Step is the one that is shown, with every other one in which something is
	// wrong.
	Step string
	// Draft is what keeps the form; nil where it is not kept.
	Draft *AuthorDraft
	// Typed says that the form holds what nobody has published or kept yet.
	Typed      bool
	ProposedID string // the id that the name makes
	// Reason says why the reader cannot publish and who can; "" when he can.
	Reason string
	// DefaultReach is the kind's, where the author chose none.
	DefaultReach string
	// PublicReason says the same as Reason of the reach public.
	PublicReason string
	Targets      []Workspace // that he may share with
	// People are how many belong to each workspace that may see it, by slug.
	People    map[string]int
	Suggested *AuthorSuggestion
	Similar   []SimilarName
	Files     FilesForm
	Document  Document // of a skill
	Preview   string   // a command as the model sees it
	// SampleEvent is an event of the kind that a hook waits for, as JSON.
	SampleEvent string
	Outcome     *AuthorOutcome
	Stale       *AuthorStale
	// Missing is what the form lacks as it is being filled in.
	Missing []ui.SummaryItem
	// Action is where the form goes, for a form that does not publish; "" is
	// the store's.
	Action string
}

// AuthorBase is the version that an edit starts from.
type AuthorBase struct {
	Source  string
	ID      string
	Name    string
	Version string
	Digest  string
	// Next are the numbers that each bump gives, by bump.
	Next map[string]string
	// FromFile says that the skill came from a SKILL.md, which stays as it is
	// while its text does.
	FromFile bool
}

// SimilarName is a capability that may be taken for the one that is written.
type SimilarName struct {
	Name, Ref, Kind, Href string
	Adopters              int // workspaces
}

// AuthorSuggestion is the bump that the changes ask for.
type AuthorSuggestion struct {
	Bump string
	Why  []string // in words; none for a change that nobody notices
}

// AuthorOutcome is what checking or trying the draft gave.
type AuthorOutcome struct {
	Checked bool // nothing is wrong with it; nothing ran
	Tried   bool
	Example string // the name of the example that ran; "" for the input
	Trouble string // why there is no result, and who can mend that
	Call    *ChatCall
	Hook    *HookOutcome
	Probe   *AuthorProbe
	Running *RunningTry
	Missing []MissingSecret // secrets that it ran without
}

// MissingSecret is a secret that something ran without.
type MissingSecret struct {
	Name string
	Href string // where one is added
}

// HookOutcome is how a hook's answer was read.
type HookOutcome struct {
	Decision  string // allow, ask, rewrite or deny
	Reason    string
	Arguments string // of a rewrite, as JSON
	Failure   string // why it gave no answer of its own; "" when it did
}

// AuthorProbe is what a server said of itself.
type AuthorProbe struct {
	Tools   []ProbedTool
	Trouble string // why it said nothing
	Notes   []string
}

// ProbedTool is a tool as its server describes it.
type ProbedTool struct {
	Name     string
	Text     string
	ReadOnly bool   // the server's own word
	Refused  string // why it cannot be used
	New      bool   // the form does not list it
}

// RunningTry is a try that goes on.
type RunningTry struct {
	Stop        string // where it is stopped
	Log, Stderr string
}

// AuthorStale says that a newer version was published since the form was
// opened.
type AuthorStale struct {
	Version  string
	DiffHref string
}

// authorKinds are the kinds in the order in which they are offered.
var authorKinds = []string{"code", "skill", "mcp", "command", "hook", "environment", "delegation"}

// authorLanguages are what a code tool is written in; a hook may be a shell
// script as well.
var authorLanguages = []string{"python", "node"}

// FormAction is where the form goes.
func (a Author) FormAction() string { return a.action() }

func (a Author) action() string {
	if a.Action != "" {
		return a.Action
	}
	if a.Base != nil {
		return EditCapabilityPath(a.Workspace, a.Base.Source, a.Base.ID)
	}
	return NewCapabilityPath(a.Workspace, a.Kind)
}

func (a Author) back() string {
	if a.Base != nil {
		return CapabilityPath(a.Workspace, a.Base.Source, a.Base.ID)
	}
	return NewCapabilityPath(a.Workspace, "")
}

func (a Author) formAttrs() templ.Attributes {
	attrs := templ.Attributes{"id": "author", "data-guard": true}
	if a.Typed {
		attrs["data-dirty"] = true
	}
	return attrs
}

// field is a field of the form with its label and help from the catalogue,
// where author.<key>_help is only looked at when help is told.
func (a Author) field(ctx context.Context, name, key string) ui.Field {
	l := i18n.From(ctx)
	f := a.Form.Field(name, l.T("author."+key))
	f.Help = l.Or("author."+key+"_help", "", map[string]any{"setting": "{setting}"}) // what an address may hold, as it is written
	return f
}

func (a Author) optionalField(ctx context.Context, name, key string) ui.Field {
	f := a.field(ctx, name, key)
	f.Optional = true
	return f
}

// rowField is field within a row of a list, whose labels are shared by all
// rows of it.
func (a Author) rowField(ctx context.Context, list string, row int, field, key string) ui.Field {
	return a.field(ctx, RowName(list, row, field), key)
}

func (a Author) row(list string, row int, field string) string {
	return a.Form.Value(RowName(list, row, field), "")
}

func (a Author) languages() []ui.Option {
	current := a.editorLanguage()
	options := []ui.Option{
		{Value: "python", Label: "Python", Selected: current == "python"}, {Value: "node", Label: "Node.js", Selected: current == "node"},
	}
	if a.Kind == "hook" {
		options = append(options, ui.Option{Value: "bash", Label: "Bash", Selected: current == "bash"})
	}
	return options
}

// editorLanguage is the language in which the editor colours the code.
func (a Author) editorLanguage() string { return a.Form.Value("spec.language", authorLanguages[0]) }

// choices are the options of a choice whose words stand in the catalogue as
// author.<key>_<value>, with a help each.
func (a Author) choices(ctx context.Context, name, key, fallback string, values ...string) []ui.Option {
	l, current := i18n.From(ctx), a.Form.Value(name, fallback)
	var out []ui.Option
	for _, v := range values {
		word := "author." + key + "_" + v
		out = append(out, ui.Option{Value: v, Label: l.T(word), Help: l.Or(word+"_help", "", nil), Selected: v == current})
	}
	return out
}

// reaches are who may read a new capability, each with who that is here.
func (a Author) reaches(ctx context.Context) []ui.Option {
	options := ReachOptions(ctx, a.Form.Value("visibility", a.DefaultReach), a.WorkspaceName, a.PublicReason)
	if len(a.Targets) == 0 {
		options[2].Reason = i18n.T(ctx, "author.no_targets")
	}
	if n := a.People[a.Workspace]; n > 0 {
		options[1].Help += " " + i18n.N(ctx, "author.people", n)
	}
	return options
}

// targets are the workspaces to share with, each with how many people it has.
func (a Author) targets(ctx context.Context) []ui.Option {
	options := targetOptions(a.Form, a.Targets, nil)
	for i, o := range options {
		if n := a.People[o.Value]; n > 0 {
			options[i].Help += " " + i18n.N(ctx, "author.people", n)
		}
	}
	return options
}

// ReachOptions are the reaches as a choice, with who would read it.
func ReachOptions(ctx context.Context, chosen, workspace, publicReason string) []ui.Option {
	var out []ui.Option
	for _, reach := range []string{"private", "workspace", "subset", "public"} {
		o := ui.Option{
			Value: reach, Label: i18n.T(ctx, "reach."+reach), Icon: ui.ReachIcon(reach), Selected: reach == chosen,
			Help: i18n.T(ctx, "author.reach_"+reach, "workspace", workspace),
		}
		if reach == "public" && reach != chosen {
			o.Reason = publicReason
		}
		out = append(out, o)
	}
	return out
}

// targetOptions are the workspaces that something can be shared with.
func targetOptions(form Form, targets []Workspace, shared []string) []ui.Option {
	var out []ui.Option
	for _, ws := range targets {
		before := false
		for _, slug := range shared {
			before = before || slug == ws.Slug
		}
		out = append(out, ui.Option{Value: ws.Slug, Label: ws.Name, Help: ws.Slug, Selected: form.Has("sharedWith", ws.Slug, before)})
	}
	return out
}

// bumps are the ways to number the next version.
func (a Author) bumps(ctx context.Context) []ui.Option {
	options := a.choices(ctx, "bump", "bump", "patch", "patch", "minor", "major", "exact")
	for i, bump := range []string{"patch", "minor", "major"} {
		options[i].Label += " · " + a.Base.Next[bump]
		if a.Suggested != nil && a.Suggested.Bump == bump {
			options[i].Label += " · " + i18n.T(ctx, "author.suggested")
		}
	}
	return options
}

// op is a button of the form that does not publish. Its answer opens at the
// anchor, so that the reader stays where he was.
func (a Author) op(op, anchor, label string, icon ui.IconName) ui.ButtonArgs {
	return ui.ButtonArgs{
		Label: label, Icon: icon, Small: true, Name: "op", Value: op,
		Attrs: templ.Attributes{"formaction": a.action() + "#" + anchor},
	}
}

// watchAttrs ask what the form lacks whenever somebody stops typing in it, and
// keep what stands in it. A viewer has nothing to keep.
func (a Author) watchAttrs() templ.Attributes {
	if a.Reason != "" {
		return nil
	}
	return ui.Hx{
		Post: a.action(), Include: "#author", Target: "#author-live", Swap: "outerMorph", Sync: "this:queue last",
		Trigger: "input from:#author delay:1s, change from:#author delay:1s",
	}.Attrs()
}

func (a Author) add(ctx context.Context, list, key string) ui.ButtonArgs {
	at := rowID(list, a.Form.Rows(list))
	return a.op(opAdd+list, at, i18n.T(ctx, "author."+key), ui.IconPlus)
}

func (a Author) remove(ctx context.Context, list string, row int) ui.ButtonArgs {
	b := a.op(opRemove+list+"."+strconv.Itoa(row), listID(list), i18n.T(ctx, "author.remove_row", "n", row+1), ui.IconTrash)
	b.IconOnly, b.Variant = true, ui.Ghost
	return b
}

// listID is where a list of rows stands on the page; faults of the list as a
// whole lead there.
func listID(list string) string { return ui.FieldID(list) }

// rowID is where a row stands on the page.
func rowID(list string, row int) string { return listID(list) + "-" + strconv.Itoa(row) }

func (a Author) rowNumbers(list string) []int {
	rows := make([]int, a.Form.Rows(list))
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// auths are the ways a remote server wants its caller to sign in. None is the
// empty value, as in the spec.
func (a Author) auths(ctx context.Context) []ui.Option {
	options := a.choices(ctx, "spec.auth", "auth", "none", "none", "secret", "oauth")
	if a.Form.Value("spec.auth", "") == "" {
		options[0].Selected = true
	}
	return options
}
