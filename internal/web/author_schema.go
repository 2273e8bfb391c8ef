package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/toolschema"
	"capstore/views"
)

// schemaList are the rows in which parameters are written.
const schemaList = "schema.rows"

// schemaValues fills the form with a schema: as rows where rows show all of
// it, and as JSON in any case.
func schemaValues(v url.Values, raw json.RawMessage) {
	v.Set("spec.parametersSchema", indented(raw))
	v.Set("schema.mode", views.SchemaJSON)
	if outline, ok := toolschema.OutlineOf(raw); ok {
		outlineValues(v, outline)
	}
}

// outlineValues makes the rows, and nothing else, what the form shows.
func outlineValues(v url.Values, o toolschema.Outline) {
	v.Set("schema.mode", views.SchemaRows)
	v.Del("schema.rest")
	if o.Rest != nil {
		v.Set("schema.rest", indented(o.Rest))
	}
	var rows []map[string]string
	for _, line := range o.Lines {
		row := map[string]string{
			"name": line.Name, "type": line.Type, "description": line.Description, "required": onOff(line.Required),
			"default": defaultText(line), "values": strings.Join(line.Values, "\n"), "items": line.Items,
		}
		if line.Rest != nil {
			row["rest"] = indented(line.Rest)
		}
		rows = append(rows, row)
	}
	writeRows(v, schemaList, rows)
}

// textual reports whether values of the type are written without quotes.
func textual(kind string) bool { return kind == "string" || kind == toolschema.TypeEnum }

// defaultText is the default as people write it: a text without its quotes
// where it cannot be mistaken for something quoted.
func defaultText(line toolschema.Line) string {
	var text string
	if textual(line.Type) && json.Unmarshal(line.Default, &text) == nil && text != "" &&
		text == strings.TrimSpace(text) && !strings.HasPrefix(text, `"`) && !plainJSON(text) && !strings.ContainsAny(text, "\r\n") && encodesAs(text, line.Default) {
		return text
	}
	return string(line.Default)
}

// encodesAs reports whether the text is spelt in JSON as it stands there.
func encodesAs(text string, raw json.RawMessage) bool {
	out, err := json.Marshal(text)
	return err == nil && string(out) == string(raw)
}

// readDefault is the other way around. What is no JSON is text for a text, and
// is left for the kernel to refuse for anything else.
func readDefault(kind, text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if textual(kind) && !(strings.HasPrefix(text, `"`) && json.Valid([]byte(text))) && !plainJSON(text) {
		if raw, err := json.Marshal(text); err == nil {
			return raw
		}
	}
	return json.RawMessage(text)
}

// plainJSON reports whether a default that is no text was meant, which no
// parameter of texts has by accident: null, a list or an object.
func plainJSON(text string) bool {
	return (text == "null" || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")) && json.Valid([]byte(text))
}

// readOutline reads the rows of the form.
func readOutline(form url.Values) toolschema.Outline {
	var o toolschema.Outline
	for _, row := range readRows(form, schemaList) {
		line := toolschema.Line{
			Name: strings.TrimSpace(row["name"]), Type: row["type"], Description: row["description"], Required: row["required"] != "",
			Default: readDefault(row["type"], row["default"]), Rest: jsonText(row["rest"]),
		}
		switch line.Type {
		case toolschema.TypeEnum:
			line.Values = lines(row["values"])
		case "array":
			line.Items = row["items"]
		}
		o.Lines = append(o.Lines, line)
	}
	o.Rest = jsonText(form.Get("schema.rest"))
	return o
}

func jsonText(text string) json.RawMessage {
	if text = strings.TrimSpace(text); text != "" {
		return json.RawMessage(text)
	}
	return nil
}

// schema reads the parameters, as they are written now. Rows that say the same
// as the schema that they were made from leave that one as it is.
func (r *reading) schema() json.RawMessage {
	if r.form.Get("schema.mode") != views.SchemaRows {
		return r.json(schemaPath, r.form.Get("spec.parametersSchema"), `{"type":"object"}`)
	}
	made, faults := readOutline(r.form).Schema()
	for _, f := range faults {
		path := strings.Replace(f.Path, "/lines/", "/schema/rows/", 1)
		if path == "/rest" {
			path = "/schema/rest"
		}
		r.add(path, f.Code, f.Message)
	}
	if len(faults) > 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	before := json.RawMessage(r.form.Get("spec.parametersSchema"))
	if outline, ok := toolschema.OutlineOf(before); ok && jsonx.Check(before, 0) == nil {
		if same, faults := outline.Schema(); len(faults) == 0 && sameJSON(same, made) {
			return before
		}
	}
	return made
}

func sameJSON(a, b json.RawMessage) bool {
	x, xerr := jsonx.Canonical(a)
	y, yerr := jsonx.Canonical(b)
	return xerr == nil && yerr == nil && slices.Equal(x, y)
}

// switchSchema writes the parameters the other way. What cannot be read as it
// stands, or cannot be shown as rows, stays as it is and says why.
func switchSchema(form url.Values, to string) error {
	r := &reading{form: form}
	raw := r.schema()
	if err := fault.Fields(r.faults); err != nil {
		return err
	}
	if to == views.SchemaJSON {
		form.Set("spec.parametersSchema", indented(raw))
		form.Set("schema.mode", views.SchemaJSON)
		return nil
	}
	if raw == nil {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	outline, ok := toolschema.OutlineOf(raw)
	if !ok {
		return fault.Fields([]fault.Field{{
			Path: schemaPath, Code: "not_a_list",
			Message: "This schema says more than a list of parameters can show, so it stays JSON. Nothing of it is lost.",
		}})
	}
	outlineValues(form, outline)
	return nil
}
