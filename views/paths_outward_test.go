package views

import "testing"

func TestOutwardPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{ElsewherePath("acme"), "/acme/settings/agent/elsewhere"},
		{RegistryPath("acme"), "/registry/acme"},
		{MarketplacePath("acme", ""), "/registry/acme/marketplace.json"},
		{MarketplacePath("acme", OfCarried), "/registry/acme/marketplace.json?of=carried"},
		{MarketplaceFolderPath("acme", OfCarried), "/registry/acme/marketplace.zip?of=carried"},
		{PluginArchivePath("acme", "globex", "x", "1.0.0-rc.1"), "/registry/acme/plugins/globex/x/1.0.0-rc.1.zip"},
		{SkillIndexPath("acme", ""), "/registry/acme/skills"},
		{SkillArchivePath("acme", "_library", "a b", "0.0.0-d1"), "/registry/acme/skills/_library/a%20b/0.0.0-d1.zip"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s, want %s", tc.got, tc.want)
		}
	}
}
