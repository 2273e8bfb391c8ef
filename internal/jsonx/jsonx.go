// Package jsonx is the one reader of JSON that somebody else wrote: it refuses
// what parsers disagree about (duplicate keys, bad UTF-8, trailing data), bounds
// depth and number size, keeps numbers as they were spelt, and names the place
// of every fault.
package jsonx

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"capstore/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxDepth is how many arrays and objects may be open at once.
	MaxDepth = 64
	// MaxBody is the size in bytes that Check allows when it is given no other.
	MaxBody = 16 << 20

	// A number of 400 digits or a thousand-fold exponent is never data, but a
	// big.Rat built from 1e999999999 takes gigabytes.
	maxNumberLen = 400
	maxExponent  = 1000
)

// Check reads data as exactly one JSON value and returns nil, or a Malformed
// fault that names the place as JSON pointer and byte offset, or a TooLarge
// one where data is longer than limit bytes. A limit of 0 means MaxBody.
func Check(data []byte, limit int) error {
	if limit <= 0 {
		limit = MaxBody
	}
	if len(data) > limit {
		return fault.New(fault.TooLarge, "body_too_large",
			"The JSON is %d bytes long; at most %d are accepted.", len(data), limit)
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := d.ReadToken()
		if err != nil {
			return syntaxFault(err, d.InputOffset())
		}
		if err := checkToken(d, tok); err != nil {
			return err
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return malformed("trailing_data", "", d.InputOffset(),
			"Something follows the end of the JSON value")
	}
	return nil
}

func checkToken(d *jsontext.Decoder, tok jsontext.Token) error {
	if d.StackDepth() > MaxDepth {
		return malformed("too_deep", d.StackPointer(), d.InputOffset(),
			"The JSON is nested more than "+strconv.Itoa(MaxDepth)+" levels deep")
	}
	if tok.Kind() == '0' && !saneNumber(tok.String()) {
		return malformed("number_out_of_range", d.StackPointer(), d.InputOffset(),
			"A number is too long or its exponent is too large")
	}
	return nil
}

func saneNumber(s string) bool {
	if len(s) > maxNumberLen {
		return false
	}
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return true
	}
	exp, err := strconv.Atoi(s[i+1:])
	return err == nil && -maxExponent <= exp && exp <= maxExponent
}

func syntaxFault(err error, offset int64) error {
	var at jsontext.Pointer
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, offset = s.JSONPointer, s.ByteOffset
		switch {
		case errors.Is(s.Err, jsontext.ErrDuplicateName):
			return malformed("duplicate_key", at, offset, "The key "+strconv.Quote(at.LastToken())+" stands twice in one object")
		case s.Err != nil && strings.Contains(s.Err.Error(), "UTF-8"):
			return malformed("invalid_utf8", at, offset, "The text is not valid UTF-8")
		case s.Err != nil && strings.Contains(s.Err.Error(), "depth"):
			return malformed("too_deep", at, offset, "The JSON is nested too deeply")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("bad_json", at, offset, "The JSON ends too early")
	}
	return malformed("bad_json", at, offset, "The JSON cannot be read")
}

func malformed(code string, at jsontext.Pointer, offset int64, what string) error {
	place := "byte " + strconv.FormatInt(offset, 10)
	if at != "" {
		place = string(at) + ", " + place
	}
	return fault.New(fault.Malformed, code, "%s (at %s).", what, place).
		Do("Correct the JSON and send it again.").
		With("pointer", string(at)).With("offset", offset)
}

// Parse checks data as Check does and returns its value as nil, bool, string,
// json.Number, []any or map[string]any. Numbers keep their spelling.
func Parse(data []byte, limit int) (any, error) {
	if err := Check(data, limit); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.New(fault.Malformed, "bad_json", "The JSON cannot be read.").Because(err)
	}
	return v, nil
}

// Pointer joins base and the tokens to a JSON pointer, escaping each token.
func Pointer(base string, tokens ...string) string {
	p := jsontext.Pointer(base)
	for _, t := range tokens {
		p = p.AppendToken(t)
	}
	return string(p)
}
