package modeltest

import (
	"encoding/json"
	"fmt"
)

// readChat reads a request of Chat Completions. What the provider would refuse
// is an error.
func readChat(body []byte) (Request, error) {
	var doc struct {
		Model        string        `json:"model"`
		MaxTokens    int64         `json:"max_tokens"`
		MaxCompleted int64         `json:"max_completion_tokens"`
		Stream       bool          `json:"stream"`
		Messages     []chatMessage `json:"messages"`
		Tools        []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return Request{}, err
	}
	r := Request{Provider: "openai", Model: doc.Model, MaxTokens: doc.MaxTokens + doc.MaxCompleted, Raw: body}
	for _, m := range doc.Messages {
		if err := m.addTo(&r); err != nil {
			return r, err
		}
	}
	for _, t := range doc.Tools {
		tool := Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters}
		if err := checkSchema(tool); err != nil {
			return r, err
		}
		r.Tools = append(r.Tools, tool)
	}
	if !doc.Stream {
		return r, fmt.Errorf("stream: this model only streams")
	}
	return r, r.checkAnswers()
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	raw json.RawMessage
}

// UnmarshalJSON keeps the message's bytes beside its members.
func (m *chatMessage) UnmarshalJSON(raw []byte) error {
	type plain chatMessage
	if err := json.Unmarshal(raw, (*plain)(m)); err != nil {
		return err
	}
	m.raw = append(json.RawMessage(nil), raw...)
	return nil
}

func (m chatMessage) addTo(r *Request) error {
	blocks, err := blocksOf(m.Content)
	if err != nil {
		return err
	}
	message := Message{Role: m.Role, Raw: m.raw}
	for _, b := range blocks {
		if b.Type == "image_url" {
			message.Images = append(message.Images, b.media())
			continue
		}
		message.Texts = append(message.Texts, Text{Text: b.Text})
	}
	switch m.Role {
	case "system", "developer":
		if len(r.Messages) > 0 {
			return fmt.Errorf("messages: the system message must be the first")
		}
		r.System = append(r.System, message.Texts...)
		return nil
	case "tool":
		message.Role = "user"
		message.Results = []Result{{Call: m.ToolCallID, Texts: message.Texts}}
		message.Texts = nil
	}
	for _, c := range m.ToolCalls {
		if !json.Valid([]byte(c.Function.Arguments)) {
			return fmt.Errorf("messages: the arguments of %s are no JSON", c.Function.Name)
		}
		message.Calls = append(message.Calls, ToolCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	r.Messages = append(r.Messages, message)
	return nil
}

// tellChat streams a step as Chat Completions does.
func (w *teller) tellChat(r Request, s Step) {
	chunk := func(delta, finish string) {
		w.data(fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":%s,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`,
			quoted(r.Model), delta, finish))
	}
	chunk(`{"role":"assistant","content":""}`, "null")
	calls := 0
	for _, p := range s.parts {
		switch {
		case p.text != "":
			chunk(`{"content":`+quoted(p.text)+`}`, "null")
		case p.thinking != "":
			chunk(`{"reasoning_content":`+quoted(p.thinking)+`}`, "null")
		case p.call != nil:
			extra := ""
			if p.call.extra != "" {
				extra = "," + p.call.extra
			}
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}%s}]}`,
				calls, quoted(p.call.id), quoted(p.call.name), extra), "null")
			for _, piece := range p.call.pieces {
				chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, calls, quoted(piece)), "null")
			}
			calls++
		}
		if !w.happens(p) {
			return
		}
	}
	chunk(`{}`, quoted(s.finish()))
	u := s.tokens()
	w.data(fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":%s,"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d}}}`,
		quoted(r.Model), u.Input+u.CachedInput+u.CacheWrite, u.Output, u.Input+u.CachedInput+u.CacheWrite+u.Output, u.CachedInput, u.CacheWrite))
	w.data("[DONE]")
}

func (s Step) finish() string {
	switch {
	case s.stop == "max_tokens":
		return "length"
	case s.stop == "refusal":
		return "content_filter"
	case s.calls():
		return "tool_calls"
	}
	return "stop"
}
