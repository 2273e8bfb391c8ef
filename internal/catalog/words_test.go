package catalog

import (
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"capstore/internal/capability"
)

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Read-me FIRST, please": {"read", "me", "first", "please"},
		"Café ＡＢＣ":              {"cafe", "abc"},
		"get_weather v2.1":      {"get", "weather", "v2", "1"},
		"송장 추출기":                {"송장", "추출기"},
		"請求書を読むtool":            {"請求", "求書", "書を", "を読", "読む", "tool"},
		"…!?":                   nil,
	} {
		if diff := cmp.Diff(want, splitWords(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
	if diff := cmp.Diff([]string{"getweathernow", "get", "weather", "now"}, nameWords("getWeatherNow")); diff != "" {
		t.Errorf("humps:\n%s", diff)
	}
}

// Whatever one types of a name, from its first letter to its last, finds it.
func TestAnyBeginningOfANameFindsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringN(1, 40, 64), rapid.StringMatching(`[A-Za-z]{1,12}( [a-z]{1,14}(ing|ies|y|ness)?){0,3}`),
			rapid.StringMatching(`[가-힣]{1,5}( [가-힣]{1,5}){0,2}`)).Draw(t, "name")
		terms := subjectMatter{content: capability.Content{Name: name, Spec: &capability.CommandSpec{}}}.terms()
		words := splitWords(name)
		if len(words) == 0 {
			return
		}
		word := rapid.SampledFrom(words).Draw(t, "word")
		typed := rapid.SampledFrom(prefixes(word)).Draw(t, "typed")
		asked, _ := queryWords(typed)
		for _, w := range asked {
			if _, found := terms[w.term]; !found {
				t.Fatalf("%q of %q asks for %q, which is not among the terms", typed, name, w.term)
			}
		}
	})
}

func TestRanksAreWithinTheirScale(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := subjectMatter{
			source: rapid.SampledFrom([]string{"acme", capability.FirstPartyOwner}).Draw(t, "source"), id: "x",
			deprecated: rapid.Bool().Draw(t, "deprecated"),
			content:    capability.Content{Name: "Some name", Description: "Some text", Spec: &capability.CommandSpec{Template: "Say it"}},
		}
		few, many := rapid.Int32Range(0, 1000).Draw(t, "few"), rapid.Int32Range(1000, 1<<30).Draw(t, "many")
		low, high := m.ranks(few), m.ranks(many)
		for term, rank := range low {
			if rank < 1 || high[term] < rank || (rank-1)/rankScale != (high[term]-1)/rankScale {
				t.Fatalf("%s: %d with %d adopters, %d with %d", term, rank, few, high[term], many)
			}
		}
	})
}

func FuzzQueryWords(f *testing.F) {
	for _, s := range []string{"", "a b", "송장을", "日本語", "\xff", "ﬁnd Ǆ", "e\u0301\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, q string) {
		words, _ := queryWords(q)
		if len(words) > maxWords {
			t.Fatalf("%d words", len(words))
		}
		for _, w := range words {
			if !utf8.ValidString(w.term) || slices.Contains([]byte(w.term), 0) {
				t.Fatalf("%q gives a term that the database refuses: %q", q, w.term)
			}
		}
	})
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add(cursor{Key: 1, PK: 2, Walk: "3:3:", Backward: true, Meant: [][]string{{"mail"}}}.encode("q"), "q")
	f.Add("AAAA", "")
	f.Fuzz(func(t *testing.T, s, query string) {
		c, err := decodeCursor(s, query)
		if err != nil || c == nil {
			return
		}
		if again, err := decodeCursor(c.encode(query), query); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q reads as %+v and then as %+v, %v", s, c, again, err)
		}
	})
}
