package views

// WorkspacesPath lists the member's workspaces even when he has one alone,
// which HomePath would lead straight into.
func WorkspacesPath() string { return "/?all=1" }

// NewWorkspacePath is where a workspace is made.
func NewWorkspacePath() string { return "/workspaces/new" }

// JoinPath takes the POST that makes an account with an invitation.
func JoinPath(token string) string { return join("invite", token, "join") }

// AccountSecurityPath is the password and the sessions of the member.
func AccountSecurityPath() string { return "/account/security" }

// EndSessionPath takes the POST that ends one of the member's sessions, or all
// others.
func EndSessionPath() string { return "/account/security/sessions" }

// AccountTokensPath lists the member's access tokens.
func AccountTokensPath() string { return "/account/tokens" }

// NewTokenPath is where an access token is made.
func NewTokenPath() string { return "/account/tokens/new" }

// RevokeTokenPath takes the POST that ends an access token.
func RevokeTokenPath() string { return "/account/tokens/revoke" }

// AccountSecretsPath lists the member's own secrets in a workspace; "" is the
// first of his workspaces.
func AccountSecretsPath(ws string) string { return withQuery("/account/secrets", "workspace", ws) }

// DismissPath takes the POST of a hint to put away for good, and of next,
// where to go from there.
func DismissPath() string { return "/account/hints" }

// MembersPath lists the people of a workspace.
func MembersPath(ws string) string { return SettingsPath(ws, "members") }

// RenameWorkspacePath takes the POST of a workspace's new name.
func RenameWorkspacePath(ws string) string { return join(ws, "settings", "name") }

// MemberRolePath takes the POST of a member's new role.
func MemberRolePath(ws, subject string) string {
	return join(ws, "settings", "members", subject, "role")
}

// RemoveMemberPath asks before a membership ends; the same takes the POST.
func RemoveMemberPath(ws, subject string) string {
	return join(ws, "settings", "members", subject, "remove")
}

// NewInvitationPath is where an invitation is made.
func NewInvitationPath(ws string) string { return join(ws, "settings", "members", "invite") }

// RevokeInvitationPath takes the POST that ends an invitation.
func RevokeInvitationPath(ws, id string) string {
	return join(ws, "settings", "members", "invitations", id, "revoke")
}

// SecretsPath lists the secrets of a workspace and the member's own ones.
func SecretsPath(ws string) string { return SettingsPath(ws, "secrets") }

// NewSecretPath is where a secret is made. The name may be empty; a personal
// one is the member's own. next is where to go afterwards, "" for the list.
func NewSecretPath(ws, name string, personal bool, next string) string {
	return withQuery(join(ws, "settings", "secrets", "new"), "name", name, "personal", mark(personal), "next", next)
}

// SecretPath is where a stored secret is replaced.
func SecretPath(ws, name string, personal bool, next string) string {
	return withQuery(join(ws, "settings", "secrets", name), "personal", mark(personal), "next", next)
}

// DeleteSecretPath asks before a secret is deleted; the same takes the POST.
func DeleteSecretPath(ws, name string, personal bool, next string) string {
	return withQuery(join(ws, "settings", "secrets", name, "delete"), "personal", mark(personal), "next", next)
}

func mark(on bool) string {
	if on {
		return "1"
	}
	return ""
}
