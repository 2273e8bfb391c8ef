package i18n

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"golang.org/x/text/feature/plural"
)

//go:embed en/*.json ko/*.json
var files embed.FS

// mustLoad merges a language's files. They are part of the binary, so a fault
// in one can only be a programmer's and stops the program at start.
func mustLoad(folder string) map[string]string {
	texts, err := load(files, folder)
	if err != nil {
		panic("i18n: " + err.Error())
	}
	return texts
}

// load merges the flat JSON objects of a folder. A key that stands in two
// files is an error that names both.
func load(fsys fs.FS, folder string) (map[string]string, error) {
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return nil, err
	}
	texts, home := map[string]string{}, map[string]string{}
	for _, entry := range entries {
		name := folder + "/" + entry.Name()
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		var area map[string]string
		if err := json.Unmarshal(body, &area); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for key, text := range area {
			if first, taken := home[key]; taken {
				return nil, fmt.Errorf("%s: key %s stands in %s too", name, key, first)
			}
			texts[key], home[key] = text, name
		}
	}
	return texts, nil
}

// N returns the text for n things: key.one or key.other as the language has
// it, with {n} filled in.
func (l Locale) N(key string, n int, pairs ...any) string {
	form := ".other"
	if plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0) == plural.One {
		form = ".one"
	}
	return l.T(key+form, append(pairs, "n", n)...)
}

var place = regexp.MustCompile(`\{([a-zA-Z][a-zA-Z0-9]*)\}`)

// places lists the names of a text's {name} places, in order.
func places(text string) []string {
	var names []string
	for _, found := range place.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

func (l Locale) fill(text string, params map[string]any) string {
	if !strings.Contains(text, "{") {
		return text
	}
	// By hand: as a regular expression it was a fortieth of every page.
	var b strings.Builder
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		name, tail, closed := strings.Cut(after, "}")
		switch value, ok := params[name]; {
		case !found:
			return b.String()
		case ok && closed:
			b.WriteString(l.show(value))
			rest = tail
		case closed && place.MatchString("{"+name+"}"):
			missing(text + " (value of {" + name + "})")
			fallthrough
		default:
			b.WriteByte('{')
			rest = after
		}
	}
	return b.String()
}

// show formats a value of a place: numbers with the language's separators.
func (l Locale) show(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int:
		return l.Number(int64(v))
	case int64:
		return l.Number(v)
	}
	return fmt.Sprint(value)
}

func (l Locale) params(pairs []any) map[string]any {
	params := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		params[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return params
}
