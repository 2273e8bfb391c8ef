package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Request is what the model was asked, in one form for both protocols.
type Request struct {
	Provider  string // anthropic or openai
	Model     string
	System    []Text
	Messages  []Message
	Tools     []Tool
	MaxTokens int64
	Header    http.Header
	Raw       []byte // the body
}

// Text is a piece of text; Cached says that it ends what is to be kept.
type Text struct {
	Text   string
	Cached bool
}

// Message is one of the conversation. A tool's message of Chat Completions is
// one of the user's with a result.
type Message struct {
	Role    string
	Texts   []Text
	Calls   []ToolCall
	Results []Result
	Images  []string // media types
	Raw     json.RawMessage
}

// Text returns all texts of the message, one to a line.
func (m Message) Text() string { return joined(m.Texts) }

// ToolCall is a call that the conversation repeats.
type ToolCall struct {
	ID, Name  string
	Arguments string // as it came: an object's bytes or the string's content
}

// Result is the result of a call.
type Result struct {
	Call    string
	Texts   []Text
	Images  []string // media types
	Loads   []string // tool references
	IsError bool
	Cached  bool
}

// Text returns all texts of the result, one to a line.
func (r Result) Text() string { return joined(r.Texts) }

// Tool is one that was offered.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
	Deferred          bool
}

// Last returns the newest message, or an empty one.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// ToolNames lists the tools that were offered, in order.
func (r Request) ToolNames() []string {
	names := make([]string, 0, len(r.Tools))
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

func joined(texts []Text) string {
	parts := make([]string, 0, len(texts))
	for _, t := range texts {
		parts = append(parts, t.Text)
	}
	return strings.Join(parts, "\n")
}

// wireBlock is a content block of either protocol.
type wireBlock struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	IsError      bool            `json:"is_error"`
	ToolName     string          `json:"tool_name"`
	Content      json.RawMessage `json:"content"`
	CacheControl json.RawMessage `json:"cache_control"`
	Source       struct {
		MediaType string `json:"media_type"`
	} `json:"source"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// blocksOf reads content that is a string or a list of blocks.
func blocksOf(raw json.RawMessage) ([]wireBlock, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []wireBlock{{Type: "text", Text: text}}, nil
	}
	var blocks []wireBlock
	err := json.Unmarshal(raw, &blocks)
	return blocks, err
}

func (b wireBlock) cached() bool { return len(b.CacheControl) > 0 && string(b.CacheControl) != "null" }

func (b wireBlock) media() string {
	if b.Source.MediaType != "" {
		return b.Source.MediaType
	}
	media, _, _ := strings.Cut(strings.TrimPrefix(b.ImageURL.URL, "data:"), ";")
	return media
}
