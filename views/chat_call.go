package views

import (
	"time"

	"capstore/views/ui"
)

// The states of a call, as keys of the catalogue.
const (
	CallAsked   = "asked"   // wanted, and not begun
	CallWaiting = "waiting" // for its member's word
	CallRunning = "running"
	CallDone    = "done"
	CallFailed  = "failed"
	CallNotRun  = "not_run" // the turn ended before
)

// ChatCall is a tool call and, once it has ended, its result.
type ChatCall struct {
	ID        string // of its element
	Name      string // as the model sees it
	RawName   string // at its origin, where that is another
	Label     string // source/id@version, or what stands for it
	Href      string // of the capability, "" where there is no page
	Kind      string // of the capability, as far as it is known
	State     string
	Write     bool
	Arguments string // JSON, indented
	Broken    string // what a model gave in place of JSON
	Secrets   []string
	Hints     []string
	Facts     []ui.Fact // version, epoch, who called, where it ran
	Since     time.Time // it started
	Hooks     []ChatHook
	Approval  *ChatApproval

	Code       string
	Message    string
	Action     string
	Fields     []string
	Blocks     []ChatBlock
	Log        string
	Stderr     string
	Duration   string
	Unisolated bool
	Artifacts  []ChatArtifact
}

// Ended reports whether nothing more will come of it.
func (c ChatCall) Ended() bool {
	return c.State == CallDone || c.State == CallFailed || c.State == CallNotRun
}

func (c ChatCall) tone() ui.Tone {
	switch c.State {
	case CallRunning:
		return ui.Info
	case CallWaiting:
		return ui.Warning
	case CallFailed:
		return ui.Danger
	case CallDone:
		return ui.Success
	}
	return ui.Neutral
}

func (c ChatCall) icon() ui.IconName {
	switch c.State {
	case CallWaiting:
		return ui.IconClock
	case CallFailed:
		return ui.IconDanger
	case CallDone:
		return ui.IconSuccess
	}
	return ui.IconNone
}

// ChatHook is what a hook said about a call.
type ChatHook struct {
	Tone ui.Tone
	Text string
}

// ChatApproval is the member's word on a call, or the question for it.
type ChatApproval struct {
	ID   string
	Text string    // what was answered; "" while it is open
	Card *Approval // the question in full; nil once it was answered
}

// ChatBlock is one block of a result.
type ChatBlock struct {
	Value    *ChatValue // JSON, to read
	JSON     string     // the same, indented
	Markdown string
	Text     string
	Image    string // address of a checked image
	Alt      string
	Note     string // of what is not shown
}

// ChatArtifact is a result kept beside the ledger.
type ChatArtifact struct {
	Href string
	Size string
}

// ChatValue is a value of JSON as it is read: one scalar, a table, or parts
// with names. Its numbers keep every digit.
type ChatValue struct {
	Type  string // string, number, true, false, null, object, array
	Text  string // of a scalar
	Parts []ChatPart
	// Columns and Rows are a list of like objects.
	Columns []string
	Rows    [][]ChatValue
	More    int // parts or rows that are not here
}

// ChatPart is one member of an object, or of an array under its number.
type ChatPart struct {
	Name  string
	Value ChatValue
}

func (v ChatValue) scalar() bool { return v.Type != "object" && v.Type != "array" }

// columns head the table of a list, its numbers at the right.
func (v ChatValue) columns() []ui.Column {
	out := make([]ui.Column, len(v.Columns))
	for i, name := range v.Columns {
		out[i] = ui.Column{Label: name, Numeric: v.numeric(i)}
	}
	return out
}

func (v ChatValue) numeric(column int) bool {
	for _, row := range v.Rows {
		if t := row[column].Type; t != "number" && t != "null" {
			return false
		}
	}
	return true
}
