package capability

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/jsonx"
)

// Op is what happened to a part of the content.
type Op string

const (
	OpAdded   Op = "added"
	OpRemoved Op = "removed"
	OpChanged Op = "changed"
)

// Change is one difference. Path is a JSON pointer in which things that have a
// name of their own (files, secrets, settings, entries of a list of words)
// stand under it rather than under a number, so that an insertion is one
// change. Before is nil when added, After when removed.
type Change struct {
	Path   string          `json:"path"`
	Op     Op              `json:"op"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Text is the line diff of a long text, nil for all else.
	Text *TextDiff `json:"text,omitempty"`
}

// Changes is the difference of two contents.
type Changes struct {
	TypeChanged bool     `json:"typeChanged"`
	Changes     []Change `json:"changes"`
}

// Diff compares two contents part by part, in the stable order name,
// description, spec. Equal contents have no changes. Where the kind differs
// the specs are compared all the same, since a person wants to see both.
func Diff(base, candidate Content) Changes {
	out := Changes{Changes: []Change{}}
	out.TypeChanged = base.Spec != nil && candidate.Spec != nil && base.Spec.Kind() != candidate.Spec.Kind()
	d := differ{out: &out}
	d.compare("/name", base.Name, candidate.Name)
	d.compare("/description", base.Description, candidate.Description)
	d.compare(specPath, specTree(base.Spec), specTree(candidate.Spec))
	return out
}

// specTree is the spec as a value of jsonx.Parse. Raw JSON that cannot be read
// makes the whole one null, which Validate does not let happen.
func specTree(spec Spec) any {
	raw := EncodeSpec(spec)
	tree, err := jsonx.Parse(raw, len(raw))
	if err != nil {
		return nil
	}
	return tree
}

type differ struct {
	out *Changes
	// binary is set within a file of base64, whose lines say nothing.
	binary bool
}

func (d differ) compare(path string, before, after any) {
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			d.objects(path, b, a)
			return
		}
	case []any:
		if a, ok := after.([]any); ok {
			d.lists(path, b, a)
			return
		}
	}
	if spelt(before) != spelt(after) {
		d.changed(path, before, after)
	}
}

func (d differ) objects(path string, before, after map[string]any) {
	d.binary = before["encoding"] == EncodingBase64 || after["encoding"] == EncodingBase64
	for _, key := range union(sortedKeys(before), sortedKeys(after)) {
		b, was := before[key]
		a, is := after[key]
		d.pair(jsonx.Pointer(path, key), b, was, a, is)
	}
}

// pair compares what may be missing on one side.
func (d differ) pair(path string, before any, was bool, after any, is bool) {
	switch {
	case was && is:
		d.compare(path, before, after)
	case was:
		d.add(Change{Path: path, Op: OpRemoved, Before: encoded(before)}, before, nil)
	case is:
		d.add(Change{Path: path, Op: OpAdded, After: encoded(after)}, nil, after)
	}
}

func (d differ) changed(path string, before, after any) {
	d.add(Change{Path: path, Op: OpChanged, Before: encoded(before), After: encoded(after)}, before, after)
}

func (d differ) add(c Change, before, after any) {
	b, isB := before.(string)
	a, isA := after.(string)
	if !d.binary && (isB || before == nil) && (isA || after == nil) && (isLong(b) || isLong(a)) {
		text := Lines(b, a)
		c.Text = &text
	}
	d.out.Changes = append(d.out.Changes, c)
}

func isLong(s string) bool { return len(s) > 200 || strings.Contains(s, "\n") }

// lists compares by the entries' own names where each has one, else by
// position.
func (d differ) lists(path string, before, after []any) {
	b, okB := named(before)
	a, okA := named(after)
	if !okB || !okA {
		d.positions(path, before, after)
		return
	}
	found := len(d.out.Changes)
	for _, name := range union(b.names, a.names) {
		was, wasThere := b.values[name]
		is, isThere := a.values[name]
		d.pair(jsonx.Pointer(path, name), was, wasThere, is, isThere)
	}
	if len(d.out.Changes) == found && !slices.Equal(b.names, a.names) {
		d.changed(path, before, after) // only the order differs
	}
}

func (d differ) positions(path string, before, after []any) {
	for i := range max(len(before), len(after)) {
		var b, a any
		if i < len(before) {
			b = before[i]
		}
		if i < len(after) {
			a = after[i]
		}
		d.pair(jsonx.Pointer(path, strconv.Itoa(i)), b, i < len(before), a, i < len(after))
	}
}

type namedList struct {
	names  []string
	values map[string]any
}

// named reads a list whose entries all have different names: words, or objects
// with a path or name.
func named(list []any) (namedList, bool) {
	out := namedList{values: make(map[string]any, len(list))}
	for _, e := range list {
		name, ok := nameOf(e)
		if _, again := out.values[name]; !ok || again {
			return namedList{}, false
		}
		out.names = append(out.names, name)
		out.values[name] = e
	}
	return out, true
}

func nameOf(e any) (string, bool) {
	switch v := e.(type) {
	case string:
		return v, true
	case map[string]any:
		for _, key := range []string{"path", "name"} {
			if name, ok := v[key].(string); ok && name != "" {
				return name, true
			}
		}
	}
	return "", false
}

// union keeps the order of a, with what only b has after it.
func union(a, b []string) []string {
	seen := make(map[string]bool, len(a))
	for _, s := range a {
		seen[s] = true
	}
	out := slices.Clone(a)
	for _, s := range b {
		if !seen[s] {
			out = append(out, s)
		}
	}
	return out
}

// encoded writes a value of jsonx.Parse.
func encoded(v any) json.RawMessage {
	raw, err := marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

// spelt is equal for equal values; only scalars and mismatched containers are
// ever compared with it.
func spelt(v any) string { return string(bytes.TrimSpace(encoded(v))) }
