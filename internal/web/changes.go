package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/jsonx"
	"capstore/views"
)

// changes is the kernel's differences in words: what differs is named by the
// texts under the prefix, where within it by the rest of the path.
func (c *Ctx) changes(list []capability.Change, prefix string) []views.Change {
	out := make([]views.Change, 0, len(list))
	for _, change := range list {
		segments := pointer(strings.TrimPrefix(change.Path, "/spec"))
		part, rest := "", segments
		if len(segments) > 0 {
			part, rest = segments[0], segments[1:]
		}
		one := views.Change{
			Part: c.Locale.Or(prefix+part, part, nil), Path: strings.Join(rest, " › "), Op: string(change.Op),
			Before: readable(change.Before), After: readable(change.After),
		}
		if change.Text != nil {
			one.Text, one.Replaced = views.DiffHunks(*change.Text), change.Text.Replaced
		}
		out = append(out, one)
	}
	return out
}

// pointer takes a JSON pointer apart.
func pointer(path string) []string {
	var out []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		out = append(out, strings.NewReplacer("~1", "/", "~0", "~").Replace(segment))
	}
	return out
}

// readable writes a JSON value for people: texts as they are, lists and
// objects of one level without their brackets.
func readable(raw json.RawMessage) string {
	tree, err := jsonx.Parse(raw, len(raw))
	if err != nil || len(raw) == 0 {
		return ""
	}
	switch v := tree.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = inline(e)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		var parts []string
		for name, e := range v {
			parts = append(parts, name+": "+inline(e))
		}
		slices.Sort(parts)
		return strings.Join(parts, " · ")
	}
	return inline(tree)
}

// inline is a value within another.
func inline(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}
