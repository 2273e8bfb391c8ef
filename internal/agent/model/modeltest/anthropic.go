package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// readMessages reads a request of Messages. What the provider would refuse is
// an error.
func readMessages(body []byte) (Request, error) {
	var doc struct {
		Model     string          `json:"model"`
		MaxTokens int64           `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		System    json.RawMessage `json:"system"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
			Deferred    bool            `json:"defer_loading"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return Request{}, err
	}
	r := Request{Provider: "anthropic", Model: doc.Model, MaxTokens: doc.MaxTokens, Raw: body}
	system, err := blocksOf(doc.System)
	if err != nil {
		return r, err
	}
	for _, b := range system {
		r.System = append(r.System, Text{b.Text, b.cached()})
	}
	for _, m := range doc.Messages {
		message := Message{Role: m.Role, Raw: m.Content}
		blocks, err := blocksOf(m.Content)
		if err != nil {
			return r, err
		}
		for _, b := range blocks {
			if err := message.add(b); err != nil {
				return r, err
			}
		}
		r.Messages = append(r.Messages, message)
	}
	for _, t := range doc.Tools {
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.InputSchema, t.Deferred})
	}
	if !doc.Stream {
		return r, fmt.Errorf("stream: this model only streams")
	}
	return r, r.checkMessages()
}

func (m *Message) add(b wireBlock) error {
	switch b.Type {
	case "text":
		m.Texts = append(m.Texts, Text{b.Text, b.cached()})
	case "image":
		m.Images = append(m.Images, b.media())
	case "tool_use":
		m.Calls = append(m.Calls, ToolCall{b.ID, b.Name, string(b.Input)})
	case "tool_result":
		if len(m.Texts) > 0 {
			return fmt.Errorf("tool_result blocks must come before text")
		}
		r := Result{Call: b.ToolUseID, IsError: b.IsError, Cached: b.cached()}
		inner, err := blocksOf(b.Content)
		if err != nil {
			return err
		}
		for _, c := range inner {
			switch c.Type {
			case "text":
				r.Texts = append(r.Texts, Text{c.Text, c.cached()})
			case "image":
				r.Images = append(r.Images, c.media())
			case "tool_reference":
				r.Loads = append(r.Loads, c.ToolName)
			}
		}
		if len(r.Loads) > 0 && len(r.Loads) != len(inner) {
			return fmt.Errorf("tool_reference blocks must stand alone in their tool_result")
		}
		m.Results = append(m.Results, r)
	}
	return nil
}

// checkMessages refuses what Anthropic refuses.
func (r Request) checkMessages() error {
	if r.MaxTokens <= 0 {
		return fmt.Errorf("max_tokens: a number is wanted")
	}
	marks, loadable := 0, map[string]bool{}
	eager := len(r.Tools) == 0
	for _, t := range r.Tools {
		loadable[t.Name] = t.Deferred
		eager = eager || !t.Deferred
		if err := checkSchema(t); err != nil {
			return err
		}
	}
	if !eager {
		return fmt.Errorf("tools: one at least must not have defer_loading")
	}
	for _, s := range r.System {
		if s.Cached {
			marks++
		}
	}
	for _, m := range r.Messages {
		for _, t := range m.Texts {
			if strings.TrimSpace(t.Text) == "" {
				return fmt.Errorf("messages: text content blocks must be non-empty")
			}
			if t.Cached {
				marks++
			}
		}
		for _, result := range m.Results {
			if result.Cached {
				marks++
			}
			for _, name := range result.Loads {
				if !loadable[name] {
					return fmt.Errorf("tool_reference %q is no deferred tool", name)
				}
			}
		}
		for _, c := range m.Calls {
			if !strings.HasPrefix(c.Arguments, "{") {
				return fmt.Errorf("tool_use.input: an object is wanted")
			}
		}
	}
	if marks > 4 {
		return fmt.Errorf("cache_control: at most 4, not %d", marks)
	}
	return r.checkAnswers()
}

// checkAnswers holds of both protocols: calls and results in pairs.
func (r Request) checkAnswers() error {
	var open []string
	for _, m := range r.Messages {
		if m.Role == "assistant" || len(m.Results) == 0 {
			if len(open) > 0 {
				return fmt.Errorf("tool_use %v without tool_result", open)
			}
		}
		for _, result := range m.Results {
			i := indexOf(open, result.Call)
			if i < 0 {
				return fmt.Errorf("tool_result %q without tool_use", result.Call)
			}
			open = append(open[:i:i], open[i+1:]...)
		}
		if r.Provider == "anthropic" && m.Role == "user" && len(open) > 0 {
			return fmt.Errorf("tool_use %v without tool_result in the message after it", open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("tool_use %v without tool_result", open)
	}
	return nil
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}

func checkSchema(t Tool) error {
	var schema map[string]json.RawMessage
	if json.Unmarshal(t.Schema, &schema) != nil || string(schema["type"]) != `"object"` {
		return fmt.Errorf("tools.%s: the schema is no object's", t.Name)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
		if _, has := schema[word]; has {
			return fmt.Errorf("tools.%s: the schema has %s at its top", t.Name, word)
		}
	}
	return nil
}

// tellMessages streams a step as Messages does.
func (w *teller) tellMessages(r Request, s Step) {
	u := s.tokens()
	w.event("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":1}}}`,
		quoted(r.Model), u.Input, u.CacheWrite, u.CachedInput))
	w.event("ping", `{"type":"ping"}`)
	index, open := -1, ""
	turn := func(kind, block string) {
		if open == kind && kind != "tool_use" {
			return
		}
		w.closeBlock(index, open)
		index, open = index+1, kind
		w.event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
	}
	delta := func(body string) {
		w.event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, body))
	}
	for _, p := range s.parts {
		switch {
		case p.text != "":
			turn("text", `{"type":"text","text":""}`)
			delta(`{"type":"text_delta","text":` + quoted(p.text) + `}`)
		case p.thinking != "":
			turn("thinking", `{"type":"thinking","thinking":"","signature":""}`)
			delta(`{"type":"thinking_delta","thinking":` + quoted(p.thinking) + `}`)
		case p.call != nil:
			turn("tool_use", fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quoted(p.call.id), quoted(p.call.name)))
			for _, piece := range p.call.pieces {
				delta(`{"type":"input_json_delta","partial_json":` + quoted(piece) + `}`)
			}
		}
		if !w.happens(p) {
			return
		}
	}
	w.closeBlock(index, open)
	stop := s.stop
	if stop == "" && s.calls() {
		stop = "tool_use"
	} else if stop == "" {
		stop = "end_turn"
	}
	w.event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}}`, quoted(stop), u.Output))
	w.event("message_stop", `{"type":"message_stop"}`)
}

func (w *teller) closeBlock(index int, open string) {
	if open == "" {
		return
	}
	if open == "thinking" {
		w.event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"sig-%d"}}`, index, index))
	}
	w.event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}
