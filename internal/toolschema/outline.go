package toolschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// Types of a Line beside those of JSON Schema.
const (
	TypeEnum = "enum" // a string out of Values
	TypeAny  = "any"  // no type is said
)

// LineTypes lists the types of a Line in the order in which people read them.
var LineTypes = []string{"string", "number", "integer", "boolean", TypeEnum, "array", "object", TypeAny}

// ItemTypes lists what the items of an array can be said to be, beside "" for
// anything.
var ItemTypes = []string{"string", "number", "integer", "boolean", "object"}

// Line is one parameter of an Outline. What its fields cannot say stands in
// Rest, so that nothing of a schema is lost on the way through.
type Line struct {
	Name        string
	Type        string // one of LineTypes
	Description string
	Required    bool
	Default     json.RawMessage // nil for none
	Values      []string        // of an enum, at least one
	Items       string          // of an array: one of ItemTypes, or ""
	Rest        json.RawMessage // further keywords, an object; nil for none
}

// Outline is the schema of a tool's parameters as a list that a person fills
// in.
type Outline struct {
	Lines []Line
	Rest  json.RawMessage // further keywords of the whole, an object; nil for none
}

// maxLines is how many parameters a list shows.
const maxLines = 200

// OutlineOf reads a schema as a list. It is false for what no list shows: a
// schema that is not an object's, a parameter that is no schema object or whose
// name cannot be typed on one line, and more parameters than anybody reads.
func OutlineOf(raw json.RawMessage) (Outline, bool) {
	root, ok := membersOf(raw)
	if !ok || string(root.take("type")) != `"object"` {
		return Outline{}, false
	}
	var out Outline
	properties, ok := members(nil), true
	if given := root.take("properties"); given != nil {
		properties, ok = membersOf(given)
	}
	if !ok || len(properties) > maxLines {
		return Outline{}, false
	}
	required, ok := namesOf(root.take("required"))
	if !ok {
		return Outline{}, false
	}
	for _, p := range properties {
		line, ok := lineOf(p)
		if !ok {
			return Outline{}, false
		}
		if at := slices.Index(required, p.key); at >= 0 {
			line.Required, required = true, slices.Delete(required, at, at+1)
		}
		out.Lines = append(out.Lines, line)
	}
	if len(required) > 0 { // of parameters that are told of nowhere
		list, err := json.Marshal(required)
		if err != nil {
			return Outline{}, false
		}
		root = append(root, member{"required", list})
	}
	out.Rest = root.object()
	return out, true
}

// lineOf reads one parameter: what is plain goes to the fields, everything
// else stays in Rest as it is.
func lineOf(p member) (Line, bool) {
	schema, ok := membersOf(p.value)
	if !ok || p.key == "" || p.key != strings.TrimSpace(p.key) || strings.ContainsAny(p.key, "\r\n") {
		return Line{}, false
	}
	line := Line{Name: p.key, Type: TypeAny}
	var kind string
	if json.Unmarshal(schema.get("type"), &kind) == nil && slices.Contains(LineTypes, kind) && kind != TypeEnum && kind != TypeAny {
		line.Type = kind
		schema.take("type")
	}
	if line.Type == "string" {
		if values, ok := choicesOf(schema.get("enum")); ok {
			line.Type, line.Values = TypeEnum, values
			schema.take("enum")
		}
	}
	if line.Type == "array" {
		if items, ok := itemsOf(schema.get("items")); ok {
			line.Items = items
			schema.take("items")
		}
	}
	if json.Unmarshal(schema.get("description"), &line.Description) == nil && line.Description != "" {
		schema.take("description")
	}
	line.Default = schema.take("default")
	line.Rest = schema.object()
	return line, true
}

// choicesOf reads an enumeration of texts that can be written one per line.
func choicesOf(raw json.RawMessage) ([]string, bool) {
	var values []string
	if !isArray(raw) || json.Unmarshal(raw, &values) != nil || len(values) == 0 {
		return nil, false
	}
	var nulls []*string
	if json.Unmarshal(raw, &nulls) != nil || slices.Contains(nulls, nil) {
		return nil, false
	}
	for i, v := range values {
		if v == "" || v != strings.TrimSpace(v) || strings.ContainsAny(v, "\r\n") || slices.Contains(values[:i], v) {
			return nil, false
		}
	}
	return values, true
}

