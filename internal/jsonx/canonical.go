package jsonx

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the one spelling of the JSON value: no white space, keys
// sorted by UTF-16 code units, strings in their shortest form, numbers exactly
// as written. Equal digests of it mean equal content, save that 1.0 and 1 stay
// apart on purpose: a number is never re-spelt on its way through.
func Canonical(data []byte) ([]byte, error) {
	if err := Check(data, len(data)); err != nil {
		return nil, err
	}
	v := jsontext.Value(bytes.Clone(data))
	err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, fmt.Errorf("canonicalise JSON: %w", err)
	}
	return v, nil
}

// CanonicalOf marshals v and returns its canonical spelling. It fails only
// for what cannot be marshalled.
func CanonicalOf(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return Canonical(bytes.TrimSpace(b.Bytes()))
}
