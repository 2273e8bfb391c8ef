package views

// NewChatPath is where a conversation starts with a tool picked, if any.
func NewChatPath(ws, tool string) string { return withQuery(ChatPath(ws), "tool", tool) }

// ConversationToolPath is a conversation with a tool picked; example, when not
// empty, fills in that one of its worked calls.
func ConversationToolPath(ws, id, tool, example string) string {
	return withQuery(chatBase(ws, id), "tool", tool, "example", example)
}

// PickToolPath is a conversation with the list of tools open.
func PickToolPath(ws, id string) string { return withQuery(chatBase(ws, id), "pick", "1") }

// AskServerPath is the list of tools after the MCP server of the key was asked
// for its own.
func AskServerPath(ws, id, key string) string {
	return withQuery(chatBase(ws, id), "pick", "1", "ask", key)
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

// ChatBodyPath is the conversation as a fragment.
func ChatBodyPath(ws, id string) string { return join(ws, "chat", id, "body") }

// StopTurnPath takes the POST that stops what is being worked on.
func StopTurnPath(ws, id string) string { return join(ws, "chat", id, "stop") }

// DeleteConversationPath takes the POST that removes a conversation.
func DeleteConversationPath(ws, id string) string { return join(ws, "chat", id, "delete") }

// ArtifactPath is a result that is kept beside the ledger.
func ArtifactPath(ws, id, artifact string) string {
	return join(ws, "chat", id, "artifacts", artifact)
}
