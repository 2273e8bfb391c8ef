package views

import "testing"

func TestPeoplePaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{JoinPath("a/b"), "/invite/a%2Fb/join"},
		{AccountSecretsPath(""), "/account/secrets"},
		{AccountSecretsPath("acme"), "/account/secrets?workspace=acme"},
		{MemberRolePath("acme", "s"), "/acme/settings/members/s/role"},
		{RemoveMemberPath("acme", "../x"), "/acme/settings/members/..%2Fx/remove"},
		{NewInvitationPath("acme"), "/acme/settings/members/invite"},
		{RevokeInvitationPath("acme", "i"), "/acme/settings/members/invitations/i/revoke"},
		{NewSecretPath("acme", "", false, ""), "/acme/settings/secrets/new"},
		{NewSecretPath("acme", "KEY", true, "/acme/store?q=1"), "/acme/settings/secrets/new?name=KEY&personal=1&next=%2Facme%2Fstore%3Fq%3D1"},
		{SecretPath("acme", "KEY", false, ""), "/acme/settings/secrets/KEY"},
		{DeleteSecretPath("acme", "KEY", true, ""), "/acme/settings/secrets/KEY/delete?personal=1"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
