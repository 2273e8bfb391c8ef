package capability

import (
	"encoding/json"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/toolschema"
)

const (
	schemaPath      = "/spec/parametersSchema"
	maxExampleInput = 64 << 10
)

func (s *CodeSpec) validate(f *faults, _ Rules) {
	f.language(s.Language, Python, Node)
	f.code(s.Code)
	schema := f.parametersSchema(s.ParametersSchema)
	if s.IsReadOnly == nil {
		f.add("/spec/isReadOnly", "required", "Say whether the tool only reads.")
	}
	f.between("/spec/timeoutSec", "The time limit", s.TimeoutSec, 1, MaxTimeoutSec)
	if s.Image != "" {
		f.image("/spec/image", s.Image)
	}
	f.secrets(s.RequiredSecrets, false)
	f.hosts("/spec/egress", s.Egress)
	f.examples(s.Examples, schema)
	f.leans(s.Leans)
}

func (f *faults) language(l Language, allowed ...Language) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if l == a {
			return
		}
		names[i] = string(a)
	}
	if l == "" {
		f.add("/spec/language", "required", "Say what the code is written in: %s.", strings.Join(names, ", "))
		return
	}
	f.add("/spec/language", "not_allowed", "The language is one of %s.", strings.Join(names, ", "))
}

func (f *faults) code(code string) {
	f.required("/spec/code", "The code", code)
	f.document("/spec/code", "The code", code, MaxCode)
}

// parametersSchema returns the compiled schema, nil when there is a fault.
// What an author publishes here is held to more than what servers are forgiven.
func (f *faults) parametersSchema(raw json.RawMessage) *toolschema.Schema {
	if len(raw) == 0 || string(raw) == "null" {
		f.add(schemaPath, "required", "A schema of the parameters is required; {\"type\":\"object\"} takes none in particular.")
		return nil
	}
	if !f.rawJSON(schemaPath, raw, toolschema.MaxSize) || !f.schemaHead(raw) {
		return nil
	}
	schema, err := toolschema.Compile(raw)
	if err == nil {
		return schema
	}
	e := fault.From(err)
	if len(e.Fields) == 0 {
		f.add(schemaPath, e.Code, "%s", e.Message)
	}
	for _, field := range e.Fields {
		f.add(schemaPath+field.Path, field.Code, "%s", field.Message)
	}
	return nil
}

func (f *faults) schemaHead(raw json.RawMessage) bool {
	var head struct {
		Type   any    `json:"type"`
		Schema string `json:"$schema"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		f.add(schemaPath, "schema_not_an_object", "A schema is a JSON object.")
		return false
	}
	if head.Type != "object" {
		f.add(schemaPath+"/type", "schema_root_type", "The schema's type must be \"object\".")
		return false
	}
	if head.Schema != "" && !strings.Contains(head.Schema, "2020-12") && !strings.Contains(head.Schema, "draft-07") {
		f.add(schemaPath+"/$schema", "schema_unknown_dialect", "The schema is of draft 2020-12 or draft-07.")
		return false
	}
	return true
}

func (f *faults) examples(list []Example, schema *toolschema.Schema) {
	const path = "/spec/examples"
	f.count(path, "examples", len(list), MaxExamples)
	for i, e := range list {
		at := jsonx.Pointer(path, strconv.Itoa(i))
		f.plain(at+"/name", "The name", e.Name, MaxName)
		f.document(at+"/note", "The note", e.Note, 4096)
		if len(e.Input) == 0 {
			f.add(at+"/input", "required", "An example needs its input.")
			continue
		}
		if !f.rawJSON(at+"/input", e.Input, maxExampleInput) || schema == nil {
			continue
		}
		for _, field := range schema.Validate(e.Input) {
			f.add(at+"/input"+field.Path, field.Code, "%s", field.Message)
		}
	}
}
