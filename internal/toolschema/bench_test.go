package toolschema_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/toolschema"
)

const benchSchema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["repo"],"additionalProperties":false,
	"properties":{"repo":{"type":"string","pattern":"^[^/]+/[^/]+$"},"state":{"enum":["open","closed"]},"labels":{"type":"array","items":{"$ref":"#/definitions/Label"}}},
	"definitions":{"Label":{"type":"object","properties":{"name":{"type":"string"},"colour":{"type":"string"}},"required":["name"]}}}`

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := toolschema.Compile(json.RawMessage(benchSchema)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s, err := toolschema.Compile(json.RawMessage(benchSchema))
	if err != nil {
		b.Fatal(err)
	}
	args := json.RawMessage(`{"repo":"acme/tool","state":"open","labels":[{"name":"bug"},{"name":"ui","colour":"red"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if f := s.Validate(args); f != nil {
			b.Fatal(f)
		}
	}
}
