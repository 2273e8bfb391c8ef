package capability_test

import (
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestCarriers(t *testing.T) {
	t.Parallel()
	secrets := []capability.RequiredSecret{
		{Name: "A"}, {Name: "B", Header: "X-Key"}, {Name: "C", Header: "X-Auth", Scheme: "Token"}, {Name: "D", Env: "D_KEY"},
	}
	http := capability.MCPSpec{URL: "https://example.com", RequiredSecrets: secrets[:3]}
	want := []capability.Carrier{
		{Secret: "A", Header: "Authorization", Prefix: "Bearer"}, {Secret: "B", Header: "X-Key"}, {Secret: "C", Header: "X-Auth", Prefix: "Token"},
	}
	if diff := cmp.Diff(want, http.Carriers()); diff != "" {
		t.Error(diff)
	}
	for i, value := range []string{"Bearer s", "s", "Token s"} {
		if got := want[i].Value("s"); got != value {
			t.Errorf("%+v carries %q", want[i], got)
		}
	}
	image := capability.MCPSpec{Image: "acme/x", RequiredSecrets: []capability.RequiredSecret{secrets[0], secrets[3]}}
	if diff := cmp.Diff([]capability.Carrier{{Secret: "A", Variable: "A"}, {Secret: "D", Variable: "D_KEY"}}, image.Carriers()); diff != "" {
		t.Error(diff)
	}
}

func TestAddressFromSettings(t *testing.T) {
	t.Parallel()
	settings := []capability.Setting{{Name: "region", Default: "eu"}, {Name: "team"}}
	for _, tc := range []struct {
		url    string
		values map[string]string
		want   string
		code   string
	}{
		{"https://example.com/mcp", nil, "https://example.com/mcp", ""},
		{"https://{region}.example.com/{team}", map[string]string{"team": "a b"}, "https://eu.example.com/a%20b", ""},
		{"https://{region}.example.com/", map[string]string{"region": "us-1"}, "https://us-1.example.com/", ""},
		{"https://example.com/{team}", map[string]string{"team": "../x?y#z"}, "https://example.com/..%2Fx%3Fy%23z", ""},
		{"https://{region}.example.com/", map[string]string{"region": "evil.com/"}, "", "bad_url"},
		{"https://{region}.example.com/", map[string]string{"region": "a@evil.com:1"}, "", "bad_url"},
		{"https://example.com/{team}", nil, "", "required"},
		{"http://{region}/", map[string]string{"region": "127.0.0.1"}, "", "loopback_not_allowed"},
	} {
		spec := capability.MCPSpec{URL: tc.url, Settings: settings}
		got, err := spec.Address(tc.values, capability.Rules{})
		code := ""
		if err != nil {
			code = fault.From(err).Fields[0].Code
		}
		if got != tc.want || code != tc.code {
			t.Errorf("%s with %v = %q, %q", tc.url, tc.values, got, code)
		}
	}
}
