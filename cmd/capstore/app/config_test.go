package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/cmd/capstore/app"
)

func TestPublicURL(t *testing.T) {
	t.Parallel()
	got, want := map[string]string{}, map[string]string{
		"127.0.0.1:8080 ":                        "http://127.0.0.1:8080",
		"0.0.0.0:80 ":                            "http://localhost:80",
		":9000 ":                                 "http://localhost:9000",
		"[::1]:8080 ":                            "http://[::1]:8080",
		"127.0.0.1:8080 https://caps.example":    "https://caps.example",
		"127.0.0.1:8080 https://caps.example/":   "https://caps.example",
		"127.0.0.1:8080 https://caps.example:44": "https://caps.example:44",
	}
	for in := range want {
		addr, base, _ := strings.Cut(in, " ")
		got[in] = app.Config{Addr: addr, BaseURL: base}.PublicURL().String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsShowNoSecret(t *testing.T) {
	t.Parallel()
	cfg := app.Config{Addr: "127.0.0.1:1", Data: "/d", SecretKey: "the-key", DatabaseURL: "postgres://u:the-password@db/x"}
	for _, s := range cfg.Redacted() {
		if strings.Contains(s[1], "the-key") || strings.Contains(s[1], "the-password") {
			t.Errorf("%s shows %q", s[0], s[1])
		}
	}
	cfg.DatabaseURL = "host=db password=the-password"
	for _, s := range cfg.Redacted() {
		if strings.Contains(s[1], "the-password") {
			t.Errorf("%s shows %q", s[0], s[1])
		}
	}
}
