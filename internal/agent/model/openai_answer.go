package model

import (
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
)

// chatAnswer gathers a stream of Chat Completions.
type chatAnswer struct {
	config   Config
	ids      ids
	on       func(Delta)
	text     strings.Builder
	thoughts map[string]*strings.Builder // by the field that they came in
	calls    []*chatCall
	reason   string
	refused  bool
	usage    Usage
	model    string
}

// chatCall is a call of the answer, growing.
type chatCall struct {
	index int64
	given string // the provider's ID
	call  Call
	args  strings.Builder
	extra map[string]json.RawMessage
}

func (a *chatAnswer) take(e sdk.ChatCompletionChunk) {
	if e.Model != "" {
		a.model = e.Model
	}
	if e.JSON.Usage.Valid() {
		u := e.Usage
		d := u.PromptTokensDetails
		a.usage = Usage{
			Input:       max(0, u.PromptTokens-d.CachedTokens-d.CacheWriteTokens),
			CachedInput: d.CachedTokens, CacheWrite: d.CacheWriteTokens, Output: u.CompletionTokens,
		}
	}
	for _, choice := range e.Choices {
		if choice.Index != 0 {
			continue
		}
		a.hear(choice.Delta)
		if choice.FinishReason != "" {
			a.reason = choice.FinishReason
		}
	}
}

func (a *chatAnswer) hear(d sdk.ChatCompletionChunkChoiceDelta) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		if extra, ok := d.JSON.ExtraFields[field]; ok {
			a.think(field, stringOf(extra))
		}
	}
	if raw := d.JSON.Content.Raw(); strings.HasPrefix(raw, "[") {
		a.hearParts(raw)
	} else {
		a.say(d.Content)
	}
	if d.Refusal != "" {
		a.refused = true
		a.say(d.Refusal)
	}
	for _, call := range d.ToolCalls {
		a.call(call)
	}
}

// hearParts reads content as a list of texts and thoughts, as some send it.
func (a *chatAnswer) hearParts(raw string) {
	type textPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var parts []struct {
		textPart
		Thinking []textPart `json:"thinking"`
	}
	if json.Unmarshal([]byte(raw), &parts) != nil {
		return
	}
	for _, p := range parts {
		a.say(p.Text)
		for _, t := range p.Thinking {
			a.think("", t.Text)
		}
	}
}

func (a *chatAnswer) say(text string) {
	if text == "" {
		return
	}
	a.text.WriteString(text)
	a.on(Delta{Text: text})
}

func (a *chatAnswer) think(field, text string) {
	if text == "" {
		return
	}
	if a.thoughts == nil {
		a.thoughts = map[string]*strings.Builder{}
	}
	if a.thoughts[field] == nil {
		a.thoughts[field] = &strings.Builder{}
	}
	a.thoughts[field].WriteString(text)
	if field == "reasoning" && a.thoughts["reasoning_content"] != nil {
		return // the same thoughts under both names
	}
	a.on(Delta{Thinking: text})
}

// call takes a piece of a call.
func (a *chatAnswer) call(d sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	c := a.current(d)
	if c == nil {
		if d.Function.Name == "" && d.ID == "" && d.Function.JSON.Arguments.Raw() == "" {
			return
		}
		c = &chatCall{index: d.Index, given: d.ID, call: Call{ID: a.ids.take(d.ID)}}
		a.calls = append(a.calls, c)
	}
	if c.call.Name == "" && d.Function.Name != "" {
		c.call.Name = d.Function.Name
		a.on(Delta{Call: &Call{ID: c.call.ID, Name: c.call.Name}})
	}
	if raw := d.Function.JSON.Arguments.Raw(); strings.HasPrefix(raw, "{") {
		c.args.WriteString(raw) // an object where the protocol has a string
	} else {
		c.args.WriteString(d.Function.Arguments)
	}
	if extra, ok := d.JSON.ExtraFields["extra_content"]; ok {
		c.extra = map[string]json.RawMessage{"extra_content": json.RawMessage(extra.Raw())}
	}
}

// current finds the call that a piece belongs to, or nil for a new one. The
// index alone does not tell: some servers send it as 0 for every call, with
// another ID or without any.
func (a *chatAnswer) current(d sdk.ChatCompletionChunkChoiceDeltaToolCall) *chatCall {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if c.index != d.Index {
			continue
		}
		another := d.ID != "" && d.ID != c.given
		again := d.ID == "" && d.Function.Name != "" && json.Valid([]byte(c.args.String()))
		if d.Function.Name != "" && (another || again) {
			return nil
		}
		return c
	}
	return nil
}

func (a *chatAnswer) output() Output {
	out := Output{Text: a.text.String(), Usage: a.usage, Model: a.model}
	kept := opaque{Provider: a.config.Provider, Name: a.config.Name}
	for _, c := range a.calls {
		c.call.readArguments(c.args.String())
		out.Calls = append(out.Calls, c.call)
		if c.extra != nil {
			if kept.Calls == nil {
				kept.Calls = map[string]map[string]json.RawMessage{}
			}
			kept.Calls[c.call.ID] = c.extra
		}
	}
	if len(out.Calls) > 0 {
		kept.Fields = a.keptThoughts()
	}
	out.Opaque = kept.pack()
	out.end(a.stop(), a.reason != "")
	return out
}

// keptThoughts are given back beside calls only: while it works, a thinking
// model wants them, and afterwards some refuse them.
func (a *chatAnswer) keptThoughts() map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	for field, text := range a.thoughts {
		if raw, err := json.Marshal(text.String()); err == nil && field != "" {
			fields[field] = raw
		}
	}
	return fields
}

func (a *chatAnswer) stop() Stop {
	switch {
	case a.refused || a.reason == "content_filter":
		return StopRefused
	case a.reason == "length":
		return StopLength
	}
	return StopEnd
}

func stringOf(f respjson.Field) string {
	var s string
	if json.Unmarshal([]byte(f.Raw()), &s) != nil {
		return ""
	}
	return s
}
