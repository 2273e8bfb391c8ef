package agent

import (
	"encoding/base64"
	"encoding/json"

	"github.com/google/uuid"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// occasion is one event, as its hooks are told of it.
type occasion struct {
	event        capability.Event
	actor        capability.Actor
	conversation uuid.UUID
	turn         uuid.UUID
	mode         capability.PermissionMode
	text         string // of the prompt, or the turn's last word
	ref, tool    string // of the call that it is about
	arguments    json.RawMessage
	result       *ToolResult
}

// hookInput is the event as a hook reads it: in the store's own words, and in
// those of the field, so that a hook written for another agent does its work.
type hookInput struct {
	Event        capability.Event `json:"event"`
	Workspace    string           `json:"workspace"`
	Conversation uuid.UUID        `json:"conversation"`
	Turn         uuid.UUID        `json:"turn"`
	Text         *string          `json:"text,omitempty"`
	Tool         string           `json:"tool,omitempty"`
	Arguments    json.RawMessage  `json:"arguments,omitempty"`
	Result       *hookResult      `json:"result,omitempty"`

	HookEventName  string          `json:"hook_event_name"`
	SessionID      uuid.UUID       `json:"session_id"`
	PromptID       uuid.UUID       `json:"prompt_id"`
	TranscriptPath string          `json:"transcript_path"`
	Cwd            string          `json:"cwd"`
	PermissionMode string          `json:"permission_mode"`
	Source         string          `json:"source,omitempty"`
	Prompt         *string         `json:"prompt,omitempty"`
	ToolName       string          `json:"tool_name,omitempty"`
	ToolInput      json.RawMessage `json:"tool_input,omitempty"`
	ToolUseID      string          `json:"tool_use_id,omitempty"`
	ToolResponse   *hookResult     `json:"tool_response,omitempty"`
	StopHookActive *bool           `json:"stop_hook_active,omitempty"`
	LastMessage    *string         `json:"last_assistant_message,omitempty"`
}

// hookResult is how a call ended. What is too long for an event is cut, and
// says so.
type hookResult struct {
	IsError    bool              `json:"isError"`
	Code       string            `json:"code,omitempty"`
	Message    string            `json:"message,omitempty"`
	Content    []json.RawMessage `json:"content,omitempty"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"`
	Truncated  bool              `json:"truncated,omitempty"`
}

// fieldEvents are the names of the events elsewhere, fieldModes those of the
// permission modes.
var (
	fieldEvents = map[capability.Event]string{
		capability.EventSessionStart: "SessionStart", capability.EventUserPromptSubmit: "UserPromptSubmit",
		capability.EventBeforeTool: "PreToolUse", capability.EventAfterTool: "PostToolUse", capability.EventTurnEnd: "Stop",
	}
	fieldModes = map[capability.PermissionMode]string{
		capability.ModePlan: "plan", capability.ModeAsk: "default", capability.ModeAuto: "acceptEdits", capability.ModeBypass: "bypassPermissions",
	}
)

// maxEventResult bounds the result within an event, where it stands twice.
const maxEventResult = 4 << 20

// input is the event as JSON.
func (o occasion) input() (json.RawMessage, error) {
	in := hookInput{
		Event: o.event, Workspace: o.actor.Workspace, Conversation: o.conversation, Turn: o.turn,
		HookEventName: fieldEvents[o.event], SessionID: o.conversation, PromptID: o.turn, Cwd: ".", PermissionMode: fieldModes[o.mode],
	}
	switch o.event {
	case capability.EventSessionStart:
		in.Source = "startup"
	case capability.EventUserPromptSubmit:
		in.Text, in.Prompt = &o.text, &o.text
	case capability.EventBeforeTool, capability.EventAfterTool:
		in.Tool, in.ToolName, in.ToolUseID = o.tool, o.tool, o.ref
		in.Arguments, in.ToolInput = o.arguments, o.arguments
		if o.result != nil {
			result := resultForHooks(*o.result)
			in.Result, in.ToolResponse = &result, &result
		}
	case capability.EventTurnEnd:
		active := false
		in.Text, in.LastMessage, in.StopHookActive = &o.text, &o.text, &active
	}
	return json.Marshal(in)
}

func resultForHooks(r ToolResult) hookResult {
	out := hookResult{IsError: r.IsError, Code: r.Code, Message: r.Message, Content: r.Content, Structured: r.Structured}
	size := len(r.Structured)
	for _, block := range r.Content {
		size += len(block)
	}
	if size > maxEventResult {
		out.Content, out.Structured, out.Truncated = []json.RawMessage{textBlock(head(r.Content, maxEventResult/2))}, nil, true
	}
	return out
}

// SampleEvent is an event as a hook of it is given, to try one with.
func SampleEvent(event capability.Event) json.RawMessage {
	o := occasion{
		event: event, actor: capability.Actor{Workspace: "acme"}, mode: capability.ModeAsk,
		conversation: uuid.MustParse("3f1c0000-0000-7000-8000-000000000000"), turn: uuid.MustParse("3f1c0000-0000-7000-8000-000000000001"),
	}
	switch event {
	case capability.EventUserPromptSubmit:
		o.text = "Send the invoice of March to the customer."
	case capability.EventTurnEnd:
		o.text = "The invoice is on its way."
	case capability.EventBeforeTool, capability.EventAfterTool:
		o.tool, o.ref = "mcp__mail__send", "call_1"
		o.arguments = json.RawMessage(`{"to": "kim@example.com", "subject": "Invoice"}`)
		if event == capability.EventAfterTool {
			o.result = &ToolResult{Content: []json.RawMessage{textBlock("Sent.")}}
		}
	}
	raw, err := o.input()
	if err != nil {
		return json.RawMessage("{}")
	}
	return indented(raw)
}

func indented(raw json.RawMessage) json.RawMessage {
	out, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return raw
	}
	return out
}

// hookRun is a hook as the sandbox takes it.
func hookRun(spec *capability.HookSpec, event json.RawMessage, foreign bool) (sandbox.Run, error) {
	run := codeRun(&capability.CodeSpec{Language: spec.Language, Code: spec.Code, TimeoutSec: spec.TimeoutSec}, event, nil, foreign, nil)
	for _, f := range spec.Files {
		data := []byte(f.Content)
		if f.Encoding == capability.EncodingBase64 {
			var err error
			if data, err = base64.StdEncoding.DecodeString(f.Content); err != nil {
				return run, fault.New(fault.Invalid, "bad_file", "The file %s cannot be read.", f.Path)
			}
		}
		run.Files = append(run.Files, sandbox.File{Path: f.Path, Data: data})
	}
	return run, nil
}
