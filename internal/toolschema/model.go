package toolschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// rootless are the keywords that model APIs refuse at the root, and those that
// mean nothing to a model there.
var rootless = []string{
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies",
	"enum", "const", "$id", "id", "$anchor", "$comment", "$ref", "$vocabulary", "$dynamicAnchor", "$recursiveAnchor",
}

// modelForm derives what a model is shown. Where the references go round, the
// definitions stay beside the properties.
func modelForm(doc any, d *dialect) any {
	root, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	in := &inliner{root: root}
	out, _ := in.value(root, 0).(map[string]any)
	if in.cut {
		out = deepCopy(root).(map[string]any)
		if ref, ok := out["$ref"].(string); ok {
			if target, ok := lookup(root, ref).(map[string]any); ok {
				maps.Copy(out, deepCopy(target).(map[string]any))
			}
		}
	}
	if d.year < 2020 {
		n := &normaliser{dialect: latest}
		n.schema(out, "")
	}
	f := flatten(out, root, 0)
	for _, k := range rootless {
		delete(out, k)
	}
	out["type"] = "object"
	out["properties"] = f.named()
	delete(out, "required")
	if len(f.required) > 0 {
		out["required"] = toAny(f.required)
	}
	if note := f.note(); note != "" {
		desc, _ := out["description"].(string)
		out["description"] = strings.TrimSpace(desc + "\n" + note)
	}
	fillItems(out, "")
	return out
}

// flat is a schema's parameters with its alternatives folded together.
type flat struct {
	properties   map[string]any
	required     []string
	alternatives [][]string // the required names of each branch
}

func flatten(m, root map[string]any, depth int) flat {
	if ref, ok := m["$ref"].(string); ok && depth > 0 {
		if target, ok := lookup(root, ref).(map[string]any); ok && depth < 6 {
			return flatten(target, root, depth+1)
		}
	}
	f := flat{properties: map[string]any{}, required: names(m["required"])}
	if props, ok := m["properties"].(map[string]any); ok {
		maps.Copy(f.properties, props)
	}
	if depth >= 6 {
		return f
	}
	for _, b := range branches(m["allOf"]) {
		part := flatten(b, root, depth+1)
		f.merge(part.properties)
		f.required = union(f.required, part.required)
		f.alternatives = append(f.alternatives, part.alternatives...)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		f.fold(branches(m[k]), root, depth)
	}
	return f
}

// fold adds alternatives: every property of each, but only what all of them
// require.
func (f *flat) fold(list []map[string]any, root map[string]any, depth int) {
	var common []string
	for i, b := range list {
		part := flatten(b, root, depth+1)
		f.merge(part.properties)
		f.alternatives = append(f.alternatives, part.required)
		if i == 0 {
			common = part.required
		} else {
			common = slices.DeleteFunc(slices.Clone(common), func(n string) bool { return !slices.Contains(part.required, n) })
		}
	}
	f.required = union(f.required, common)
}

func (f *flat) merge(props map[string]any) {
	for name, p := range props {
		have, ok := f.properties[name]
		switch {
		case !ok:
			f.properties[name] = p
		case !reflect.DeepEqual(have, p):
			f.properties[name] = either(have, p)
		}
	}
}

func either(a, b any) any {
	m, ok := a.(map[string]any)
	if list, is := m["anyOf"].([]any); ok && is && len(m) == 1 {
		for _, e := range list {
			if reflect.DeepEqual(e, b) {
				return a
			}
		}
		return map[string]any{"anyOf": append(slices.Clone(list), b)}
	}
	return map[string]any{"anyOf": []any{a, b}}
}

// named gives the properties, with those that are only required by name.
func (f *flat) named() map[string]any {
	for _, set := range append(f.alternatives, f.required) {
		for _, name := range set {
			if _, ok := f.properties[name]; !ok {
				f.properties[name] = map[string]any{}
			}
		}
	}
	return f.properties
}

func (f *flat) note() string {
	var sets []string
	for _, alt := range f.alternatives {
		if len(alt) > 0 {
			sets = append(sets, strings.Join(alt, ", "))
		}
	}
	slices.Sort(sets)
	sets = slices.Compact(sets)
	if len(sets) < 2 {
		return ""
	}
	return fmt.Sprintf("Give one of these sets of parameters: %s.", strings.Join(sets, " | "))
}

// fillItems gives lists without an item schema one, as some model APIs insist.
func fillItems(m map[string]any, _ string) {
	if m["type"] == "array" && m["items"] == nil && m["prefixItems"] == nil {
		m["items"] = map[string]any{}
	}
	children(m, "", fillItems)
}

func branches(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func names(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

func toAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = deepCopy(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = deepCopy(e)
		}
		return out
	}
	return v
}

// Parameter is one top-level parameter as people are shown it.
type Parameter struct {
	Name        string
	Description string
	Required    bool
	Schema      json.RawMessage
}

// Parameters lists the parameters of the model's form, required ones first,
// then by name. A schema without properties gives none.
func (s *Schema) Parameters() []Parameter {
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(s.ForModel(), &form) != nil {
		return nil
	}
	out := make([]Parameter, 0, len(form.Properties))
	for name, raw := range form.Properties {
		var about struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(raw, &about) // a boolean schema has no description
		out = append(out, Parameter{name, about.Description, slices.Contains(form.Required, name), raw})
	}
	slices.SortFunc(out, func(a, b Parameter) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
