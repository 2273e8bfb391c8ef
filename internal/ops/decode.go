package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// DecodeBody reads data strictly into the pointer, which leads to the body of
// an operation's input. It returns a Malformed fault for what is no clean
// JSON, and an Invalid one with every unknown field, wrong type, missing field
// and, for a Checked body, fault of the content at once.
func DecodeBody(data []byte, into any) error {
	doc, err := jsonx.Parse(data, 0)
	if err != nil {
		return err
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return refused("", "wrong_type", "Expected an object, found %s.", jsonx.Kind(doc))
	}
	fields := jsonx.Mismatches(doc, into, "")
	fields = append(fields, missingFields(object, reflect.TypeOf(into).Elem())...)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(into)
	if len(fields) > 0 {
		if c, ok := into.(Checked); ok {
			fields = append(fields, c.Faults()...)
		}
		return fault.Fields(onePerPlace(fields))
	}
	if err != nil {
		return fault.New(fault.Malformed, "bad_json", "The JSON does not fit what is expected here.").Because(err)
	}
	return nil
}

// missingFields lists the fields that the body must have and the object has
// not, or has as null where null says nothing.
func missingFields(object map[string]any, body reflect.Type) []fault.Field {
	var out []fault.Field
	for _, f := range reflect.VisibleFields(body) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || (strings.Contains(options, "omit") && f.Tag.Get("required") != "true") {
			continue
		}
		v, there := object[name]
		if !there || (v == nil && !saysNull(f.Type)) {
			out = append(out, fault.Field{Path: jsonx.Pointer("", name), Code: "required", Message: fmt.Sprintf("The field %s is needed.", name)})
		}
	}
	return out
}

func saysNull(t reflect.Type) bool {
	_, ok := reflect.New(t).Interface().(interface{ nullable() })
	return ok
}

func (*Nullable[T]) nullable() {}

// onePerPlace keeps the first fault of each path, in the order of the paths.
func onePerPlace(fields []fault.Field) []fault.Field {
	slices.SortStableFunc(fields, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(fields, func(a, b fault.Field) bool { return a.Path == b.Path })
}
