package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"capstore/internal/agent"
	"capstore/views"
)

// chatBlocks are the content blocks of a result as they are shown, in order.
func (c *Ctx) chatBlocks(chat, tool string, m agent.ToolResult) []views.ChatBlock {
	var out []views.ChatBlock
	for _, raw := range m.Content {
		out = append(out, c.chatBlock(tool, raw))
	}
	if len(out) == 0 && len(m.Structured) > 0 {
		out = append(out, jsonBlock(m.Structured))
	}
	for _, a := range m.Artifacts {
		for _, at := range a.Images {
			out = append(out, views.ChatBlock{
				Image: views.ArtifactImagePath(c.Who.Workspace, chat, a.ID.String(), at), Alt: c.T("chat.result_of", "name", tool),
			})
		}
	}
	return out
}

// chatBlock is one MCP content block as it is shown: JSON to read, Markdown
// where it is, pictures only when their bytes are what they claim, and a note
// for the rest.
func (c *Ctx) chatBlock(tool string, raw json.RawMessage) views.ChatBlock {
	var block struct {
		Type, Text, Data, MimeType, URI, Name string
		Resource                              struct{ URI, Text, MimeType string }
	}
	if json.Unmarshal(raw, &block) != nil {
		return views.ChatBlock{Note: c.T("chat.not_shown", "type", "?")}
	}
	switch block.Type {
	case "text":
		return textBlock(block.Text)
	case "image":
		if data, err := base64.StdEncoding.DecodeString(block.Data); err == nil && shownImage(data) == block.MimeType {
			return views.ChatBlock{Image: "data:" + block.MimeType + ";base64," + block.Data, Alt: c.T("chat.result_of", "name", tool)}
		}
	case "resource":
		if block.Resource.Text != "" {
			return textBlock(block.Resource.Text)
		}
	case "resource_link":
		return views.ChatBlock{Text: strings.TrimSpace(block.Name + " " + block.URI)}
	}
	return views.ChatBlock{Note: c.T("chat.not_shown", "type", block.Type)}
}

func textBlock(text string) views.ChatBlock {
	if t := strings.TrimSpace(text); (strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[")) && json.Valid([]byte(t)) {
		return jsonBlock(json.RawMessage(t))
	}
	if isMarkdown(text) {
		return views.ChatBlock{Markdown: text}
	}
	return views.ChatBlock{Text: text}
}

func jsonBlock(raw json.RawMessage) views.ChatBlock {
	return views.ChatBlock{Value: readValue(raw), JSON: indented(raw)}
}

// markdownSigns are lines that nobody writes by chance in plain text.
var markdownSigns = regexp.MustCompile("(?m)^(#{1,6} \\S|```|~~~|\\|? ?:?-{3,}:? ?\\||[-*+] \\S.*\\n([-*+] \\S)|1[.)] \\S.*\\n2[.)] \\S|> \\S)|\\*\\*\\S[^\\n]*\\*\\*|\\]\\(https?://")

func isMarkdown(text string) bool { return markdownSigns.MatchString(text) }

// shownImage is the type of the picture by its bytes, "" for what no page shows.
func shownImage(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}

// imageIn is a picture within a stored result, by its place among the blocks;
// nil when there is none that its bytes say to be one.
func imageIn(result []byte, at int) (kind string, data []byte) {
	var whole struct {
		Content []struct{ Type, Data, MimeType string }
	}
	if json.Unmarshal(result, &whole) != nil || at < 0 || at >= len(whole.Content) || whole.Content[at].Type != "image" {
		return "", nil
	}
	data, err := base64.StdEncoding.DecodeString(whole.Content[at].Data)
	if err != nil || shownImage(data) != whole.Content[at].MimeType {
		return "", nil
	}
	return whole.Content[at].MimeType, data
}

// indented lays JSON out over lines without touching its numbers.
func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
