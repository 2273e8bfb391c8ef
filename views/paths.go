package views

import (
	"net/url"
	"strings"
)

// join builds a path of escaped segments, with a leading slash.
func join(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(escapeSegment(s))
	}
	return b.String()
}

// escapeSegment escapes one path segment. "." and ".." are escaped too, since
// a browser would resolve them away.
func escapeSegment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// withQuery adds the pairs whose value is not empty, in the order given.
func withQuery(path string, pairs ...string) string {
	var query []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query = append(query, url.QueryEscape(pairs[i])+"="+url.QueryEscape(pairs[i+1]))
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + strings.Join(query, "&")
}

// HomePath is the list of the member's workspaces.
func HomePath() string { return "/" }

// LoginPath is the sign-in page, which leads to next afterwards.
func LoginPath(next string) string { return withQuery("/login", "next", next) }

// LogoutPath takes the POST that ends the session.
func LogoutPath() string { return "/logout" }

// SetupPath is where the first admin is made.
func SetupPath() string { return "/setup" }

// InvitePath is where an invitation is taken up.
func InvitePath(token string) string { return join("invite", token) }

// AccountPath is the member's own page.
func AccountPath() string { return "/account" }

// WorkspacePath leads into a workspace.
func WorkspacePath(ws string) string { return join(ws) }

// StorePath is the store of a workspace.
func StorePath(ws string) string { return join(ws, "store") }

// MinePath lists what the workspace published.
func MinePath(ws string) string { return join(ws, "store", "mine") }

// NewCapabilityPath is where authoring starts; kind may be empty.
func NewCapabilityPath(ws, kind string) string {
	return withQuery(join(ws, "store", "new"), "kind", kind)
}

// CapabilityPath is the detail page of a capability.
func CapabilityPath(ws, source, id string) string { return join(ws, "store", source, id) }

// ChatPath is where the workspace's conversations start.
func ChatPath(ws string) string { return join(ws, "chat") }

// ConversationPath is one conversation.
func ConversationPath(ws, id string) string { return join(ws, "chat", id) }

// SettingsPath is one area of a workspace's settings, such as "tools".
func SettingsPath(ws, area string) string { return join(ws, "settings", area) }

// ChatPanelPath is the content of the panel beside every page.
func ChatPanelPath(ws string) string { return join(ws, "chat", "panel") }

// DemoLoginPath takes the POST that signs one of the demo's people in.
func DemoLoginPath() string { return "/demo/login" }
