package toolschema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate checks a call's arguments against the schema as its author wrote it
// and returns every fault, or nil. Nothing is coerced: "5" is no integer. No
// arguments, and null, count as an empty object.
func (s *Schema) Validate(args json.RawMessage) []fault.Field {
	doc, field := parseArgs(args)
	if field != nil {
		return []fault.Field{*field}
	}
	if _, ok := doc.(map[string]any); !ok {
		return []fault.Field{{Code: "wrong_type", Message: "Expected an object with the parameters by name, found " + jsonx.Kind(doc) + "."}}
	}
	return s.suggest(s.check(doc), doc)
}

// suggest adds to each refused key the parameter that was probably meant.
func (s *Schema) suggest(fields []fault.Field, doc any) []fault.Field {
	root, ok := s.doc.(map[string]any)
	if !ok || !slices.ContainsFunc(fields, func(f fault.Field) bool { return f.Code == "unknown_key" }) {
		return fields
	}
	h := &hinter{root: root}
	h.walk(root, doc, "", 0)
	for i, f := range fields {
		for _, hint := range h.fields {
			if f.Code == "unknown_key" && hint.Path == f.Path && hint.Code == "did_you_mean" {
				fields[i].Message = hint.Message
			}
		}
	}
	return fields
}

// ValidateOutput checks a result against an output schema and returns every
// fault, or nil.
func (s *Schema) ValidateOutput(value json.RawMessage) []fault.Field {
	doc, err := jsonx.Parse(value, 0)
	if err != nil {
		f := fault.From(err)
		return []fault.Field{{Code: f.Code, Message: f.Message}}
	}
	return s.check(doc)
}

func parseArgs(args json.RawMessage) (any, *fault.Field) {
	if len(strings.TrimSpace(string(args))) == 0 {
		return map[string]any{}, nil
	}
	doc, err := jsonx.Parse(args, 0)
	if err != nil {
		f := fault.From(err)
		return nil, &fault.Field{Code: f.Code, Message: f.Message}
	}
	if doc == nil {
		return map[string]any{}, nil
	}
	return doc, nil
}

func (s *Schema) check(doc any) (fields []fault.Field) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.reset()
	defer func() {
		if r := recover(); r != nil {
			code, text := "check_failed", "These arguments could not be checked against the tool's schema."
			if _, ok := r.(tooComplex); ok {
				code, text = "too_complex", "Checking these arguments takes too long. Send something smaller or less nested."
			}
			fields = []fault.Field{{Code: code, Message: text}}
		}
	}()
	err := s.compiled.Validate(doc)
	if err == nil {
		return nil
	}
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []fault.Field{{Code: "check_failed", Message: "These arguments could not be checked against the tool's schema."}}
	}
	return explain(v, doc)
}
