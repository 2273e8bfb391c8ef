package web

// peopleRoutes are the pages about people: joining, their account, members
// and secrets.
func (s *Site) peopleRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{$}", Access: SignedIn, handler: s.home},
		{Method: "GET", Pattern: "/{workspace}", Access: Member, handler: s.workspaceHome},
		{Method: "GET", Pattern: "/workspaces/new", Access: SignedIn, handler: s.newWorkspacePage},
		{Method: "POST", Pattern: "/workspaces/new", Access: SignedIn, handler: s.newWorkspace},
		{Method: "GET", Pattern: "/setup", Access: Anyone, handler: s.setupPage},
		{Method: "POST", Pattern: "/setup", Access: Anyone, handler: s.setup},
		{Method: "GET", Pattern: "/invite/{token}", Access: Anyone, handler: s.invitePage},
		{Method: "POST", Pattern: "/invite/{token}", Access: SignedIn, handler: s.acceptInvite},
		{Method: "POST", Pattern: "/invite/{token}/join", Access: Anyone, handler: s.joinByInvite},

		{Method: "GET", Pattern: "/account", Access: SignedIn, handler: s.accountPage},
		{Method: "POST", Pattern: "/account", Access: SignedIn, handler: s.saveProfile},
		{Method: "POST", Pattern: "/account/hints", Access: SignedIn, handler: s.dismissHint},
		{Method: "GET", Pattern: "/account/security", Access: SignedIn, handler: s.securityPage},
		{Method: "POST", Pattern: "/account/security", Access: SignedIn, handler: s.changePassword},
		{Method: "POST", Pattern: "/account/security/sessions", Access: SignedIn, handler: s.endSession},
		{Method: "GET", Pattern: "/account/tokens", Access: SignedIn, handler: s.tokensPage},
		{Method: "GET", Pattern: "/account/tokens/new", Access: SignedIn, handler: s.newTokenPage},
		{Method: "POST", Pattern: "/account/tokens/new", Access: SignedIn, handler: s.newToken},
		{Method: "POST", Pattern: "/account/tokens/revoke", Access: SignedIn, handler: s.revokeToken},
		{Method: "GET", Pattern: "/account/secrets", Access: SignedIn, handler: s.accountSecretsPage},

		{Method: "GET", Pattern: "/{workspace}/settings/members", Access: Member, handler: s.membersPage},
		{Method: "POST", Pattern: "/{workspace}/settings/name", Access: Member, handler: s.renameWorkspace},
		{Method: "GET", Pattern: "/{workspace}/settings/members/invite", Access: Member, handler: s.newInvitationPage},
		{Method: "POST", Pattern: "/{workspace}/settings/members/invite", Access: Member, handler: s.newInvitation},
		{Method: "POST", Pattern: "/{workspace}/settings/members/invitations/{id}/revoke", Access: Member, handler: s.revokeInvitation},
		{Method: "POST", Pattern: "/{workspace}/settings/members/{subject}/role", Access: Member, handler: s.setMemberRole},
		{Method: "GET", Pattern: "/{workspace}/settings/members/{subject}/remove", Access: Member, handler: s.removeMemberPage},
		{Method: "POST", Pattern: "/{workspace}/settings/members/{subject}/remove", Access: Member, handler: s.removeMember},

		{Method: "GET", Pattern: "/{workspace}/settings/secrets", Access: Member, handler: s.secretsPage},
		{Method: "GET", Pattern: "/{workspace}/settings/secrets/new", Access: Member, handler: s.newSecretPage},
		{Method: "POST", Pattern: "/{workspace}/settings/secrets/new", Access: Member, handler: s.newSecret},
		{Method: "GET", Pattern: "/{workspace}/settings/secrets/{name}", Access: Member, handler: s.secretPage},
		{Method: "POST", Pattern: "/{workspace}/settings/secrets/{name}", Access: Member, handler: s.replaceSecret},
		{Method: "GET", Pattern: "/{workspace}/settings/secrets/{name}/delete", Access: Member, handler: s.deleteSecretPage},
		{Method: "POST", Pattern: "/{workspace}/settings/secrets/{name}/delete", Access: Member, handler: s.deleteSecret},
	}
}
