package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/agent/model"
	"capstore/internal/capability"
	"capstore/internal/registry"
)

// stderrTail is how much of what a failed program printed a model reads.
const stderrTail = 2 << 10

// story is what happened in one turn, gathered from its lines.
type story struct {
	turn    uuid.UUID
	message *Message
	before  []string // of the hooks at the session's start
	after   []string // of the hooks that saw the message
	outputs []*ModelOutput
	results map[string]*ToolResult
	ended   *Failure
}

func storiesOf(lines []line) []*story {
	var all []*story
	at := map[uuid.UUID]*story{}
	for _, l := range lines {
		s := at[l.Turn]
		if s == nil {
			s = &story{turn: l.Turn, results: map[string]*ToolResult{}}
			at[l.Turn] = s
			all = append(all, s)
		}
		switch {
		case l.message != nil:
			s.message = l.message
		case l.output != nil:
			s.outputs = append(s.outputs, l.output)
		case l.result != nil:
			s.results[l.result.Ref] = l.result
		case l.failure != nil:
			s.ended = l.failure
		case l.hook != nil:
			s.hook(l.hook)
		}
	}
	return all
}

func (s *story) hook(h *HookOutcome) {
	if h.Ref != "" || h.added() == "" {
		return
	}
	if len(s.outputs) > 0 {
		return // what hooks say at a turn's end is for people
	}
	if h.Event == "session_start" {
		s.before = append(s.before, h.added())
	} else {
		s.after = append(s.after, h.added())
	}
}

// transcript is a conversation as a model reads it.
type transcript struct {
	messages []model.Message
	pictures pictures
	note     string // how the last turn ended, for the next message
}

// messagesOf tells the conversation to a model. Every call has a result, also
// where its turn ended first, and no two messages of the member follow one
// another. A message that a hook refused is left out with all that followed
// from it.
func messagesOf(stories []*story, shown pictures) []model.Message {
	t := transcript{pictures: shown}
	for _, s := range stories {
		if s.message == nil || s.ended != nil && s.ended.Code == codeHookDenied {
			continue
		}
		t.user(model.Message{Role: model.User, Text: s.prompt(t.note)})
		t.note = ""
		for _, o := range s.outputs {
			t.answer(s, o)
		}
		if s.ended != nil {
			t.note = "[The turn before this message ended early: " + s.ended.Message + "]"
		}
	}
	return t.messages
}

// user adds to the member's last message while nothing was answered to it.
func (t *transcript) user(m model.Message) {
	if n := len(t.messages); n > 0 && t.messages[n-1].Role == model.User {
		last := &t.messages[n-1]
		last.Results = append(last.Results, m.Results...)
		last.Text = strings.Join(nonEmpty(last.Text, m.Text), "\n\n")
		return
	}
	t.messages = append(t.messages, m)
}

func (t *transcript) answer(s *story, o *ModelOutput) {
	if o.Model == directModel || strings.TrimSpace(o.Text) == "" && len(o.Calls) == 0 {
		return
	}
	m := model.Message{Role: model.Assistant, Text: o.Text, Opaque: o.Opaque}
	results := model.Message{Role: model.User}
	for _, c := range o.Calls {
		m.Calls = append(m.Calls, model.Call{ID: idOf(c.Ref), Name: c.Name, Arguments: c.Arguments, Broken: c.Broken})
		results.Results = append(results.Results, resultFor(idOf(c.Ref), s.results[c.Ref], t.pictures))
	}
	t.messages = append(t.messages, m)
	if len(o.Calls) > 0 {
		t.messages = append(t.messages, results)
	}
}

