package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"go.yaml.in/yaml/v4"
)

// isYAML reports whether a document's name says that it is YAML.
func isYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// isDockerFile reports whether a file of a tree describes one server for
// Docker's registry. Others called server.yaml are of other programs.
func isDockerFile(f TreeFile) bool {
	if base := strings.ToLower(path.Base(f.Path)); base != "server.yaml" && base != "server.yml" {
		return false
	}
	raw, err := readWithin(f, maxSettings)
	if err != nil {
		return false
	}
	root, err := parseYAML(raw)
	return err == nil && isDockerEntry(root)
}

// readYAML reads a configuration that is written in YAML: what it says is what
// a JSON document of the same shape would.
func readYAML(p string, raw []byte, o Options) []Item {
	root, err := parseYAML(raw)
	if err != nil {
		return []Item{{Path: p, Status: Refused, Fault: fault.From(err)}}
	}
	f := &jsonFile{path: p, options: o, names: map[string]string{}}
	if isDockerEntry(root) {
		return []Item{f.catalogEntry(p, root.text("name"), flatEntry(root))}
	}
	items := f.read(root)
	if len(items) == 0 {
		return []Item{{Path: p, Status: Refused, Fault: unknownYAML()}}
	}
	items[0].Notes = append(at(p, f.notes), items[0].Notes...)
	return items
}

func unknownYAML() *fault.Fault {
	return fault.New(fault.Invalid, "unknown_yaml", "It is YAML, but in none of the formats that are read here.").
		Do("Import an mcpServers configuration, or a server or a catalogue of Docker's registry.")
}

// badYAML is what cannot be read, and where.
func badYAML(code, what string, line int) *fault.Fault {
	return fault.New(fault.Invalid, code, "%s (line %d).", what, max(line, 1)).With("line", max(line, 1)).Do(correctFile)
}

// parseYAML gives a document that is one mapping. Aliases are refused: they can
// make a small file say very much.
func parseYAML(raw []byte) (*object, error) {
	if len(raw) > jsonx.MaxBody {
		return nil, fault.New(fault.TooLarge, "configuration_too_large", "The file is %d bytes long; at most %d are read.", len(raw), jsonx.MaxBody).Do(correctFile)
	}
	if f := badBytes(raw); f != nil {
		return nil, f.Do(correctFile)
	}
	var doc yaml.Node
	if err := yaml.Load(bytes.TrimPrefix(raw, []byte(byteOrderMark)), &doc); err != nil {
		line := 1
		if l, ok := errors.AsType[*yaml.LoadError](err); ok {
			line = l.Mark.Line
		}
		return nil, badYAML("bad_yaml", "The YAML cannot be read", line).Because(err)
	}
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	v, err := yamlValue(root, 0)
	if err != nil {
		return nil, err
	}
	out, ok := v.(*object)
	if !ok {
		return nil, unknownYAML()
	}
	return out, nil
}

func yamlValue(n *yaml.Node, depth int) (any, error) {
	if depth > jsonx.MaxDepth {
		return nil, badYAML("bad_yaml", "The YAML is nested too deep", n.Line)
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return yamlScalar(n), nil
	case yaml.SequenceNode:
		list := []any{}
		for _, e := range n.Content {
			v, err := yamlValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return yamlObject(n, depth)
	}
	return nil, badYAML("yaml_alias", "The YAML refers to another part of itself, which is not read here", n.Line)
}

func yamlObject(n *yaml.Node, depth int) (any, error) {
	out := &object{values: map[string]any{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, badYAML("bad_yaml", "A key of the YAML is no text", key.Line)
		}
		if out.has(key.Value) {
			return nil, badYAML("bad_yaml", "A key of the YAML stands twice in one mapping", key.Line)
		}
		v, err := yamlValue(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		out.keys = append(out.keys, key.Value)
		out.values[key.Value] = v
	}
	return out, nil
}

// yamlScalar is the value as JSON has it. A number that JSON has not, and a
// date, is the text that stands there.
func yamlScalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}
