package views

import (
	"strings"
	"time"

	"github.com/a-h/templ"

	"capstore/views/ui"
)

// ChatIndex lists a member's conversations.
type ChatIndex struct {
	Workspace     string
	Conversations []ChatLink
	Composer      Composer
}

// ChatLink is one conversation of a list.
type ChatLink struct {
	ID      string
	Title   string
	At      time.Time
	Current bool
}

// Chat is one conversation with what can be said next.
type Chat struct {
	Workspace string
	ID        string
	Title     string
	Items     []ChatItem
	LastSeq   int64
	Running   bool // something is being worked on
	Composer  Composer
	Panel     bool // drawn in the panel beside a page
}

// ChatItem is one thing of a conversation: exactly one part is set.
type ChatItem struct {
	Said    *ChatMessage
	Answer  *ChatAnswer
	Call    *ChatCall
	Trouble *ChatTrouble
	At      time.Time
}

// ChatMessage is what the member wrote.
type ChatMessage struct{ Text string }

// ChatAnswer is what answered a text without a model.
type ChatAnswer struct {
	Text        string
	Suggestions []ToolChoice
}

// ChatTrouble is an error or a stop of a turn.
type ChatTrouble struct {
	Tone   ui.Tone
	Text   string
	Action string
	Fields []string
}

// ChatCall is a tool call and, once it has ended, its result.
type ChatCall struct {
	Name      string // as the model sees it
	RawName   string // at its origin, where that is another
	Label     string // source/id@version, or what stands for it
	Href      string // of the capability, "" where there is no page
	Version   string
	Digest    string
	Write     bool
	Arguments string // JSON, indented
	Secrets   []string
	Hints     []string

	Done       bool
	IsError    bool
	Code       string
	Message    string
	Action     string
	Fields     []string
	Blocks     []ChatBlock
	Log        string
	Stderr     string
	Duration   string
	Driver     string
	Unisolated bool
	Artifacts  []ChatArtifact
}

// State is the call's state as a key of the catalogue.
func (c ChatCall) State() string {
	switch {
	case !c.Done:
		return "running"
	case c.IsError:
		return "failed"
	}
	return "done"
}

func (c ChatCall) tone() ui.Tone {
	switch c.State() {
	case "running":
		return ui.Info
	case "failed":
		return ui.Danger
	}
	return ui.Success
}

// ChatBlock is one block of a result.
type ChatBlock struct {
	JSON  string // indented
	Text  string
	Image string // data address of a checked image
	Alt   string
	Note  string // of what is not shown
}

// ChatArtifact is a result kept beside the ledger.
type ChatArtifact struct {
	Href string
	Size string
}

// Composer is where the member says what comes next.
type Composer struct {
	Action string // where it posts
	Form   Form
	// Tool is the picked tool's form; nil while none is picked.
	Tool *ToolForm
	// PickHref opens the list of tools; ClearHref drops the picked one.
	PickHref  string
	ClearHref string
	// Choices are the tools and skills to pick from; nil while not asked.
	Choices []ToolChoice
	Picking bool
	Query   string
	// Said is what an MCP server that was just asked gave; nil when none was.
	Said *ServerSaid
	// Off says that there is nothing to run and where that is mended.
	Off string
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
	Href        string // picks it
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
	Examples []ToolExample
	// Skill is loaded, not run: it takes nothing.
	Skill bool
}

// ToolExample fills the form with a worked call.
type ToolExample struct {
	Name string
	Note string
	Href string
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

// rootID is the id of the conversation's own root: a page may hold one of its
// own and one in the panel.
func (c Chat) rootID() string {
	if c.Panel {
		return "chat-in-panel"
	}
	return "chat"
}

// pollAttrs asks again while something is being worked on.
func (c Chat) pollAttrs() templ.Attributes {
	if !c.Running {
		return nil
	}
	return ui.Hx{Get: ChatBodyPath(c.Workspace, c.ID), Trigger: "load delay:600ms", Swap: "outerHTML", Target: "#" + c.rootID()}.Attrs()
}

func hiddenLabel(f ui.Field) ui.Field {
	f.HideLabel = true
	return f
}

// rows is how many lines the field shows: those that it holds, ten at most.
func (f SchemaField) rows() int { return min(strings.Count(f.Value, "\n")+1, 10) }
