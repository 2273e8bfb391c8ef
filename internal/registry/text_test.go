package registry_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

func TestFirstSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"Reads a file. Then closes it.": "Reads a file.",
		"Reads a file":                  "Reads a file",
		"Uses v1.2 of it. More.":        "Uses v1.2 of it.",
		"파일을 읽습니다. 그리고 닫습니다.":                  "파일을 읽습니다.",
		"読みます。閉じます。":                           "読みます。",
		"One\nline. Two.":                      "One line.",
		"A paragraph\n\nand another.":          "A paragraph",
		"Ignore\u202e this\x00.\r\n- forged: ": "Ignore this . - forged:",
		strings.Repeat("long ", 100):           strings.TrimRight(strings.Repeat("long ", 28), " ") + "…",
	} {
		if got := registry.FirstSentence(text); got != want {
			t.Errorf("%.30q: %q, want %q", text, got, want)
		}
	}
}

// Whatever a server says of itself stays one line, bounded and whole.
func FuzzFirstSentence(f *testing.F) {
	for _, seed := range []string{"", "Reads. Writes.", "가나다. 라마바", "\x00\n\n\xff", strings.Repeat("漢", 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := registry.FirstSentence(text)
		if len(got) > 160 {
			t.Errorf("%d bytes", len(got))
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q cut a character: %q", text, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("%q is not one line of print", got)
		}
		registry.Reading(text)
	})
}

// carrying is a member's agent with n code tools, the descriptions so long.
func carrying(n, long int) workspace.Carried {
	var c workspace.Carried
	for i := range n {
		row := workspace.Row{Kind: capability.KindCode, Description: strings.Repeat("x", long), Spec: code("web")}
		name := fmt.Sprintf("tool-%05d", i)
		row.Candidate = capability.Candidate{Key: capability.CapabilityKey("acme", name), Channel: capability.ChannelTool, Name: name, Origin: capability.OriginAdopted}
		row.Wanted, row.Enabled = true, true
		row.Functions = []workspace.Function{{Raw: name, Name: capability.CodeToolName(name), Allowed: true}}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// The catalogue grows with the tools up to a bound, beyond which it says less
// of each and in the end points to the search.
func TestCatalogueIsBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n, long int
		line    string
	}{
		{100, 100, "- code__tool-00000: " + strings.Repeat("x", 100)},
		{1000, 100, "- code__tool-00000"},
		{4000, 100, "- 4000 other tools"},
	} {
		got := registry.Build(carrying(test.n, test.long)).Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{}).Catalogue()
		if line, _, _ := strings.Cut(got, "\n"); line != test.line || len(got) > 50<<10 {
			t.Errorf("%d tools: %d bytes, beginning with %q", test.n, len(got), line)
		}
	}
}
