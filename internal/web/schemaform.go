package web

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/toolschema"
	"capstore/views"
	"capstore/views/ui"
)

// argPrefix keeps a tool's parameters apart from the form's own fields.
const argPrefix = "arg."

// shape is what a form needs to know of a parameter's schema.
type shape struct {
	Type      json.RawMessage   `json:"type"`
	Enum      []json.RawMessage `json:"enum"`
	Format    string            `json:"format"`
	Default   json.RawMessage   `json:"default"`
	MaxLength *int              `json:"maxLength"`
	Pattern   string            `json:"pattern"`
}

// control is how a parameter of the shape is asked for. Whatever one simple
// field cannot say is asked for as JSON.
func (s shape) control() string {
	var kind string
	if json.Unmarshal(s.Type, &kind) != nil {
		kind = ""
	}
	switch {
	case len(s.Enum) > 0 && len(s.Enum) <= 200, kind == "boolean":
		return views.ControlSelect
	case kind == "integer", kind == "number":
		return views.ControlNumber
	case kind == "string":
		if s.Format != "" || s.Pattern != "" || s.MaxLength != nil && *s.MaxLength <= 200 {
			return views.ControlText
		}
		return views.ControlLong
	}
	return views.ControlJSON
}

func shapeOf(p toolschema.Parameter) shape {
	var s shape
	_ = json.Unmarshal(p.Schema, &s) // a boolean schema has no shape: it is asked for as JSON
	return s
}

// schemaFields draws a schema's parameters as fields, with what was sent.
func (c *Ctx) schemaFields(schema *toolschema.Schema, values url.Values, form views.Form) []views.SchemaField {
	var out []views.SchemaField
	for _, p := range schema.Parameters() {
		s, name := shapeOf(p), argPrefix+p.Name
		f := views.SchemaField{Control: s.control(), Value: values.Get(name)}
		f.Field = ui.Field{Name: name, Label: p.Name, Help: p.Description, Optional: !p.Required, Error: form.Errors[name]}
		if f.Control == views.ControlText && s.Format == "date" {
			f.Type = "date"
		}
		if f.Control == views.ControlSelect {
			f.Options = c.options(s, p.Required, f.Value)
		}
		out = append(out, f)
	}
	return out
}

// options are the choices of an enumeration or a boolean. Values are JSON, so
// that 1 and "1" stay apart.
func (c *Ctx) options(s shape, required bool, chosen string) []ui.Option {
	var out []ui.Option
	if !required || chosen == "" {
		out = append(out, ui.Option{Value: "", Label: c.T("chat.not_set"), Selected: chosen == ""})
	}
	enum := s.Enum
	if len(enum) == 0 {
		enum = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	}
	for _, raw := range enum {
		label := string(raw)
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			label = text
		} else if label == "true" {
			label = c.T("chat.yes")
		} else if label == "false" {
			label = c.T("chat.no")
		}
		out = append(out, ui.Option{Value: string(raw), Label: label, Selected: string(raw) == chosen})
	}
	return out
}

// readFields makes the arguments from the sent fields. Numbers keep every
// digit that was typed. An empty field is left out, but for a required text.
func readFields(schema *toolschema.Schema, form url.Values) (json.RawMessage, error) {
	var body bytes.Buffer
	var faults []fault.Field
	body.WriteByte('{')
	for _, p := range schema.Parameters() {
		raw, bad := readField(shapeOf(p), form.Get(argPrefix+p.Name), p.Required)
		if bad != "" {
			faults = append(faults, fault.Field{Path: "/" + argPrefix + p.Name, Code: bad, Message: "This is not valid JSON."})
			continue
		}
		if raw == nil {
			continue
		}
		if body.Len() > 1 {
			body.WriteByte(',')
		}
		name, err := json.Marshal(p.Name)
		if err != nil {
			return nil, err
		}
		body.Write(name)
		body.WriteByte(':')
		body.Write(raw)
	}
	body.WriteByte('}')
	return body.Bytes(), fault.Fields(faults)
}

func readField(s shape, text string, required bool) (raw json.RawMessage, bad string) {
	switch s.control() {
	case views.ControlText, views.ControlLong:
		if text == "" && !required {
			return nil, ""
		}
		raw, err := json.Marshal(strings.ReplaceAll(text, "\r\n", "\n"))
		if err != nil {
			return nil, "bad_text"
		}
		return raw, ""
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, ""
	}
	if s.control() == views.ControlNumber && !jsonNumber(text) {
		return nil, "bad_number"
	}
	if jsonx.Check([]byte(text), 1<<20) != nil {
		return nil, "bad_json"
	}
	return json.RawMessage(text), ""
}

func jsonNumber(text string) bool {
	return json.Valid([]byte(text)) && strings.ContainsRune("-0123456789", rune(text[0]))
}

// valuesOf fills the fields of a form from a worked call.
func valuesOf(schema *toolschema.Schema, input json.RawMessage) url.Values {
	var members map[string]json.RawMessage
	values := url.Values{}
	if json.Unmarshal(input, &members) != nil {
		return values
	}
	for _, p := range schema.Parameters() {
		raw, ok := members[p.Name]
		if !ok {
			continue
		}
		text := string(raw)
		switch shapeOf(p).control() {
		case views.ControlText, views.ControlLong:
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
		case views.ControlJSON:
			text = indented(raw)
		}
		values.Set(argPrefix+p.Name, text)
	}
	return values
}
