package toolschema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// Where subschemas stand, over all dialects.
var (
	inOne  = []string{"additionalProperties", "additionalItems", "items", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contentSchema"}
	inList = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	inMap  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// nullable are the keywords whose null says something.
var nullable = []string{"const", "default", "example"}

// wantString and friends are keywords that only annotate: one of a wrong type
// is dropped rather than refusing the tool for it.
var (
	wantString = []string{"title", "description", "$comment", "format", "contentMediaType", "contentEncoding"}
	wantBool   = []string{"deprecated", "readOnly", "writeOnly"}
	wantList   = []string{"examples"}
)

// children calls f for every subschema directly under m, with its pointer.
func children(m map[string]any, path string, f func(child map[string]any, path string)) {
	for _, k := range inOne {
		if c, ok := m[k].(map[string]any); ok {
			f(c, jsonx.Pointer(path, k))
		}
	}
	for _, k := range inList {
		if list, ok := m[k].([]any); ok {
			for i, e := range list {
				if c, ok := e.(map[string]any); ok {
					f(c, jsonx.Pointer(path, k, strconv.Itoa(i)))
				}
			}
		}
	}
	for _, k := range inMap {
		if named, ok := m[k].(map[string]any); ok {
			for name, e := range named {
				if c, ok := e.(map[string]any); ok {
					f(c, jsonx.Pointer(path, k, name))
				}
			}
		}
	}
}

// normaliser mends in place what authors often write and mean clearly.
type normaliser struct {
	dialect  *dialect
	warnings []fault.Field
}

func (n *normaliser) root(m map[string]any) {
	n.schema(m, "")
	slices.SortStableFunc(n.warnings, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
}

func (n *normaliser) drop(m map[string]any, path, key, why string) {
	delete(m, key)
	n.warn(jsonx.Pointer(path, key), fmt.Sprintf("%q %s and is left out.", key, why))
}

func (n *normaliser) warn(path, message string) {
	n.warnings = append(n.warnings, fault.Field{Path: path, Code: "schema_mended", Message: message})
}

func (n *normaliser) schema(m map[string]any, path string) {
	n.nulls(m, path)
	n.annotations(m, path)
	n.containers(m, path)
	n.identity(m, path)
	if n.dialect.year >= 6 {
		n.bounds(m, path)
	}
	if n.dialect.year >= 2020 {
		n.tuple(m, path)
	}
	children(m, path, n.schema)
}

func (n *normaliser) nulls(m map[string]any, path string) {
	for k, v := range m {
		if v == nil && !slices.Contains(nullable, k) {
			n.drop(m, path, k, "is null")
		}
	}
}

func (n *normaliser) annotations(m map[string]any, path string) {
	wrong := func(keys []string, ok func(any) bool) {
		for _, k := range keys {
			if v, has := m[k]; has && !ok(v) {
				n.drop(m, path, k, "is "+jsonx.Kind(v))
			}
		}
	}
	wrong(wantString, func(v any) bool { _, ok := v.(string); return ok })
	wrong(wantBool, func(v any) bool { _, ok := v.(bool); return ok })
	wrong(wantList, func(v any) bool { _, ok := v.([]any); return ok })
}

// containers mends empty lists for empty objects, a habit of PHP, and the
// boolean or empty "required" of draft 3 and 4.
func (n *normaliser) containers(m map[string]any, path string) {
	for _, k := range inMap {
		if list, ok := m[k].([]any); ok && len(list) == 0 {
			m[k] = map[string]any{}
			n.warn(jsonx.Pointer(path, k), fmt.Sprintf("%q is an empty list and is read as an empty object.", k))
		}
	}
	switch r := m["required"].(type) {
	case bool:
		n.drop(m, path, "required", "is a boolean, not a list of names")
	case []any:
		if len(r) == 0 {
			delete(m, "required")
		}
	}
	if t, ok := m["type"].(string); ok && strings.TrimSpace(t) == "" {
		n.drop(m, path, "type", "is empty")
	}
}

// identity takes out identifiers that are no identifiers: they would refuse a
// schema that nothing refers to by them.
func (n *normaliser) identity(m map[string]any, path string) {
	id, has := m["$id"]
	if !has {
		return
	}
	s, ok := id.(string)
	if !ok || (n.dialect.year >= 2019 && strings.Contains(strings.TrimSuffix(s, "#"), "#")) {
		n.drop(m, path, "$id", "is no identifier")
	}
}

// bounds turns draft 4's boolean exclusive bounds into numbers.
func (n *normaliser) bounds(m map[string]any, path string) {
	for exclusive, limit := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		on, ok := m[exclusive].(bool)
		if !ok {
			continue
		}
		delete(m, exclusive)
		if v, has := m[limit]; on && has {
			m[exclusive] = v
			delete(m, limit)
		}
		n.warn(jsonx.Pointer(path, exclusive), fmt.Sprintf("%q is a boolean, as in draft 4, and is read so.", exclusive))
	}
}

// tuple turns the list form of "items" into 2020-12's prefixItems.
func (n *normaliser) tuple(m map[string]any, path string) {
	list, ok := m["items"].([]any)
	if !ok {
		return
	}
	delete(m, "items")
	if len(list) > 0 {
		m["prefixItems"] = list
	}
	if rest, has := m["additionalItems"]; has {
		m["items"] = rest
		delete(m, "additionalItems")
	}
	n.warn(jsonx.Pointer(path, "items"), `"items" is a list, as before 2020-12, and is read as one schema for each place.`)
}

// acceptsObject reports whether the schema lets an object through as far as
// types alone tell, or else the type that it asks for.
func acceptsObject(root, m map[string]any, depth int) (string, bool) {
	if depth > 8 {
		return "", true
	}
	switch t := m["type"].(type) {
	case string:
		return t, t == "object"
	case []any:
		return fmt.Sprint(t), slices.Contains(t, any("object"))
	}
	if ref, ok := m["$ref"].(string); ok {
		if target, ok := lookup(root, ref).(map[string]any); ok {
			if t, ok := acceptsObject(root, target, depth+1); !ok {
				return t, false
			}
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if t, ok := someBranch(root, m[k], depth); !ok {
			return t, false
		}
	}
	return "", true
}

func someBranch(root map[string]any, v any, depth int) (string, bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return "", true
	}
	var last string
	for _, e := range list {
		branch, ok := e.(map[string]any)
		if !ok {
			return "", true
		}
		if last, ok = acceptsObject(root, branch, depth+1); ok {
			return "", true
		}
	}
	return last, false
}
