package capability

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWithoutSecrets(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("a1B2", 6)
	for text, want := range map[string]string{
		"":                                "",
		"print('hello')":                  "print('hello')",
		"key = '" + token + "' # mine":    "key = '[secret]' # mine",
		token:                             "[secret]",
		"--token=abcdef\n--verbose":       "--token=[secret]\n--verbose",
		"API_KEY=${API_KEY}\nDB_PWD=abcd": "API_KEY=${API_KEY}\nDB_PWD=[secret]",
		"https://kim:pass1@db.example.com/x?api_key=abc&n=1":                         "https://kim:[secret]@db.example.com/x?api_key=[secret]&n=1",
		"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIx\n-----END RSA PRIVATE KEY-----\nb": "a\n[secret]\nb",
		"-----BEGIN PRIVATE KEY-----\nMIIx and no end":                               "[secret]",
	} {
		got, changed := WithoutSecrets(text)
		if got != want || changed != (want != text) {
			t.Errorf("%q became %q, %v; want %q", text, got, changed, want)
		}
	}
}

// Each secret of a long line is taken out where it stands, in one go through it.
func TestWithoutSecretsOfOneLongLine(t *testing.T) {
	t.Parallel()
	var line, want strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&line, "http://u:pAss%d@h ", i)
		want.WriteString("http://u:[secret]@h ")
	}
	if got, _ := WithoutSecrets(line.String()); got != want.String() {
		t.Errorf("it became %.200q", got)
	}
	if got, _ := WithoutSecrets("http://u:b:b@h"); got != "http://u:[secret]@h" {
		t.Errorf("it became %q", got)
	}
}

func TestWhatHoldsASecretIsTakenOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"A_TOKEN=", "x", "=", "sk_live_", "ghp_0123456789abcdefgh", " ", "https://a:b2@c", "'", "AKIAABCDEFGHIJKLMNOP", "ü",
		})).Draw(t, "parts"), "")
		got, changed := WithoutSecrets(line)
		if HoldsSecret(line) && !changed {
			t.Fatalf("%q stays", line)
		}
		if again, _ := WithoutSecrets(got); knownToken.MatchString(again) && again != got {
			t.Fatalf("%q became %q, then %q", line, got, again)
		}
	})
}
