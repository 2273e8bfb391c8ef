package mcppool

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"capstore/internal/fault"
)

// Result is what a tool answered. Its numbers are spelt as the server spelt
// them.
type Result struct {
	Content    []Block
	Structured json.RawMessage // nil when there is none
	IsError    bool            // the tool says that it failed
	Raw        json.RawMessage // the whole result, to be passed on unchanged
}

// Block is one part of an answer, in its place.
type Block struct {
	Type string // text, image, audio, resource, resource_link, or what the server made up
	// Text of a text block or text resource; for a type that is not known, a
	// placeholder that names it.
	Text string
	// Data of an image, an audio block or a binary resource.
	Data []byte
	// MediaType of Data as far as the bytes bear the declared one out, else
	// application/octet-stream. Of a text it is what the server declared.
	MediaType string
	URI       string
	Name      string
	Raw       json.RawMessage
}

func parseResult(raw json.RawMessage) (Result, error) {
	var got struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Type       string          `json:"resultType"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return Result{}, badResult(err)
	}
	if got.Type == "input_required" {
		return Result{}, fault.New(fault.Unavailable, "input_required", "The tool asks for something in the middle of the call, which is not answered here.")
	}
	r := Result{IsError: got.IsError, Raw: raw, Structured: given(got.Structured)}
	var blocks []json.RawMessage
	if len(got.Content) > 0 {
		if err := json.Unmarshal(got.Content, &blocks); err != nil {
			return Result{}, badResult(err)
		}
	}
	for _, b := range blocks {
		r.Content = append(r.Content, parseBlock(b))
	}
	return r, nil
}

func badResult(err error) error {
	return fault.New(fault.Unavailable, "bad_result", "The server's answer is no result of a tool.").
		Do("Tell whoever runs the server.").Because(err)
}

func parseBlock(raw json.RawMessage) Block {
	var got struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MimeType string `json:"mimeType"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
		Resource struct {
			URI      string  `json:"uri"`
			MimeType string  `json:"mimeType"`
			Text     string  `json:"text"`
			Blob     *string `json:"blob"`
		} `json:"resource"`
	}
	err := json.Unmarshal(raw, &got)
	b := Block{Type: got.Type, Raw: raw, URI: got.URI, Name: got.Name}
	if err != nil && got.Type != "" && !knownBlock(got.Type) {
		err = nil // only its type matters
	}
	if err != nil {
		return placeholder(b, "a part that cannot be read")
	}
	switch got.Type {
	case "text":
		b.Text, b.MediaType = got.Text, "text/plain"
	case "image", "audio":
		return binary(b, got.Data, got.MimeType)
	case "resource":
		b.URI, b.MediaType, b.Text = got.Resource.URI, got.Resource.MimeType, got.Resource.Text
		if got.Resource.Blob != nil {
			return binary(b, *got.Resource.Blob, got.Resource.MimeType)
		}
	case "resource_link":
		b.MediaType = got.MimeType
	default:
		return placeholder(b, fmt.Sprintf("a part of the type %q", clip(got.Type, 60)))
	}
	return b
}

func knownBlock(kind string) bool {
	switch kind {
	case "text", "image", "audio", "resource", "resource_link":
		return true
	}
	return false
}

func placeholder(b Block, what string) Block {
	b.Text = "(The answer holds " + what + ", which cannot be shown.)"
	return b
}

func binary(b Block, data, declared string) Block {
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		decoded, err = base64.RawStdEncoding.DecodeString(data)
	}
	if err != nil {
		return placeholder(b, fmt.Sprintf("a part of the type %q whose bytes are broken", clip(b.Type, 60)))
	}
	b.Data, b.MediaType = decoded, borneOut(declared, decoded)
	return b
}

// borneOut believes a declared image, audio or video type when the bytes look
// like one of its family, and no other: a page that is called an image would
// run in a browser.
func borneOut(declared string, data []byte) string {
	family, _, _ := strings.Cut(strings.ToLower(declared), "/")
	seen := http.DetectContentType(data)
	switch {
	case (family == "image" || family == "audio" || family == "video") && strings.HasPrefix(seen, family+"/"):
		return seen
	case family == "application" && seen == declared:
		return declared
	}
	return "application/octet-stream"
}
