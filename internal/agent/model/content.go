package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"capstore/internal/jsonx"
)

// part is a piece of a result in the two forms that providers know.
type part struct {
	Text  string
	Image *image
}

type image struct {
	Media string
	Data  string // base64
}

const (
	// imageLimit is the largest image in bytes of base64 that Anthropic takes;
	// OpenAI's is larger.
	imageLimit = 5 << 20
	// imagesLimit is how much of a request may be images. Anthropic takes 32 MiB
	// in all.
	imagesLimit = 20 << 20
)

var imageMedia = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// block is a content block of the Model Context Protocol.
type block struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Data        string `json:"data"`
	MIMEType    string `json:"mimeType"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Resource    struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text"`
		Blob     string  `json:"blob"`
	} `json:"resource"`
}

// partsOf reads a result. Images are left out beyond the room, in bytes of
// base64, which they use up; what is left out is named.
func partsOf(r Result, room *int) []part {
	var parts []part
	said := false
	for _, raw := range r.Content {
		p, ok := partOf(raw, room)
		if !ok {
			continue
		}
		parts = append(parts, p)
		said = said || sameJSON(p.Text, r.Structured)
	}
	if structured := strings.TrimSpace(string(r.Structured)); structured != "" && structured != "null" && !said {
		parts = append(parts, part{Text: structured})
	}
	return parts
}

// partOf reads one block; it is false for text that says nothing.
func partOf(raw json.RawMessage, room *int) (part, bool) {
	var b block
	if json.Unmarshal(raw, &b) != nil {
		return part{Text: "[content that cannot be read, left out]"}, true
	}
	switch b.Type {
	case "text":
		return part{Text: b.Text}, strings.TrimSpace(b.Text) != ""
	case "image":
		return imagePart(b.MIMEType, b.Data, room), true
	case "audio":
		return leftOut("audio", b.MIMEType, b.Data, ""), true
	case "resource_link":
		return part{Text: strings.TrimSpace(fmt.Sprintf("[%s](%s) %s", orElse(b.Name, b.URI), b.URI, b.Description))}, true
	case "resource":
		if b.Resource.Text != nil {
			return part{Text: b.Resource.URI + "\n" + *b.Resource.Text}, true
		}
		if strings.HasPrefix(b.Resource.MIMEType, "image/") {
			return imagePart(b.Resource.MIMEType, b.Resource.Blob, room), true
		}
		return leftOut("file "+b.Resource.URI, b.Resource.MIMEType, b.Resource.Blob, ""), true
	}
	return leftOut(fmt.Sprintf("content of the type %q", b.Type), b.MIMEType, "", ""), true
}

// imagePart returns an image, or the line that stands for one which no
// provider would take. What an image is shows in its first bytes: a wrong
// declaration makes the provider refuse the whole conversation.
func imagePart(media, data string, room *int) part {
	head, err := base64.StdEncoding.DecodeString(data[:min(len(data), 512)&^3])
	found := http.DetectContentType(head)
	switch {
	case err != nil || data == "" || len(data)%4 != 0:
		return leftOut("image", media, data, "it cannot be read")
	case !slices.Contains(imageMedia, found):
		return leftOut("image", media, data, "no model takes its type")
	case len(data) > imageLimit:
		return leftOut("image", found, data, "it is too large")
	case len(data) > *room:
		return leftOut("image", found, data, "there is no room for it")
	}
	*room -= len(data)
	return part{Image: &image{Media: found, Data: data}}
}

// leftOut names what the model is not given.
func leftOut(what, media, data, why string) part {
	text := what
	if media != "" {
		text += " (" + media + ")"
	}
	if data != "" {
		text += fmt.Sprintf(" of %d bytes", len(data)/4*3)
	}
	text += ", left out"
	if why != "" {
		text += ": " + why
	}
	return part{Text: "[" + text + "]"}
}

// sameJSON reports whether a text spells the same value.
func sameJSON(text string, value json.RawMessage) bool {
	text = strings.TrimSpace(text)
	if text == "" || len(value) == 0 {
		return false
	}
	a, err := jsonx.Canonical([]byte(text))
	if err != nil {
		return false
	}
	b, err := jsonx.Canonical(value)
	return err == nil && string(a) == string(b)
}

// resultParts reads every result of a conversation, the newest images first
// where there is no room for all. The keys are the calls' IDs.
func resultParts(messages []Message, room int) map[string][]part {
	parts := map[string][]part{}
	for _, m := range slices.Backward(messages) {
		for _, r := range slices.Backward(m.Results) {
			parts[r.Call] = partsOf(r, &room)
		}
	}
	return parts
}
