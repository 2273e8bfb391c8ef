package views

import "strconv"

// NewChatPath is where a conversation starts with a tool picked, if any.
func NewChatPath(ws, tool string) string { return withQuery(ChatPath(ws), "tool", tool) }

// EditInChatPath is where a conversation about something starts, with a first
// message to go by.
func EditInChatPath(ws, ref, text string) string {
	return withQuery(ChatPath(ws), "ref", ref, "text", text)
}

// EditInPanelPath is the same in the panel.
func EditInPanelPath(ws, ref, text string) string {
	return withQuery(ChatPanelPath(ws), "new", "1", "ref", ref, "text", text)
}

// NewPanelPath is the panel with a conversation that has not begun.
func NewPanelPath(ws string) string { return withQuery(ChatPanelPath(ws), "new", "1") }

// PanelChatPath is the panel with a conversation.
func PanelChatPath(ws, id string) string { return withQuery(ChatPanelPath(ws), "id", id) }

// PickToolPath is where a conversation starts with the list of tools open.
func PickToolPath(ws string) string { return withQuery(ChatPath(ws), "pick", "1") }

func (p ComposerPick) query() []string {
	list := ""
	if p.List {
		list = "1"
	}
	return []string{"pick", list, "ask", p.Ask, "tool", p.Tool, "example", p.Example}
}

func (p ComposerPick) pagePath() string {
	return withQuery(chatBase(p.Workspace, p.ID), p.query()...)
}

func (p ComposerPick) fragmentPath() string {
	return withQuery(join(p.Workspace, "chat", "composer"), append([]string{"id", p.ID, "in", place(p.Panel)}, p.query()...)...)
}

// place says where the composer stands.
func place(panel bool) string {
	if panel {
		return "panel"
	}
	return ""
}

// chatBase is the conversation, or where one starts while there is none.
func chatBase(ws, id string) string {
	if id == "" {
		return ChatPath(ws)
	}
	return ConversationPath(ws, id)
}

// ChatActionPath takes the POST of a message or a tool's arguments.
func ChatActionPath(ws, id string) string { return chatBase(ws, id) }

// ChatSendPath is the same for the script, with where the answer goes.
func ChatSendPath(ws, id string, panel bool) string {
	return withQuery(chatBase(ws, id), "in", place(panel))
}

// ChatCompletePath lists what a line that begins with a slash may become.
func ChatCompletePath(ws, id string, panel bool) string {
	return withQuery(join(ws, "chat", "complete"), "id", id, "in", place(panel))
}

// ChatEventsPath is the stream of what happens after an entry.
func ChatEventsPath(ws, id string, after int64) string {
	return withQuery(join(ws, "chat", id, "events"), "after", strconv.FormatInt(after, 10))
}

// OlderChatPath is the page of a conversation before an entry.
func OlderChatPath(ws, id string, before int64) string {
	return withQuery(ConversationPath(ws, id), "before", strconv.FormatInt(before, 10))
}

// ChatOlderPath is the same as a fragment.
func ChatOlderPath(ws, id string, before int64) string {
	return withQuery(join(ws, "chat", id, "older"), "before", strconv.FormatInt(before, 10))
}

// StopTurnPath takes the POST that stops what is being worked on.
func StopTurnPath(ws, id string) string { return join(ws, "chat", id, "stop") }

// DeleteConversationPath takes the POST that removes a conversation.
func DeleteConversationPath(ws, id string) string { return join(ws, "chat", id, "delete") }

// ArtifactPath is a result that is kept beside the ledger.
func ArtifactPath(ws, id, artifact string) string {
	return join(ws, "chat", id, "artifacts", artifact)
}

// ArtifactImagePath is an image within a result, by its place among the blocks.
func ArtifactImagePath(ws, id, artifact string, block int) string {
	return join(ws, "chat", id, "artifacts", artifact, "images", strconv.Itoa(block))
}
