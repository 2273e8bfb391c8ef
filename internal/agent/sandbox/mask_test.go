package sandbox

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMaskForms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9+/="\\<&éß漢😀]{6,40}`).Draw(t, "secret")
		before := rapid.StringN(0, 5, -1).Draw(t, "before")
		after := rapid.StringN(0, 5, -1).Draw(t, "after")
		encoded, _ := json.Marshal(secret)
		m := NewMask([]string{secret})
		for name, text := range map[string]string{
			"plain":           secret,
			"json":            string(encoded),
			"hex":             hex.EncodeToString([]byte(secret)),
			"url":             url.QueryEscape(secret),
			"base64":          base64.StdEncoding.EncodeToString([]byte(before + secret + after)),
			"base64 for urls": base64.RawURLEncoding.EncodeToString([]byte(before + secret + after)),
		} {
			if masked := m.Text("<" + text + ">"); !strings.Contains(masked, Masked) {
				t.Fatalf("%s: %q is left as %q", name, text, masked)
			}
		}
	})
}

func TestMaskJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, secret, in, want string }{
		{"string", "hunter22", `{"a":"x hunter22 y", "n":1.0}`, `{"a":"x [secret] y", "n":1.0}`},
		{"number", "123456", `{"a": 123456, "b": 1.50}`, `{"a":"[secret]","b":1.50}`},
		{"key", "hunter22", `{"hunter22":1}`, `{"[secret]":1}`},
		{"escaped", `pa"ss`, `{"a":"pa\"ss"}`, `{"a":"[secret]"}`},
		{"python's escapes", "pässé", `{"a":"p\u00e4ss\u00e9"}`, `{"a":"[secret]"}`},
		{"a word of JSON", "true", `{"a":true,"b":"true"}`, `{"a":true,"b":"[secret]"}`},
		{"part of a JSON secret", `{"type":"x","key":"0123456789abcdef"}`, `{"k":"0123456789abcdef"}`, `{"k":"[secret]"}`},
		{"too short", "abc", `{"a":"abc"}`, `{"a":"abc"}`},
		{"untouched", "hunter22", `{"a": 1e400}`, `{"a": 1e400}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := NewMask([]string{tt.secret}).JSON(json.RawMessage(tt.in)); string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestMaskTail(t *testing.T) {
	t.Parallel()
	m := NewMask([]string{"hunter22-and-more"})
	for in, want := range map[string]string{
		"22-and-more\nnext":           "[secret]\nnext",
		"hunter22-and-more\nnext":     "[secret]\nnext",
		"plain hunter22-and-more end": "plain [secret] end",
		"plain":                       "plain",
	} {
		if got := m.Tail(in); got != want {
			t.Errorf("Tail(%q) = %q, want %q", in, got, want)
		}
	}
}
