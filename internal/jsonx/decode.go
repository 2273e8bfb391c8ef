package jsonx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/fault"
)

// Decode reads data strictly into the pointer: a fault of Check for what is
// not clean JSON, an Invalid fault listing every unknown field and every value
// of a wrong type at once, or nil. A null leaves its field at the zero value.
func Decode(data []byte, into any) error {
	doc, err := Parse(data, 0)
	if err != nil {
		return err
	}
	if err := fault.Fields(Mismatches(doc, into, "")); err != nil {
		return err
	}
	return unmarshal(data, into)
}

// DecodeAt is Decode for a part of a larger document that has been checked
// already: the faults carry base before their paths and come as a list, for
// the caller to add to his own. The value is filled only when there are none.
func DecodeAt(data []byte, into any, base string) []fault.Field {
	doc, err := Parse(data, 0)
	if err != nil {
		f := fault.From(err)
		return []fault.Field{{Path: base, Code: f.Code, Message: f.Message}}
	}
	if fields := Mismatches(doc, into, base); len(fields) > 0 {
		return fields
	}
	if err := unmarshal(data, into); err != nil {
		return []fault.Field{{Path: base, Code: "bad_value", Message: "This value cannot be read."}}
	}
	return nil
}

func unmarshal(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fault.New(fault.Malformed, "bad_json", "The JSON does not fit what is expected here.").Because(err)
	}
	return nil
}

// Mismatches compares a value of Parse with the type that the pointer leads to
// and returns every unknown field and wrong type, in the order of their paths.
func Mismatches(doc, into any, base string) []fault.Field {
	w := &walker{}
	w.walk(doc, reflect.TypeOf(into).Elem(), base)
	slices.SortStableFunc(w.fields, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
	return w.fields
}

type walker struct{ fields []fault.Field }

func (w *walker) add(path, code, format string, args ...any) {
	w.fields = append(w.fields, fault.Field{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	numberType    = reflect.TypeFor[json.Number]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
	textType      = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
)

func (w *walker) walk(v any, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if v == nil || t == rawType || t.Kind() == reflect.Interface {
		return
	}
	if t == numberType {
		w.expect(v, path, "a number", isNumber)
		return
	}
	if p := reflect.PointerTo(t); p.Implements(unmarshalType) || p.Implements(textType) {
		w.custom(v, t, path)
		return
	}
	w.byKind(v, t, path)
}

func (w *walker) byKind(v any, t reflect.Type, path string) {
	switch t.Kind() {
	case reflect.Struct:
		w.object(v, t, path)
	case reflect.Map:
		if m, ok := w.asObject(v, path); ok {
			for k, e := range m {
				w.walk(e, t.Elem(), Pointer(path, k))
			}
		}
	case reflect.Slice, reflect.Array:
		w.list(v, t, path)
	case reflect.String:
		w.expect(v, path, "a string", func(v any) bool { _, ok := v.(string); return ok })
	case reflect.Bool:
		w.expect(v, path, "true or false", func(v any) bool { _, ok := v.(bool); return ok })
	case reflect.Float32, reflect.Float64:
		w.expect(v, path, "a number", isNumber)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.expect(v, path, "a whole number", func(v any) bool {
			n, ok := v.(json.Number)
			_, err := strconv.ParseInt(string(n), 10, t.Bits())
			return ok && err == nil
		})
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.expect(v, path, "a whole number of 0 or more", func(v any) bool {
			n, ok := v.(json.Number)
			_, err := strconv.ParseUint(string(n), 10, t.Bits())
			return ok && err == nil
		})
	}
}

func (w *walker) list(v any, t reflect.Type, path string) {
	if t.Elem().Kind() == reflect.Uint8 {
		w.custom(v, t, path) // bytes travel as base64
		return
	}
	items, ok := v.([]any)
	if !ok {
		w.wrongType(v, path, "a list")
		return
	}
	for i, e := range items {
		w.walk(e, t.Elem(), Pointer(path, strconv.Itoa(i)))
	}
}

func (w *walker) asObject(v any, path string) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		w.wrongType(v, path, "an object")
	}
	return m, ok
}

func (w *walker) object(v any, t reflect.Type, path string) {
	m, ok := w.asObject(v, path)
	if !ok {
		return
	}
	known := structFields(t)
	for k, e := range m {
		ft, ok := known[k]
		if !ok {
			w.add(Pointer(path, k), "unknown_field", "There is no field %q here.%s", k, suggestion(k, known))
			continue
		}
		w.walk(e, ft, Pointer(path, k))
	}
}

// custom leaves the check to the type's own unmarshaller.
func (w *walker) custom(v any, t reflect.Type, path string) {
	raw, err := json.Marshal(v)
	if err != nil {
		w.add(path, "bad_value", "This value cannot be read.")
		return
	}
	if json.Unmarshal(raw, reflect.New(t).Interface()) != nil {
		w.add(path, "bad_value", "This value is not in the form expected here.")
	}
}

func (w *walker) expect(v any, path, want string, ok func(any) bool) {
	if !ok(v) {
		w.wrongType(v, path, want)
	}
}

func (w *walker) wrongType(v any, path, want string) {
	w.add(path, "wrong_type", "Expected %s, found %s.", want, Kind(v))
}

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

// Kind names what a value of Parse is, for messages.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// structFields maps the exact JSON names of a struct to their types. Unlike
// encoding/json it does not fold case: "Name" for "name" is a slip to report.
func structFields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || (f.Anonymous && name == "") {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out[name] = f.Type
	}
	return out
}

func suggestion(k string, known map[string]reflect.Type) string {
	names := make([]string, 0, len(known))
	for n := range known {
		names = append(names, n)
	}
	if near := Nearest(k, names); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}
