package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"capstore/views"
)

// What of a value is shown to read; the JSON beside it is whole.
const (
	maxParts   = 60
	maxRows    = 50
	maxColumns = 8
	maxNesting = 8
)

// readValue turns JSON into what is shown of it: members in their order,
// numbers with every digit. What is no JSON is nil.
func readValue(raw json.RawMessage) *views.ChatValue {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := nextValue(d, 0)
	if err != nil {
		return nil
	}
	return &v
}

func nextValue(d *json.Decoder, depth int) (views.ChatValue, error) {
	token, err := d.Token()
	if err != nil {
		return views.ChatValue{}, err
	}
	switch t := token.(type) {
	case string:
		return views.ChatValue{Type: "string", Text: t}, nil
	case json.Number:
		return views.ChatValue{Type: "number", Text: t.String()}, nil
	case bool:
		return views.ChatValue{Type: strconv.FormatBool(t), Text: strconv.FormatBool(t)}, nil
	case json.Delim:
		return nested(d, t, depth)
	}
	return views.ChatValue{Type: "null", Text: "null"}, nil
}

// nested reads the members of an object or array up to its end.
func nested(d *json.Decoder, open json.Delim, depth int) (views.ChatValue, error) {
	out := views.ChatValue{Type: "array"}
	if open == '{' {
		out.Type = "object"
	}
	for i := 0; d.More(); i++ {
		name := strconv.Itoa(i + 1)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return out, err
			}
			name, _ = key.(string)
		}
		v, err := nextValue(d, depth+1)
		if err != nil {
			return out, err
		}
		if i < maxParts && depth < maxNesting {
			out.Parts = append(out.Parts, views.ChatPart{Name: name, Value: v})
		} else {
			out.More++
		}
	}
	_, err := d.Token()
	return asTable(out), err
}

// asTable makes a list of like, flat objects a table.
func asTable(v views.ChatValue) views.ChatValue {
	if v.Type != "array" || len(v.Parts) < 2 {
		return v
	}
	var columns []string
	for _, p := range v.Parts {
		if p.Value.Type != "object" || p.Value.More > 0 {
			return v
		}
		for _, member := range p.Value.Parts {
			if t := member.Value.Type; t == "object" || t == "array" {
				return v
			}
			if !slices.Contains(columns, member.Name) {
				columns = append(columns, member.Name)
			}
		}
		if len(columns) > maxColumns {
			return v
		}
	}
	if len(columns) == 0 {
		return v
	}
	return rowsOf(v, columns)
}

func rowsOf(v views.ChatValue, columns []string) views.ChatValue {
	out := views.ChatValue{Type: v.Type, Columns: columns, More: v.More}
	for i, p := range v.Parts {
		if i >= maxRows {
			out.More += len(v.Parts) - i
			break
		}
		row := make([]views.ChatValue, len(columns))
		for j := range row {
			row[j].Type = "null"
		}
		for _, member := range p.Value.Parts {
			row[slices.Index(columns, member.Name)] = member.Value
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
