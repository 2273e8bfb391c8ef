package web

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// chatItems turns ledger entries into what is shown, a call and its result
// together, and tells whether a call among them has not ended.
func (c *Ctx) chatItems(chat views.Chat, entries []agent.Entry) (items []views.ChatItem, running bool) {
	calls := map[string]*views.ChatCall{}
	for _, e := range entries {
		switch e.Kind {
		case agent.EntryMessage:
			if m, ok := payload[agent.Message](e); ok {
				items = append(items, views.ChatItem{Said: &views.ChatMessage{Text: m.Text}, At: e.At})
			}
		case agent.EntryModelOutput:
			if m, ok := payload[agent.ModelOutput](e); ok {
				items = append(items, views.ChatItem{Answer: c.chatAnswer(chat, m), At: e.At})
			}
		case agent.EntryToolCall:
			if m, ok := payload[agent.ToolCall](e); ok && e.Call != nil {
				call := c.chatCall(m)
				calls[e.Call.String()] = call
				items = append(items, views.ChatItem{Call: call, At: e.At})
			}
		case agent.EntryToolResult:
			m, ok := payload[agent.ToolResult](e)
			switch {
			case !ok:
			case e.Call == nil: // refused: nothing of it has started
				items = append(items, views.ChatItem{At: e.At, Trouble: c.chatTrouble(e.Kind, agent.Failure{
					Code: m.Code, Message: m.Message, Action: m.Action, Errors: m.Errors,
				})})
			case calls[e.Call.String()] != nil:
				c.fillResult(chat, calls[e.Call.String()], m)
			}
		case agent.EntryError, agent.EntryStop:
			if m, ok := payload[agent.Failure](e); ok {
				items = append(items, views.ChatItem{Trouble: c.chatTrouble(e.Kind, m), At: e.At})
			}
		}
	}
	for _, call := range calls {
		running = running || !call.Done
	}
	return items, running
}

func payload[T any](e agent.Entry) (T, bool) {
	var out T
	err := json.Unmarshal(e.Payload, &out)
	return out, err == nil
}

func (c *Ctx) chatAnswer(chat views.Chat, m agent.ModelOutput) *views.ChatAnswer {
	out := &views.ChatAnswer{Text: m.Text}
	if m.Text == "" {
		out.Text = c.T("chat.suggest")
		if len(m.Suggestions) == 0 {
			out.Text = c.T("chat.suggest_none")
		}
	}
	for _, s := range m.Suggestions {
		kind, tool := string(capability.KindCode), s.Name
		if s.Kind == "skill" {
			kind, tool = string(capability.KindSkill), skillTool(s.Name)
		} else if strings.HasPrefix(s.Name, "mcp__") {
			kind = string(capability.KindMCP)
		}
		out.Suggestions = append(out.Suggestions, views.ToolChoice{
			Kind: kind, Name: s.Name, Description: s.Description, Href: views.ConversationToolPath(chat.Workspace, chat.ID, tool, ""),
		})
	}
	return out
}

func (c *Ctx) chatCall(m agent.ToolCall) *views.ChatCall {
	call := &views.ChatCall{
		Name: m.Name, RawName: otherName(m.Name, m.Raw), Version: m.Version, Digest: m.Digest, Write: m.Write, Arguments: indented(m.Arguments), Secrets: m.Secrets,
	}
	call.Label = m.Key
	if m.Source != "" {
		call.Label = m.Source + "/" + m.ID + "@" + m.Version
		call.Href = views.CapabilityPath(c.Who.Workspace, m.Source, m.ID)
	}
	call.Hints = c.fieldTexts(m.Hints)
	return call
}

func (c *Ctx) fieldTexts(fields []fault.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, strings.TrimSpace(f.Path+" "+views.FieldText(c.Locale, f)))
	}
	return out
}

func (c *Ctx) fillResult(chat views.Chat, call *views.ChatCall, m agent.ToolResult) {
	f := &fault.Fault{Code: m.Code, Message: m.Message, Action: m.Action}
	call.Done, call.IsError, call.Code = true, m.IsError, m.Code
	if m.Code != "" {
		call.Message, call.Action = views.FaultText(c.Locale, f), views.FaultAction(c.Locale, f)
	}
	call.Fields = c.fieldTexts(m.Errors)
	call.Log, call.Stderr = m.Log, m.Stderr
	call.Driver, call.Unisolated = m.Driver, m.Driver != "" && !m.Isolated
	call.Duration = c.Locale.Duration(time.Duration(m.DurationMS) * time.Millisecond)
	for _, raw := range m.Content {
		call.Blocks = append(call.Blocks, c.chatBlock(call.Name, raw))
	}
	for _, a := range m.Artifacts {
		call.Artifacts = append(call.Artifacts, views.ChatArtifact{
			Href: views.ArtifactPath(chat.Workspace, chat.ID, a.ID.String()), Size: c.Locale.Bytes(int64(a.Bytes)),
		})
	}
}

func (c *Ctx) chatTrouble(kind agent.EntryKind, m agent.Failure) *views.ChatTrouble {
	f := &fault.Fault{Code: m.Code, Message: m.Message, Action: m.Action}
	t := &views.ChatTrouble{Tone: ui.Danger, Text: views.FaultText(c.Locale, f), Action: views.FaultAction(c.Locale, f), Fields: c.fieldTexts(m.Errors)}
	if kind == agent.EntryStop {
		t.Tone = ui.Info
	}
	return t
}

// chatBlock is one MCP content block as it is shown: JSON indented, pictures
// only when their bytes are what they claim, and a note for the rest.
func (c *Ctx) chatBlock(tool string, raw json.RawMessage) views.ChatBlock {
	var block struct{ Type, Text, Data, MimeType string }
	if json.Unmarshal(raw, &block) != nil {
		return views.ChatBlock{Note: c.T("chat.not_shown", "type", "?")}
	}
	switch block.Type {
	case "text":
		if t := strings.TrimSpace(block.Text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			if json.Valid([]byte(t)) {
				return views.ChatBlock{JSON: indented(json.RawMessage(t))}
			}
		}
		return views.ChatBlock{Text: block.Text}
	case "image":
		if data, err := base64.StdEncoding.DecodeString(block.Data); err == nil && shownImage(data) == block.MimeType {
			return views.ChatBlock{Image: "data:" + block.MimeType + ";base64," + block.Data, Alt: c.T("chat.result_of", "name", tool)}
		}
	}
	return views.ChatBlock{Note: c.T("chat.not_shown", "type", block.Type)}
}

// shownImage is the type of the picture by its bytes, "" for what no page shows.
func shownImage(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}

// indented lays JSON out over lines without touching its numbers.
func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// exampleIndex reads which worked call the address asks for; -1 for none.
func exampleIndex(c *Ctx, n int) int {
	i, err := strconv.Atoi(c.R.URL.Query().Get("example"))
	if err != nil || i < 0 || i >= n {
		return -1
	}
	return i
}
