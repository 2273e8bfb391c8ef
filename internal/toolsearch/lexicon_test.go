package toolsearch

import (
	"strings"
	"testing"
	"unicode"
)

// TestLexicon holds every line to the form that the reader takes it in.
func TestLexicon(t *testing.T) {
	t.Parallel()
	files, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{"things": true, "reads": true, "writes": true}
	for _, f := range files {
		data, err := lexiconFiles.ReadFile("lexicon/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		section := ""
		for n, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "@") {
				section = line[1:]
			}
			if !sections[section] || line == "" || strings.ContainsAny(line[:1], "#@") {
				continue
			}
			columns := strings.Split(line, "|")
			if len(columns) > 6 || strings.TrimSpace(columns[0]) == "" {
				t.Errorf("%s:%d has %d columns, or none of the tools' own words", f.Name(), n+1, len(columns))
			}
			for i, column := range columns {
				for _, r := range column {
					if unicode.Is(unicode.Hangul, r) != (i == 5 && unicode.IsLetter(r) && r > unicode.MaxLatin1) {
						t.Errorf("%s:%d column %d: %q is of another language", f.Name(), n+1, i+1, r)
						break
					}
				}
			}
		}
	}
	if n := len(lex.intents); n < 500 {
		t.Errorf("the lexicon has %d meanings, want some hundreds", n)
	}
}

func TestPhrases(t *testing.T) {
	t.Parallel()
	v := newVocabulary()
	v.put(inEnglish, "money_back", 1)
	v.put(inEnglish, "get_rid_of", 2)
	for text, want := range map[string]int{
		"money back":                    1,
		"the money comes back":          1,
		"money that never ever came in": 0,
		"back money":                    0,
		"get rid of":                    2,
		"get it all rid of":             2,
		"get rid":                       0,
	} {
		var stems []string
		for _, w := range splitWords(text) {
			stems = append(stems, inEnglish.stem(w.text))
		}
		got := 0
		for i := range stems {
			v.phrasesAt(stems, i, 2, func(m concept, _ []int) { got = int(m) })
		}
		if got != want {
			t.Errorf("%q has the meaning %d, want %d", text, got, want)
		}
	}
}
