package interchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object in the order of its file, so that what is made of it
// stands in the order in which its author wrote it.
type object struct {
	keys   []string
	values map[string]any // nil, bool, string, json.Number, []any or *object
}

// parseOrdered gives the value of clean JSON, which jsonx.Check has passed.
func parseOrdered(text []byte) (any, error) {
	return nextValue(jsontext.NewDecoder(bytes.NewReader(text)))
}

func nextValue(d *jsontext.Decoder) (any, error) {
	tok, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	switch tok.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return tok.Bool(), nil
	case '"':
		return tok.String(), nil
	case '0':
		return json.Number(tok.String()), nil
	case '[':
		return nextList(d)
	case '{':
		return nextObject(d)
	}
	return nil, io.ErrUnexpectedEOF
}

func nextList(d *jsontext.Decoder) (any, error) {
	out := []any{}
	for d.PeekKind() != ']' {
		v, err := nextValue(d)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.ReadToken()
	return out, err
}

func nextObject(d *jsontext.Decoder) (any, error) {
	out := &object{values: map[string]any{}}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		if out.values[name], err = nextValue(d); err != nil {
			return nil, err
		}
		out.keys = append(out.keys, name)
	}
	_, err := d.ReadToken()
	return out, err
}

func (o *object) has(key string) bool {
	if o == nil {
		return false
	}
	_, ok := o.values[key]
	return ok
}

// text is the string under the first of the keys that holds one, "" for none.
func (o *object) text(keys ...string) string {
	for _, k := range keys {
		if o == nil {
			return ""
		}
		if s, ok := o.values[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// object is the object under the first of the keys that holds one, nil for none.
func (o *object) object(keys ...string) *object {
	for _, k := range keys {
		if o == nil {
			return nil
		}
		if v, ok := o.values[k].(*object); ok {
			return v
		}
	}
	return nil
}

// list is the list under the first of the keys that holds one, nil for none.
func (o *object) list(keys ...string) []any {
	for _, k := range keys {
		if o == nil {
			return nil
		}
		if v, ok := o.values[k].([]any); ok {
			return v
		}
	}
	return nil
}

// flag reports whether true, or "true", stands under one of the keys.
func (o *object) flag(keys ...string) bool {
	for _, k := range keys {
		if o == nil {
			return false
		}
		if v := o.values[k]; v == true || v == "true" {
			return true
		}
	}
	return false
}

// set puts a value under the key, after those that stand there.
func (o *object) set(key string, v any) {
	if !o.has(key) {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// MarshalJSON writes the object with its keys in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[k])
		if err != nil {
			return nil, err
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// scalar is the text of a string, a number or a boolean.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return string(v), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}
