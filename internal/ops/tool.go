package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"capstore/internal/fault"
)

// Tool is an operation as a model or an MCP client calls it: the fields of its
// path, query, header and body in one flat object. The workspace is the
// caller's own, and no argument.
type Tool struct {
	Operation
	Description string
	Schema      json.RawMessage
	params      []Param
}

// Tools returns the operations that can be tools, in their order. Confidential
// ones are left out: what a model is given or gives stands in a ledger.
func Tools(operations []Operation) ([]Tool, error) {
	var out []Tool
	for _, op := range operations {
		if op.Confidential {
			continue
		}
		t, err := newTool(op)
		if err != nil {
			return nil, fmt.Errorf("ops: %s as a tool: %w", op.Name, err)
		}
		out = append(out, t)
	}
	return out, nil
}

const defs = "#/$defs/"

func newTool(op Operation) (Tool, error) {
	t := Tool{Operation: op, params: op.Params(), Description: op.Summary}
	if op.Guarded {
		t.Description += " Asks the member first."
	}
	if op.Example != "" {
		t.Description += "\nExample: " + compact(op.Example)
	}
	var err error
	t.Schema, err = t.schema()
	return t, err
}

// compact is the JSON on one line.
func compact(example string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(example)) != nil {
		return example
	}
	return out.String()
}

// toolSchema is the root of a tool's input schema.
type toolSchema struct {
	Type                 string                  `json:"type"`
	Properties           map[string]*huma.Schema `json:"properties"`
	Required             []string                `json:"required,omitempty"`
	AdditionalProperties bool                    `json:"additionalProperties"`
	Defs                 map[string]*huma.Schema `json:"$defs,omitempty"`
}

func (t Tool) schema() (json.RawMessage, error) {
	schemas := NewSchemas(defs)
	root := toolSchema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	add := func(name string, s *huma.Schema) error {
		if root.Properties[name] != nil {
			return fmt.Errorf("two inputs are called %s", name)
		}
		root.Properties[name] = s
		return nil
	}
	for _, p := range t.params {
		if p.Place == InBody {
			continue
		}
		if err := add(argumentOf(p), argumentSchema(schemas, p)); err != nil {
			return nil, err
		}
		if p.Required {
			root.Required = append(root.Required, argumentOf(p))
		}
	}
	if body, ok := t.Body(); ok {
		name := strings.TrimPrefix(schemas.Input(toolBody(body.Type), t.Name).Ref, defs)
		schemas.Mend()
		whole := schemas.Map()[name]
		for _, field := range sortedKeys(whole.Properties) {
			if err := add(field, whole.Properties[field]); err != nil {
				return nil, err
			}
		}
		root.Required = append(root.Required, whole.Required...)
		delete(schemas.Map(), name)
	}
	root.Defs = schemas.Map()
	return json.Marshal(root)
}

func sortedKeys(m map[string]*huma.Schema) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func argumentSchema(schemas Schemas, p Param) *huma.Schema {
	s := schemas.Parameter(p)
	s.Description = p.Doc
	return s
}

// argumentOf is the name of the argument that fills a parameter.
func argumentOf(p Param) string {
	if p.Place == InHeader {
		words := strings.Split(p.Name, "-")
		words[0] = strings.ToLower(words[0])
		return strings.Join(words, "")
	}
	return p.Name
}

// fileArgument is a file as a tool takes it.
type fileArgument struct {
	File struct {
		Name    string `json:"name" doc:"The file's name with its extension."`
		Content string `json:"content" doc:"The text of the file."`
	} `json:"file" doc:"A file of text: SKILL.md, mcp.json, server.json, an export of capstore."`
}

// toolBody is the type that a tool takes in place of the body.
func toolBody(body reflect.Type) reflect.Type {
	if body == reflect.TypeFor[Upload]() {
		return reflect.TypeFor[fileArgument]()
	}
	return body
}

// Decode reads a tool's arguments into the operation's input. Faults have
// paths into the arguments; numbers keep every digit.
func (t Tool) Decode(arguments json.RawMessage) (any, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &given); err != nil {
		return nil, fault.New(fault.Malformed, "bad_json", "The arguments are no JSON object.").Because(err)
	}
	in := reflect.New(t.In).Elem()
	for _, p := range t.params {
		if p.Place == InBody {
			continue
		}
		name := argumentOf(p)
		value, ok := given[name]
		delete(given, name)
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, in.FieldByIndex(p.Index).Addr().Interface()); err != nil {
			return nil, refused("/"+name, "wrong_type", "The argument %s has another type.", name)
		}
	}
	body, ok := t.Body()
	if !ok {
		return in.Interface(), nil
	}
	rest, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	field := in.FieldByIndex(body.Index)
	if body.Type != reflect.TypeFor[Upload]() {
		return t.decoded(in, DecodeBody(rest, field.Addr().Interface()))
	}
	var file fileArgument
	if err := DecodeBody(rest, &file); err != nil {
		return nil, err
	}
	field.Set(reflect.ValueOf(Upload{Name: file.File.Name, Data: []byte(file.File.Content)}))
	return in.Interface(), nil
}

func (t Tool) decoded(in reflect.Value, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return in.Interface(), nil
}
