package ui

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"pgregory.net/rapid"
)

func shown(t interface{ Fatal(...any) }, source, language string, numbers bool) *goquery.Document {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader("<pre>\n" + highlight(source, language, numbers) + "</pre>"))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Whatever the source and its language, what is shown is the source.
func TestCodeIsShownAsItIs(t *testing.T) {
	t.Parallel()
	languages := rapid.SampledFrom([]string{"", "python", "javascript", "json", "yaml", "bash", "html", "php", "no such language"})
	pieces := rapid.SampledFrom([]string{"def f(a):", "\n", "\n\n", "  ", "\t", "\"x", "'", "<b>&amp;", "/*", "# c", "${a}", "\u202e", "<?php", "{", "}", "`", "가"})
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "source"), "")
		language := languages.Draw(t, "language")
		if got := shown(t, source, language, false).Find("pre").Text(); got != source {
			t.Fatalf("%s: shown as %q, want %q", language, got, source)
		}
	})
}

// Texts that make the lexers' regular expressions slow stay readable; a hang
// would end the test by its time limit.
func TestCodeOfBadText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ language, unit string }{
		{"php", "\\"}, {"javascript", "a"}, {"perl", "<"}, {"ruby", "${"}, {"c++", "\n\\"}, {"php", "\n\\\\\\"}, {"javascript", "a a\n"},
	} {
		source := strings.Repeat(tc.unit, 60_000/len(tc.unit))
		if got := shown(t, source, tc.language, false).Find("pre").Text(); got != source {
			t.Errorf("%s: %d bytes shown of %d", tc.language, len(got), len(source))
		}
	}
}

func TestCodeHasNumbersAndClasses(t *testing.T) {
	t.Parallel()
	doc := shown(t, "x = 'a'\nprint(x)  # note\n", "python", true)
	if got := doc.Find(".ln").Text(); got != "12" {
		t.Errorf("line numbers %q, want 12", got)
	}
	if got := doc.Find(".c1").Text(); got != "# note" {
		t.Errorf("comment %q", got)
	}
}
