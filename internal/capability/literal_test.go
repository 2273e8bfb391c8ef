package capability_test

import (
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

// Secrets that somebody pasted where all can read them are refused before they
// are stored, and nothing else is.
func TestLiteralSecrets(t *testing.T) {
	t.Parallel()
	image := func(args ...string) obj {
		return obj{"url": nil, "settings": nil, "requiredSecrets": nil, "auth": nil, "image": "acme/x:1", "args": args}
	}
	at := func(places ...string) []string {
		out := []string{}
		for _, p := range places {
			out = append(out, "/spec/args/"+p+" literal_secret")
		}
		return out
	}
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"option and value":   {[]string{"--api-key", "sk_live_ZZZ"}, at("1")},
		"any value":          {[]string{"--token", "hunter2hunter2"}, at("1")},
		"in one":             {[]string{"--password=p4ss"}, at("0")},
		"variable":           {[]string{"-e", "TFE_TOKEN=abc"}, at("1")},
		"database address":   {[]string{"postgres://u:p4ss@h/db"}, at("0")},
		"within a text":      {[]string{"--dsn=postgres://u:p4ss@h/db"}, at("0")},
		"token by its shape": {[]string{"run", "ghp_abcdefghijklmnop1234"}, at("1")},
		"private key":        {[]string{"-----BEGIN RSA PRIVATE KEY-----\nMII"}, at("0")},
		"several":            {[]string{"--secret", "abc", "ok", "GITHUB_TOKEN=x1"}, at("1", "3")},
		"name alone":         {[]string{"run", "-i", "--rm", "-e", "TOK", "img"}, at()},
		"placeholders":       {[]string{"-e", "TOK=${TOK}", "--token", "$TOKEN", "--api-key={KEY}", "postgres://u:${PW}@h/db", "--secret", "<yours>"}, at()},
		"options with none":  {[]string{"--token", "--verbose", "--token-limit", "100", "--max-token", "500", "--password-file", "/run/pw", "--secret", "/run/s"}, at()},
		"plain":              {[]string{"--mode", "fast", "MODE=fast", "--url=https://example.com/a?b=c", "tokenizer", "keys=1"}, at()},
	} {
		if diff := cmp.Diff(tc.want, faultsOf(t, capability.KindMCP, image(tc.args...))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for address, want := range map[string][]string{
		"https://example.com/mcp?api_key=abc123":            {"/spec/url credentials_in_url"},
		"https://example.com/mcp?k=ghp_abcdefghijklmnop123": {"/spec/url credentials_in_url"},
		"https://example.com/mcp?tenant=acme&page=1":        {},
	} {
		if diff := cmp.Diff(want, faultsOf(t, capability.KindMCP, obj{"url": address, "settings": nil})); diff != "" {
			t.Errorf("%s: %s", address, diff)
		}
	}
	env := obj{"env": obj{"API_TOKEN": "abc123", "MODE": "fast", "DSN": "mysql://u:p4ss@h/db", "OTHER_TOKEN": obj{"secretRef": "OTHER"}}}
	want := []string{"/spec/env/API_TOKEN literal_secret", "/spec/env/DSN literal_secret"}
	if diff := cmp.Diff(want, faultsOf(t, capability.KindDelegation, env)); diff != "" {
		t.Error(diff)
	}
}
