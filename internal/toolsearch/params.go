package toolsearch

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

const (
	maxParams = 64
	maxDepth  = 6
	maxSchema = 1 << 20 // bytes
)

// ParamsOf reads the names and descriptions of a tool's arguments from its
// JSON schema: those of nested objects too, through local references, at most
// 64 in all. The nearer to the top an argument stands the earlier it comes. A
// schema that cannot be read has none.
func ParamsOf(schema json.RawMessage) []Param {
	var root any
	if len(schema) > maxSchema || json.Unmarshal(schema, &root) != nil {
		return nil
	}
	w := paramWalk{root: root, seen: map[string]bool{}}
	for level, depth := []any{root}, 0; len(level) > 0 && depth < maxDepth; depth++ {
		var next []any
		for _, node := range level {
			next = w.visit(node, next)
		}
		level = next
	}
	return w.found
}

type paramWalk struct {
	root  any
	seen  map[string]bool // references that were followed
	found []Param
}

// visit takes down the properties of one schema, and adds to next the schemas
// that stand under it.
func (w *paramWalk) visit(node any, next []any) []any {
	schema, ok := node.(map[string]any)
	if !ok || len(w.found) >= maxParams {
		return next
	}
	if ref, ok := schema["$ref"].(string); ok && !w.seen[ref] {
		w.seen[ref] = true
		next = append(next, resolve(w.root, ref))
	}
	props, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if len(w.found) >= maxParams {
			return next
		}
		about, _ := props[name].(map[string]any)
		text, _ := about["description"].(string)
		w.found = append(w.found, Param{Name: name, Description: text})
		next = append(next, props[name])
	}
	next = append(next, schema["items"])
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		some, _ := schema[key].([]any)
		next = append(next, some...)
	}
	return next
}

// resolve follows a reference within the document, such as #/$defs/Point. It
// returns nil when nothing stands there.
func resolve(root any, ref string) any {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := root
	for _, step := range strings.Split(path, "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[step]
	}
	return at
}