func itemsOf(raw json.RawMessage) (string, bool) {
	schema, ok := membersOf(raw)
	if !ok || len(schema) != 1 {
		return "", false
	}
	var kind string
	if json.Unmarshal(schema.get("type"), &kind) != nil || !slices.Contains(ItemTypes, kind) {
		return "", false
	}
	return kind, true
}

// namesOf reads the list of required parameters; nil for none. It is false for
// what is no list of different texts.
func namesOf(raw json.RawMessage) ([]string, bool) {
	if raw == nil {
		return nil, true
	}
	var names []*string
	if !isArray(raw) || json.Unmarshal(raw, &names) != nil {
		return nil, false
	}
	var out []string
	for _, name := range names {
		if name == nil || slices.Contains(out, *name) {
			return nil, false
		}
		out = append(out, *name)
	}
	return out, true
}

func isArray(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }

// Schema writes the outline as a schema. The faults stand at /lines/N/field
// and at /rest; with one of them there is no schema.
func (o Outline) Schema() (json.RawMessage, []fault.Field) {
	var faults []fault.Field
	var properties, required members
	names := []string{}
	for i, line := range o.Lines {
		at := jsonx.Pointer("/lines", strconv.Itoa(i))
		schema, bad := line.schema(at)
		faults = append(faults, bad...)
		if line.Name != "" && slices.ContainsFunc(properties, func(m member) bool { return m.key == line.Name }) {
			faults = append(faults, fault.Field{Path: at + "/name", Code: "repeated", Message: "Another parameter has this name."})
			continue
		}
		properties = append(properties, member{line.Name, schema})
		if line.Required {
			names = append(names, line.Name)
		}
	}
	rest, bad := restOf(o.Rest, "/rest", "type", "properties")
	faults = append(faults, bad...)
	more, ok := namesOf(rest.take("required"))
	if !ok {
		faults = append(faults, fault.Field{Path: "/rest", Code: "wrong_type", Message: "The list of required parameters is a list of names."})
	}
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if len(names) > 0 {
		list, err := json.Marshal(names)
		if err != nil {
			return nil, []fault.Field{{Path: "/lines", Code: "bad_text", Message: "A name holds what is no text."}}
		}
		required = members{{"required", list}}
	}
	whole := members{{"type", json.RawMessage(`"object"`)}, {"properties", properties.all()}}
	return slices.Concat(whole, required, rest).all(), nil
}

// schema writes one parameter.
func (l Line) schema(at string) (json.RawMessage, []fault.Field) {
	var faults []fault.Field
	add := func(field, code, message string) {
		faults = append(faults, fault.Field{Path: at + "/" + field, Code: code, Message: message})
	}
	if l.Name == "" {
		add("name", "required", "Every parameter has a name.")
	}
	var out members
	set := func(key string, value any) {
		if raw, err := json.Marshal(value); err == nil {
			out = append(out, member{key, raw})
		}
	}
	switch l.Type {
	case TypeAny:
	case TypeEnum:
		set("type", "string")
		set("enum", l.Values)
		if _, ok := choicesOf(out.get("enum")); !ok {
			add("values", "required", "Write the values that it can have, one per line and each once.")
		}
	default:
		if !slices.Contains(LineTypes, l.Type) {
			add("type", "not_allowed", "Choose one of the types that are offered.")
		}
		set("type", l.Type)
	}
	if l.Type == "array" && l.Items != "" {
		set("items", map[string]string{"type": l.Items})
	}
	if l.Description != "" {
		set("description", l.Description)
	}
	if l.Default != nil {
		if err := jsonx.Check(l.Default, MaxSize); err != nil {
			add("default", "bad_json", fault.From(err).Message)
		}
		out = append(out, member{"default", l.Default})
	}
	rest, bad := restOf(l.Rest, at+"/rest", out.keys()...)
	return slices.Concat(out, rest).all(), append(faults, bad...)
}

// restOf reads further keywords, which repeat none of those that are said.
func restOf(raw json.RawMessage, at string, said ...string) (members, []fault.Field) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if err := jsonx.Check(raw, MaxSize); err != nil {
		return nil, []fault.Field{{Path: at, Code: "bad_json", Message: fault.From(err).Message}}
	}
	rest, ok := membersOf(raw)
	if !ok {
		return nil, []fault.Field{{Path: at, Code: "wrong_type", Message: "Write further rules as a JSON object."}}
	}
	for _, key := range said {
		if rest.get(key) != nil {
			return nil, []fault.Field{{Path: at, Code: "repeated", Message: "The rule " + strconv.Quote(key) + " is said by another field already."}}
		}
	}
	return rest, nil
}
