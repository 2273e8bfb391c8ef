package views

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"capstore/views/ui"
)

// Composer is where the member says what comes next.
type Composer struct {
	Workspace string
	ID        string // of the conversation; "" for a new one
	Panel     bool
	Form      Form
	Refs      []ChatRef
	Text      string // that it begins with
	// Tool is the picked tool's form; nil while none is picked.
	Tool *ToolForm
	// Choices are the tools and skills to pick from; nil while not asked.
	Choices []ToolChoice
	Picking bool
	// Said is what an MCP server that was just asked gave; nil when none was.
	Said *ServerSaid
	// Problem is why the message was not taken, where no field is to blame.
	Problem string
	// Off says that there is nothing to run and where that is mended.
	Off string
	// Models and Modes are what the conversation may choose. Without Models it
	// is in direct mode.
	Models    []ui.Option
	Modes     []ui.Option
	ModesHelp string // why some modes cannot be chosen
	// AddModel is where a model is added, "" for whoever may not.
	AddModel string
	Direct   bool
}

// ServerSaid is what asking an MCP server for its tools gave.
type ServerSaid struct {
	Text  string
	Notes []string // what cannot be used and what was odd, with why
}

// ToolChoice is one tool or skill that can be run.
type ToolChoice struct {
	Kind        string // of the capability
	Name        string // as the model sees it
	RawName     string // at its origin, where that is another
	Description string
	Pick        ComposerPick
	Write       bool
	Reason      string // why it cannot be run now; empty when it can
}

// ToolForm is the form made from a tool's schema.
type ToolForm struct {
	Name        string
	RawName     string // at its origin, where that is another
	Description string
	Label       string
	Version     string
	Write       bool
	Fields      []SchemaField
	Summary     []ui.SummaryItem
	// Raw is the arguments as JSON, for what the fields cannot say.
	Raw      string
	RawError string
	UseRaw   bool
	RawID    string // of its field; made from its name unless told
	Examples []ToolExample
	// Skill is loaded, not run: it takes nothing.
	Skill bool
}

// ToolExample fills the form with a worked call.
type ToolExample struct {
	Name string
	Note string
	Pick ComposerPick
	Href string // where the form stands on a page without a composer
}

// attrs lead to the form with the example in it.
func (e ToolExample) attrs() templ.Attributes {
	if e.Href != "" {
		return templ.Attributes{"href": templ.URL(e.Href)}
	}
	return e.Pick.Attrs()
}

// Completion is one thing that a line which begins with a slash may become.
type Completion struct {
	Insert      string
	Label       string
	Hint        string // of what follows it
	Description string
	Kind        string        // of the capability; "" for the host's own
	Pick        *ComposerPick // the form that it opens; nil when it is text
}

func (c Completion) attrs() templ.Attributes {
	attrs := templ.Attributes{"data-insert": c.Insert}
	if c.Pick != nil {
		attrs["data-pick"] = c.Pick.fragmentPath()
	}
	return attrs
}

// Controls of a schema field.
const (
	ControlText   = "text"
	ControlLong   = "long"
	ControlNumber = "number"
	ControlSelect = "select"
	ControlJSON   = "json"
)

// SchemaField is one parameter as a field of a form.
type SchemaField struct {
	ui.Field
	Control string
	Value   string
	Options []ui.Option
	Type    string // for the input, such as date
}

func hiddenLabel(f ui.Field) ui.Field {
	f.HideLabel = true
	return f
}

// rows is how many lines the field shows: those that it holds, ten at most.
func (f SchemaField) rows() int { return min(strings.Count(f.Value, "\n")+1, 10) }

// ComposerPick is a state of the composer: the list of tools, a server asked
// for its own, or one tool picked. The zero state is the message.
type ComposerPick struct {
	Workspace, ID string
	Panel         bool
	List          bool
	Ask           string // key of the server
	Tool          string
	Example       string
}

// Attrs lead to the composer in the state: in place by script, on the page of
// the conversation without.
func (p ComposerPick) Attrs() templ.Attributes {
	return ui.Merge(templ.Attributes{"href": templ.URL(p.pagePath())},
		ui.Hx{Get: p.fragmentPath(), Target: "#chat-composer", Swap: "outerHTML"}.Attrs())
}

func (c Composer) pick() ComposerPick {
	return ComposerPick{Workspace: c.Workspace, ID: c.ID, Panel: c.Panel}
}

func (c Composer) pickList() ComposerPick {
	p := c.pick()
	p.List = true
	return p
}

// formAttrs send the message: the answer is the next composer, and what is
// said arrives by the conversation's stream.
func (c Composer) formAttrs() templ.Attributes {
	return ui.Merge(templ.Attributes{"method": "post", "action": templ.URL(ChatActionPath(c.Workspace, c.ID)), "data-chat-form": true},
		ui.Hx{Post: ChatSendPath(c.Workspace, c.ID, c.Panel), Target: "#chat-composer", Swap: "outerHTML"}.Attrs())
}

// textAttrs complete a line that begins with a slash.
func (c Composer) textAttrs() templ.Attributes {
	return templ.Attributes{
		"data-chat-text": true, "data-complete": ChatCompletePath(c.Workspace, c.ID, c.Panel), "autocomplete": "off",
		"role": "combobox", "aria-expanded": "false", "aria-controls": "chat-completions", "aria-autocomplete": "list", "aria-haspopup": "listbox",
	}
}

func completionID(i int) string { return "chat-completion-" + strconv.Itoa(i) }

// ComposerFieldID is the id of a field in the composer, which may stand beside
// a page with a form of its own.
func ComposerFieldID(id string) string { return "chat-" + id }

// textField is the message's field.
func (c Composer) textField(label string) ui.Field {
	f := hiddenLabel(c.Form.Field("text", label))
	f.ID = ComposerFieldID(ui.FieldID("text"))
	return f
}
