package views

import (
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{HomePath(), "/"},
		{LoginPath(""), "/login"},
		{LoginPath("/acme/store?q=a b"), "/login?next=%2Facme%2Fstore%3Fq%3Da+b"},
		{InvitePath("a/b?c"), "/invite/a%2Fb%3Fc"},
		{StorePath("acme"), "/acme/store"},
		{NewCapabilityPath("acme", ""), "/acme/store/new"},
		{NewCapabilityPath("acme", "code"), "/acme/store/new?kind=code"},
		{CapabilityPath("acme", "globex", "pdf#1"), "/acme/store/globex/pdf%231"},
		{CapabilityPath("acme", "..", "."), "/acme/store/%2E%2E/%2E"},
		{SettingsPath("acme", "tools"), "/acme/settings/tools"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// Whatever a segment holds, the path has as many segments as were given and
// reads back as them, and leads nowhere but to this site.
func TestSegmentsSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source, id := rapid.StringN(1, 20, -1).Draw(t, "source"), rapid.StringN(1, 20, -1).Draw(t, "id")
		parsed, err := url.Parse(CapabilityPath("acme", source, id))
		if err != nil {
			t.Fatal(err)
		}
		if want := "/acme/store/" + source + "/" + id; parsed.Path != want || parsed.Host != "" || parsed.RawQuery != "" {
			t.Fatalf("read back as %+v, want the path %q alone", parsed, want)
		}
	})
}
