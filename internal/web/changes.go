package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/jsonx"
	"capstore/views"
)

// changes is the kernel's differences in words: what differs is named by the
// texts under the prefix, where within it by the rest of the path.
func (c *Ctx) changes(list []capability.Change, prefix string) []views.Change {
	out := make([]views.Change, 0, len(list))
	for i, change := range list {
		segments := pointer(strings.TrimPrefix(change.Path, "/spec"))
		part, rest := "", segments
		if len(segments) > 0 {
			part, rest = segments[0], segments[1:]
		}
		if part == "files" && len(rest) == 2 && rest[1] == "content" {
			rest = rest[:1]
		}
		one := views.Change{
			Part: c.Locale.Or(prefix+part, part, nil), Path: strings.Join(rest, " › "), Op: string(change.Op), Notes: c.changeNotes(change),
		}
		switch {
		case change.RenamedFrom != "":
			one.Op = "renamed"
		case change.Text != nil:
			one.Lines = views.Lines(change.Path, "diff-"+strconv.Itoa(i), *change.Text)
		case change.Binary == nil:
			one.Before, one.After = readable(change.Before), readable(change.After)
		}
		out = append(out, one)
	}
	return out
}

// changeNotes say what the lines of a text do not.
func (c *Ctx) changeNotes(change capability.Change) []string {
	var out []string
	if change.RenamedFrom != "" {
		out = append(out, c.T("change.renamed", "path", change.RenamedFrom))
	}
	if b := change.Binary; b != nil {
		out = append(out, c.T("change.binary", "before", c.blob(b.Before), "after", c.blob(b.After)))
	}
	if text := change.Text; text != nil && text.EndsDiffer() {
		key := "change.ends"
		if text.Changed() == 0 {
			key = "change.ends_only"
		}
		out = append(out, c.T(key, "before", c.lineEnd(text.Ends.Before), "after", c.lineEnd(text.Ends.After)))
	}
	return out
}

// blob is a file's content by its size and the head of its digest.
func (c *Ctx) blob(b *capability.Blob) string {
	if b == nil {
		return c.T("change.no_file")
	}
	return c.Locale.Bytes(int64(b.Size)) + " (" + b.SHA256[:12] + ")"
}

// lineEnd is how lines end, as editors call it.
func (c *Ctx) lineEnd(e capability.LineEnd) string {
	if e == capability.EndMixed {
		return c.T("change.ends_mixed")
	}
	return strings.ToUpper(string(e))
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
