package i18n

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// keys returns a catalogue's keys. Plural forms that a language lacks are
// left out, so that languages with different plurals compare equal.
func keys(texts map[string]string) []string {
	var out []string
	for key := range texts {
		if stem, ok := strings.CutSuffix(key, ".one"); ok && texts[stem+".other"] != "" {
			continue
		}
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// Faults and the notes of an import speak English by themselves, so that their
// keys may stand in another language's catalogue alone.
func TestCataloguesHoldTheSameKeys(t *testing.T) {
	t.Parallel()
	korean := slices.DeleteFunc(keys(Korean.texts), func(key string) bool {
		return (strings.HasPrefix(key, "fault.") || strings.HasPrefix(key, "import.note.")) && !English.Has(key)
	})
	if diff := cmp.Diff(keys(English.texts), korean); diff != "" {
		t.Errorf("English and Korean differ (-en +ko):\n%s", diff)
	}
}

func TestTextsAgree(t *testing.T) {
	t.Parallel()
	for key, english := range English.texts {
		korean, ok := Korean.texts[key]
		if !ok {
			continue // a plural form, or told by the test of the keys
		}
		want, got := places(english), places(korean)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: places differ (-en +ko):\n%s", key, diff)
		}
		if strings.TrimSpace(english) == "" || strings.TrimSpace(korean) == "" {
			t.Errorf("%s: empty text", key)
		}
		if strings.Contains(english, "!") || strings.Contains(korean, "!") {
			t.Errorf("%s: exclamation mark", key)
		}
	}
}

func TestLoadRefusesAKeyInTwoFiles(t *testing.T) {
	t.Parallel()
	_, err := load(fstest.MapFS{
		"en/a.json": {Data: []byte(`{"x.y": "1"}`)},
		"en/b.json": {Data: []byte(`{"x.y": "2"}`)},
	}, "en")
	if err == nil || !strings.Contains(err.Error(), "x.y stands in en/a.json too") {
		t.Errorf("got %v, want an error that names key and file", err)
	}
}

var (
	// called finds the literal keys that are looked up, with a trailing dot
	// where a value is joined to them.
	called = regexp.MustCompile(`\b(T|N|Or)\((?:ctx, )?"([a-z0-9_.]+)"`)
	// literal finds everything that may be a key or the head of one.
	literal = regexp.MustCompile(`"([a-z0-9_]+(?:\.[a-z0-9_]+)*\.?)"`)
)

// source is the text of the hand-written Go and templ files, tests aside.
func source(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "node_modules" || strings.HasPrefix(name, ".") && path != root) {
			return filepath.SkipDir
		}
		written := strings.HasSuffix(name, ".templ") ||
			strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_templ.go") && !strings.HasSuffix(name, "_test.go")
		if entry.IsDir() || !written {
			return nil
		}
		body, err := os.ReadFile(path)
		texts[path] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestEveryKeyThatIsUsedExists(t *testing.T) {
	t.Parallel()
	for path, text := range source(t) {
		for _, call := range called.FindAllStringSubmatch(text, -1) {
			how, key := call[1], call[2]
			switch {
			case how == "Or": // has a fallback
			case strings.HasSuffix(key, "."), strings.HasSuffix(key, "_"):
				if !slices.ContainsFunc(keys(English.texts), func(k string) bool { return strings.HasPrefix(k, key) }) {
					t.Errorf("%s: no key begins with %q", path, key)
				}
			case how == "N" && !English.Has(key+".other"):
				t.Errorf("%s: no key %q", path, key+".other")
			case how == "T" && strings.Contains(key, ".") && !English.Has(key):
				t.Errorf("%s: no key %q", path, key)
			}
		}
	}
}

func TestEveryKeyIsUsed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, text := range source(t) {
		for _, match := range literal.FindAllStringSubmatch(text, -1) {
			found[match[1]] = true
		}
	}
	for _, key := range keys(English.texts) {
		if !used(found, key) {
			t.Errorf("key %q is used nowhere", key)
		}
	}
}

// used reports whether a key stands in the source as a whole, as the stem of
// a plural, as a fault's code, or by a head that a value is joined to.
func used(found map[string]bool, key string) bool {
	stem := strings.TrimSuffix(key, ".other")
	if found[key] || found[stem] {
		return true
	}
	if code, ok := strings.CutPrefix(key, "fault."); ok {
		return found[strings.TrimPrefix(strings.TrimSuffix(code, ".action"), "field.")]
	}
	for i, r := range key {
		if (r == '.' || r == '_') && found[key[:i+1]] {
			return true
		}
	}
	return false
}
