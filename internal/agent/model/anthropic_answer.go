package model

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// messagesAnswer gathers a stream of Messages.
type messagesAnswer struct {
	config Config
	ids    ids
	on     func(Delta)
	blocks []*messagesBlock
	text   strings.Builder // as it was told
	reason sdk.StopReason
	usage  Usage
	model  string
	over   bool // the stream said so
}

// messagesBlock is one block of the answer, growing.
type messagesBlock struct {
	index     int64
	kind      string
	text      strings.Builder // or thoughts, or arguments
	signature string
	data      string
	input     string // arguments that came whole, at the beginning
	call      Call
}

func (a *messagesAnswer) take(e sdk.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		a.model = string(e.Message.Model)
		u := e.Message.Usage
		a.usage = Usage{Input: u.InputTokens, CachedInput: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Output: u.OutputTokens}
	case "content_block_start":
		a.begin(e)
	case "content_block_delta":
		for _, b := range slices.Backward(a.blocks) {
			if b.index == e.Index {
				a.grow(b, e.Delta)
				break
			}
		}
	case "message_delta":
		a.reason = e.Delta.StopReason
		a.count(e.Usage)
	case "message_stop":
		a.over = true
	}
}

// count takes the running totals; what is not said stays as it was.
func (a *messagesAnswer) count(u sdk.MessageDeltaUsage) {
	if u.JSON.OutputTokens.Valid() {
		a.usage.Output = u.OutputTokens
	}
	if u.JSON.InputTokens.Valid() {
		a.usage.Input = u.InputTokens
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		a.usage.CachedInput = u.CacheReadInputTokens
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		a.usage.CacheWrite = u.CacheCreationInputTokens
	}
}

func (a *messagesAnswer) begin(e sdk.MessageStreamEventUnion) {
	from := e.ContentBlock
	b := &messagesBlock{index: e.Index, kind: from.Type, signature: from.Signature, data: from.Data}
	switch b.kind {
	case "text":
		a.tell(b, Delta{Text: from.Text})
	case "thinking":
		a.tell(b, Delta{Thinking: from.Thinking})
	case "tool_use":
		b.input = from.JSON.Input.Raw()
		b.call = Call{ID: a.ids.take(from.ID), Name: from.Name}
		a.on(Delta{Call: &Call{ID: b.call.ID, Name: b.call.Name}})
	}
	a.blocks = append(a.blocks, b)
}

func (a *messagesAnswer) grow(b *messagesBlock, d sdk.MessageStreamEventUnionDelta) {
	switch d.Type {
	case "text_delta":
		a.tell(b, Delta{Text: d.Text})
	case "thinking_delta":
		a.tell(b, Delta{Thinking: d.Thinking})
	case "signature_delta":
		b.signature += d.Signature
	case "input_json_delta":
		b.text.WriteString(d.PartialJSON)
	}
}

func (a *messagesAnswer) tell(b *messagesBlock, d Delta) {
	piece := d.Text + d.Thinking
	if piece == "" {
		return
	}
	b.text.WriteString(piece)
	a.text.WriteString(d.Text)
	a.on(d)
}

// output returns the answer as far as it came. A call that the stream did not
// finish is left out, since what is missing of it nobody knows.
func (a *messagesAnswer) output() Output {
	out := Output{Text: a.text.String(), Usage: a.usage, Model: a.model}
	kept := opaque{Provider: a.config.Provider, Name: a.config.Name}
	thinks := false
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			kept.keep(spoken{b.kind, b.text.String()}, strings.TrimSpace(b.text.String()) != "")
		case "thinking":
			thinks = thinks || b.signature != ""
			kept.keep(thought{b.kind, b.text.String(), b.signature}, b.signature != "")
		case "redacted_thinking":
			thinks = true
			kept.keep(withheld{b.kind, b.data}, true)
		case "tool_use":
			if b.text.Len() == 0 {
				b.text.WriteString(b.input)
			}
			b.call.readArguments(b.text.String())
			out.Calls = append(out.Calls, b.call)
			kept.keep(toolUse{b.kind, b.call.ID, b.call.Name, inputOf(b.call)}, true)
		}
	}
	if thinks {
		out.Opaque = kept.pack()
	}
	out.end(a.stop(), a.over)
	return out
}

func (o *opaque) keep(block any, worth bool) {
	if !worth {
		return
	}
	if raw, err := json.Marshal(block); err == nil {
		o.Content = append(o.Content, raw)
	}
}

func (a *messagesAnswer) stop() Stop {
	switch a.reason {
	case sdk.StopReasonMaxTokens, "model_context_window_exceeded":
		return StopLength
	case sdk.StopReasonRefusal:
		return StopRefused
	}
	return StopEnd
}

// end settles why the answer ended. Calls of an answer that broke off or was
// withheld are not run.
func (o *Output) end(stop Stop, over bool) {
	if !over || stop == StopRefused {
		o.Calls, o.Opaque = nil, nil
	}
	if stop == StopEnd && len(o.Calls) > 0 {
		stop = StopTools
	}
	if over {
		o.Stop = stop
	}
}
