package capability_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"

	"pgregory.net/rapid"
)

func TestTokensAreEstimatedByScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "a": 1, "word": 1, "words": 2, strings.Repeat("x", 4000): 1000,
		"날씨": 2, "天気予報": 4, "Привет": 3, "été": 2, "🙂": 1, "\xff": 1,
	} {
		if got := capability.TokenEstimate(text); got != want {
			t.Errorf("%.20q: %d tokens, want %d", text, got, want)
		}
	}
}

func TestMoreTextIsNeverFewerTokens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		whole, parts := capability.TokenEstimate(a+b), capability.TokenEstimate(a)+capability.TokenEstimate(b)
		if whole < capability.TokenEstimate(a) || whole > parts {
			t.Fatalf("%q has %d tokens, its parts %d", a+b, whole, parts)
		}
	})
}

func TestWhatAModelReads(t *testing.T) {
	t.Parallel()
	for kind, want := range map[capability.Kind]string{
		capability.KindMCP: "Sample mcp\nWhat it does.\n", capability.KindSkill: "Sample skill\nWhat it does.\n# Do\n",
		capability.KindCommand: "Review $ARGUMENTS", capability.KindEnvironment: "Look in /work.", capability.KindDelegation: "Be brief.",
		capability.KindHook: "",
	} {
		if got := sample(t, kind).ModelText(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := sample(t, capability.KindCode).ModelText(); !strings.Contains(got, `"required"`) || strings.Contains(got, "print(") {
		t.Errorf("of code: %q", got)
	}
}
