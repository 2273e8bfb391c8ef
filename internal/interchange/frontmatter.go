package interchange

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// matter is front matter as text: what YAML makes of a value, a date or an
// octal number, is not what its author wrote.
type matter struct {
	keys   []string // in the order of the file
	values map[string]*yaml.Node
	// repaired is the front matter as it had to be rewritten, else "".
	repaired string
}

// textKeys are the fields that are one text each.
var textKeys = []string{"name", "description", "license", "compatibility"}

// keyLine begins a field at the left edge.
var keyLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.-]*)[ \t]*:(?:[ \t]|$)`)

// readMatter parses front matter strictly, and where that fails field by field:
// a field that YAML cannot read is taken as the text that stands there.
// firstLine is for messages.
func readMatter(text string, firstLine int) (*matter, error) {
	if line, found := mergeMarker(text); found {
		return nil, docFault("merge_markers", "Line %d holds the marker of an unresolved merge.", firstLine+line)
	}
	m, err := loadMatter(text)
	if err == nil && m.readable() {
		return m, m.checkRepeated()
	}
	fixed, ok := repair(text)
	if !ok {
		return nil, unreadable(err, firstLine)
	}
	m, fixErr := loadMatter(fixed)
	if fixErr != nil {
		return nil, unreadable(errors.Join(err, fixErr), firstLine)
	}
	m.repaired = fixed
	return m, m.checkRepeated()
}

func mergeMarker(text string) (int, bool) {
	for i, line := range strings.Split(text, "\n") {
		for _, mark := range []string{"<<<<<<< ", ">>>>>>> ", "======="} {
			if strings.HasPrefix(line, mark) {
				return i, true
			}
		}
	}
	return 0, false
}

func unreadable(err error, firstLine int) error {
	line, column := firstLine, 1
	if l, ok := errors.AsType[*yaml.LoadError](err); ok && l.Mark.Line > 0 {
		line, column = firstLine+l.Mark.Line-1, max(l.Mark.Column, 1)
	}
	return docFault("front_matter_unreadable", "The front matter cannot be read (line %d, column %d).", line, column).Because(err)
}

func loadMatter(text string) (*matter, error) {
	m := &matter{values: map[string]*yaml.Node{}}
	if strings.TrimSpace(text) == "" {
		return m, nil
	}
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		return nil, err
	}
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	if isNull(root) || root.Kind == 0 {
		return m, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, errors.New("front matter is no mapping")
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := root.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, errors.New("a key is no text")
		}
		m.keys = append(m.keys, key.Value)
		if _, again := m.values[key.Value]; !again {
			m.values[key.Value] = root.Content[i+1]
		}
	}
	return m, nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// readable reports whether the fields that are texts are read as texts: a
// description such as "[draft]" is a list to YAML.
func (m *matter) readable() bool {
	for _, k := range textKeys {
		if n := m.values[k]; n != nil && resolve(n).Kind != yaml.ScalarNode {
			return false
		}
	}
	return true
}

func (m *matter) checkRepeated() error {
	seen := map[string]bool{}
	for _, k := range m.keys {
		if seen[k] {
			return docFault("field_repeated", "The front matter gives %q twice.", clip(k, 60))
		}
		seen[k] = true
	}
	return nil
}

// resolve follows one alias; a bomb of aliases is never expanded.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// text gives a field's text, "" when it is absent, null or no text.
func (m *matter) text(key string) string {
	n := m.values[key]
	if n == nil {
		return ""
	}
	if n = resolve(n); n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

// words gives a field that may be a text or a list of texts, space-separated.
func (m *matter) words(key string) string {
	n := m.values[key]
	if n == nil {
		return ""
	}
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		return m.text(key)
	}
	var out []string
	for _, e := range n.Content {
		if e = resolve(e); e.Kind == yaml.ScalarNode && !isNull(e) {
			out = append(out, e.Value)
		}
	}
	return strings.Join(out, " ")
}

// metadata gives the map of texts, and the keys whose values are none.
func (m *matter) metadata() (out map[string]string, dropped []string) {
	n := m.values["metadata"]
	if n == nil {
		return nil, nil
	}
	if n = resolve(n); n.Kind != yaml.MappingNode {
		if !isNull(n) {
			dropped = append(dropped, "metadata")
		}
		return nil, dropped
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			dropped = append(dropped, key.Value)
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		if !isNull(value) {
			out[key.Value] = value.Value
		}
	}
	return out, dropped
}

// others lists the fields beyond the given ones.
func (m *matter) others(known []string) []string {
	var out []string
	for _, k := range m.keys {
		if !slices.Contains(known, k) {
			out = append(out, k)
		}
	}
	return out
}
