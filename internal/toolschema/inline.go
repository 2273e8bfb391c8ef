package toolschema

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	maxInlineDepth = 24
	maxInlineNodes = 4000
)

// lookup resolves a reference within the document: "#", a JSON pointer with its
// escapes, or the same after the root's own identifier. nil when there is none.
func lookup(root map[string]any, ref string) any {
	base, frag, _ := strings.Cut(ref, "#")
	if id, _ := root["$id"].(string); base != "" && base != strings.TrimSuffix(id, "#") {
		return nil
	}
	frag, err := url.PathUnescape(frag)
	if err != nil {
		return nil
	}
	if frag == "" {
		return root
	}
	if !strings.HasPrefix(frag, "/") {
		return nil
	}
	var at any = root
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for token := range strings.SplitSeq(frag[1:], "/") {
		switch v := at.(type) {
		case map[string]any:
			at = v[unescape.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// inliner copies a schema with its references put in place.
type inliner struct {
	root  map[string]any
	stack []string // references being inlined
	nodes int
	cut   bool // something was left as a note instead
}

func (in *inliner) value(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		return in.object(v, depth)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = in.value(e, depth)
		}
		return out
	}
	return v
}

func (in *inliner) object(m map[string]any, depth int) any {
	if in.nodes++; in.nodes > maxInlineNodes || depth > maxInlineDepth {
		in.cut = true
		return map[string]any{"description": "(left out: the schema is too large to show whole)"}
	}
	ref, ok := m["$ref"].(string)
	if !ok {
		return in.copy(m, depth)
	}
	target, ok := lookup(in.root, ref).(map[string]any)
	if !ok {
		in.cut = true
		return in.copy(m, depth)
	}
	if slices.Contains(in.stack, ref) {
		in.cut = true
		return again(ref, target)
	}
	in.stack = append(in.stack, ref)
	merged := in.object(target, depth+1)
	in.stack = in.stack[:len(in.stack)-1]
	out, ok := merged.(map[string]any)
	if !ok {
		return merged
	}
	siblings := maps.Clone(m)
	delete(siblings, "$ref")
	if rest, ok := in.copy(siblings, depth).(map[string]any); ok {
		maps.Copy(out, rest)
	}
	return out
}

// copy inlines the subschemas of m and takes everything else over as it is: a
// property may well be called "enum" or "$ref". Definitions are left behind.
func (in *inliner) copy(m map[string]any, depth int) any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		switch {
		case k == "$defs" || k == "definitions":
		case slices.Contains(inMap, k):
			out[k] = in.named(v, depth)
		case slices.Contains(inOne, k) || slices.Contains(inList, k):
			out[k] = in.value(v, depth+1)
		default:
			out[k] = v
		}
	}
	return out
}

func (in *inliner) named(v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for name, sub := range m {
		out[name] = in.value(sub, depth+1)
	}
	return out
}

// again stands where a schema comes round to itself.
func again(ref string, target map[string]any) map[string]any {
	name := ref[strings.LastIndexAny(ref, "/#")+1:]
	note := "Same shape as " + name + " above."
	if name == "" {
		note = "Same shape as the whole."
	}
	out := map[string]any{"description": note}
	if t, ok := target["type"]; ok {
		out["type"] = t
	}
	return out
}

func displayForm(doc any) any {
	root, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	in := &inliner{root: root}
	return in.value(root, 0)
}
