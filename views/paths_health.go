package views

// HealthPath is the report of what a member's agent has and why; member is ""
// for the reader's own.
func HealthPath(ws, member string) string {
	return withQuery(join(ws, "settings", "agent", "health"), "member", member)
}

// SeenPath is what a turn could see, by the turn alone.
func SeenPath(ws, turn string) string {
	return join(ws, "settings", "agent", "health", "turns", turn)
}

// ChatTurnPath is the same of a turn of a conversation.
func ChatTurnPath(ws, conversation, turn string) string {
	return join(ws, "chat", conversation, "turns", turn)
}

// path is the report as it is filtered.
func (f HealthFilter) path(ws string) string {
	return withQuery(HealthPath(ws, ""), "member", f.Member, "standing", f.Standing, "kind", f.Kind)
}