// prompt is the member's message with what hooks say about it and what he ran
// by hand.
func (s *story) prompt(note string) string {
	parts := append(nonEmpty(note), s.before...)
	for _, c := range s.message.Calls {
		text := "I ran " + c.Name + " by hand with " + string(orEmpty(c.Arguments)) + "."
		if got := s.results[c.Ref]; got != nil {
			text += " It answered:\n" + textOf(got.Seen())
		}
		parts = append(parts, text)
	}
	for _, ref := range s.message.Refs {
		parts = append(parts, refWords(ref))
	}
	if s.message.asks() {
		parts = append(parts, promptOf(*s.message))
	}
	return strings.Join(append(parts, s.after...), "\n\n")
}

// The operations of the control plane that a reference is read and changed by.
var (
	capabilityTools = []string{capability.ControlToolName("get_capability"), capability.ControlToolName("create_capability")}
	skillTools      = []string{capability.ControlToolName("get_skill"), capability.ControlToolName("update_skill")}
)

// refTools are the tools that a message's references want loaded.
func refTools(refs []string) (names []string) {
	for _, ref := range refs {
		if strings.HasPrefix(ref, "skill:") {
			names = append(names, skillTools...)
		} else {
			names = append(names, capabilityTools...)
		}
	}
	return names
}

// refWords say what the message is about, and how to work on it.
func refWords(ref string) string {
	kind, id, _ := strings.Cut(ref, ":")
	tools := capabilityTools
	if kind == "skill" {
		tools = skillTools
	}
	return fmt.Sprintf("This is about the %s %s. Read it with %s; what you change is saved as a new version with %s.", kind, id, tools[0], tools[1])
}

func orEmpty(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	return args
}

func nonEmpty(texts ...string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// resultFor is a result as a model reads it; nil is a call that was not made.
func resultFor(id string, got *ToolResult, shown pictures) model.Result {
	if got == nil {
		return model.Result{Call: id, IsError: true, Content: []json.RawMessage{textBlock("This call was not made: the turn ended before it.")}}
	}
	seen := got.Seen()
	out := model.Result{Call: id, Content: seen.Content, Structured: seen.Structured, IsError: seen.IsError, Loads: seen.Loads}
	if words := troubleOf(seen); words != "" {
		out.Content = append([]json.RawMessage{textBlock(words)}, out.Content...)
	}
	for _, a := range seen.Artifacts {
		out.Content = append(out.Content, shown[a.ID]...)
	}
	if handle, offset, ok := rest(seen); ok {
		out.Content = append(out.Content, textBlock(fmt.Sprintf(`Read on with %s: {"handle": %q, "offset": %d}.`, registry.ReadResult, handle, offset)))
	}
	return out
}

// rest tells where the whole of a result is that stands cut in the ledger.
func rest(r ToolResult) (handle string, offset int, ok bool) {
	if len(r.Artifacts) == 0 || len(r.Content) == 0 {
		return "", 0, false
	}
	var block struct{ Text string }
	if json.Unmarshal(r.Content[0], &block) != nil {
		return "", 0, false
	}
	offset = strings.LastIndex(block.Text, cutMark)
	return r.Artifacts[0].ID.String(), offset, offset >= 0
}

// troubleOf is what went wrong, in words, with every fault of the arguments and
// the end of what a program printed; "" for a result.
func troubleOf(r ToolResult) string {
	if r.Code == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("Error " + r.Code + ": " + strings.Join(nonEmpty(r.Message, r.Action), " "))
	for _, f := range r.Errors {
		b.WriteString("\n- " + f.Path + ": " + f.Message)
	}
	if tail := r.Stderr; tail != "" {
		if len(tail) > stderrTail {
			tail = strings.ToValidUTF8(tail[len(tail)-stderrTail:], "")
		}
		b.WriteString("\nStandard error ends with:\n" + tail)
	}
	return b.String()
}

// textOf is a result in one text, for what the member ran by hand.
func textOf(r ToolResult) string {
	text := head(r.Content, maxInline)
	if text == "" && len(r.Structured) > 0 {
		text = string(r.Structured)
	}
	return strings.TrimSpace(strings.Join(nonEmpty(troubleOf(r), text), "\n"))
}
