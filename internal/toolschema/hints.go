package toolschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// Hints lists the keys that the schema lets through without naming them: most
// likely slips, since the tool will ignore them. The call may go on. It returns
// nil for arguments that cannot be read.
func (s *Schema) Hints(args json.RawMessage) []fault.Field {
	root, ok := s.doc.(map[string]any)
	doc, field := parseArgs(args)
	if !ok || field != nil {
		return nil
	}
	h := &hinter{root: root}
	h.walk(root, doc, "", 0)
	return h.fields
}

type hinter struct {
	root   map[string]any
	fields []fault.Field
}

func (h *hinter) walk(schema map[string]any, v any, path string, depth int) {
	if depth > 16 || len(h.fields) >= maxFaults {
		return
	}
	known, open := h.known(schema, 0)
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			sub, ok := known[k]
			if !ok {
				h.unknown(k, known, v, open, path)
				continue
			}
			if m, ok := sub.(map[string]any); ok {
				h.walk(m, v[k], jsonx.Pointer(path, k), depth+1)
			}
		}
	case []any:
		items, ok := schema["items"].(map[string]any)
		for i, e := range v {
			if ok {
				h.walk(items, e, jsonx.Pointer(path, strconv.Itoa(i)), depth+1)
			}
		}
	}
}

func (h *hinter) unknown(k string, known map[string]any, given map[string]any, open bool, path string) {
	var free []string
	for n := range known {
		if _, used := given[n]; !used {
			free = append(free, n)
		}
	}
	near := jsonx.Nearest(k, free)
	switch {
	case near != "":
		h.fields = append(h.fields, fault.Field{Path: jsonx.Pointer(path, k), Code: "did_you_mean",
			Message: fmt.Sprintf("The tool does not name a parameter %q. Did you mean %q?", clip(k, 80), near)})
	case !open && len(known) > 0:
		h.fields = append(h.fields, fault.Field{Path: jsonx.Pointer(path, k), Code: "unknown_key",
			Message: fmt.Sprintf("The tool does not name a parameter %q and may ignore it.", clip(k, 80))})
	}
}

// known gathers the properties that the schema or its parts name, and whether
// it says that others are welcome.
func (h *hinter) known(schema map[string]any, depth int) (map[string]any, bool) {
	out := map[string]any{}
	if depth > 8 {
		return out, true
	}
	open := schema["patternProperties"] != nil
	switch more := schema["additionalProperties"].(type) {
	case bool:
		open = open || more
	case map[string]any:
		open = true
	}
	if props, ok := schema["properties"].(map[string]any); ok {
		maps.Copy(out, props)
	}
	var parts []map[string]any
	if ref, ok := schema["$ref"].(string); ok {
		if target, ok := lookup(h.root, ref).(map[string]any); ok {
			parts = append(parts, target)
		}
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		parts = append(parts, branches(schema[k])...)
	}
	for _, p := range parts {
		more, partOpen := h.known(p, depth+1)
		maps.Copy(out, more)
		open = open || partOpen
	}
	return out, open
}
