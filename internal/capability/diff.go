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
// change. Before is nil when added, After when removed, and both where they
// are longer than maxShownValue. A file that came or went is told without its
// content.
type Change struct {
	Path   string          `json:"path"`
	Op     Op              `json:"op"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Text is the line diff of a long text, nil for all else.
	Text *TextDiff `json:"text,omitempty"`
	// Binary is what a file was and is whose lines say nothing.
	Binary *BinaryChange `json:"binary,omitempty"`
	// RenamedFrom is the path of a file that had the same content in the base
	// and is there no more.
	RenamedFrom string `json:"renamedFrom,omitempty"`
}

// maxShownValue is how long a value of a change may be, in bytes of JSON.
const maxShownValue = 64 << 10

// Changes is the difference of two contents.
type Changes struct {
	TypeChanged bool     `json:"typeChanged"`
	Changes     []Change `json:"changes"`
}

// View says which parts of long texts are wanted, by the path of the change.
// A text that stands in it is given even where it is said to be replaced; the
// others share one MaxChangedLines, in the order of the changes.
type View map[string]Window

// Diff compares two contents part by part, in the stable order name,
// description, spec. Equal contents have no changes. Where the kind differs
// the specs are compared all the same, since a person wants to see both.
func Diff(base, candidate Content) Changes { return DiffWithin(base, candidate, nil) }

// comparing holds as many as are compared at once. Some contents take 200 MB
// to compare, for a second; measured on four files of a MiB each, eight of them
// at once took 1.7 GB. The others wait.
var comparing = make(chan struct{}, 2)

// DiffWithin is Diff with other parts of its long texts.
func DiffWithin(base, candidate Content, view View) Changes {
	comparing <- struct{}{}
	defer func() { <-comparing }()
	out := Changes{Changes: []Change{}}
	out.TypeChanged = base.Spec != nil && candidate.Spec != nil && base.Spec.Kind() != candidate.Spec.Kind()
	d := newDiffer(&out, view)
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
	out  *Changes
	view View
	left int // changed lines that may still be given unasked
	text textDiffer
}

func newDiffer(out *Changes, view View) *differ {
	return &differ{out: out, view: view, left: MaxChangedLines}
}

func (d *differ) compare(path string, before, after any) {
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

func (d *differ) objects(path string, before, after map[string]any) {
	for _, key := range union(sortedKeys(before), sortedKeys(after)) {
		b, was := before[key]
		a, is := after[key]
		d.pair(jsonx.Pointer(path, key), b, was, a, is)
	}
}

// pair compares what may be missing on one side.
func (d *differ) pair(path string, before any, was bool, after any, is bool) {
	if path == filesPath { // no files at all are as good as an empty list
		before, after, was, is = listOf(before), listOf(after), true, true
	}
	switch {
	case was && is:
		d.compare(path, before, after)
	case was:
		d.add(Change{Path: path, Op: OpRemoved, Before: encoded(before)}, before, nil)
	case is:
		d.add(Change{Path: path, Op: OpAdded, After: encoded(after)}, nil, after)
	}
}

func (d *differ) changed(path string, before, after any) {
	d.add(Change{Path: path, Op: OpChanged, Before: encoded(before), After: encoded(after)}, before, after)
}

func (d *differ) add(c Change, before, after any) {
	b, isB := before.(string)
	a, isA := after.(string)
	if (isB || before == nil) && (isA || after == nil) && (isLong(b) || isLong(a)) {
		c.Text = d.lines(c.Path, b, a)
	}
	d.append(c)
}

func (d *differ) append(c Change) {
	if len(c.Before) > maxShownValue {
		c.Before = nil
	}
	if len(c.After) > maxShownValue {
		c.After = nil
	}
	d.out.Changes = append(d.out.Changes, c)
}

// lines compares two texts, in the part that is wanted of them.
func (d *differ) lines(path, before, after string) *TextDiff {
	window, asked := d.view[path]
	if asked {
		text := d.text.lines(before, after, window, MaxChangedLines, true)
		return &text
	}
	text := d.text.lines(before, after, window, d.left, false)
	d.left -= text.Given
	return &text
}

func isLong(s string) bool { return len(s) > 200 || strings.ContainsAny(s, "\n\r") }

// lists compares by the entries' own names where each has one, else by
// position.
func (d *differ) lists(path string, before, after []any) {
	b, okB := named(before)
	a, okA := named(after)
	if !okB || !okA {
		d.positions(path, before, after)
		return
	}
	if path == filesPath {
		d.files(b, a)
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

func (d *differ) positions(path string, before, after []any) {
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
