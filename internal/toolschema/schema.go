// Package toolschema is the one compiler of the JSON Schemas that describe what
// a tool takes and gives. It reads schemas as the world writes them, never
// fetches anything, checks arguments against the schema as its author wrote it,
// and derives the simpler forms that models and people are shown.
package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxSize is the largest schema in bytes that Compile reads.
const MaxSize = 256 << 10

// Schema is a compiled schema, safe for parallel use.
type Schema struct {
	doc      any // normalised value of jsonx.Parse: an object, or a boolean for outputs
	dialect  *dialect
	warnings []fault.Field
	compiled *jsonschema.Schema

	mu    sync.Mutex // one validation at a time: the meter belongs to it
	meter *meter

	model   func() json.RawMessage
	display func() json.RawMessage
}

// Compile reads the schema of a tool's parameters. Nothing, null and {} mean a
// tool without parameters. The error is an Invalid fault whose code says which
// rule was broken: schema_too_large, schema_unreadable, schema_not_an_object,
// schema_root_type, schema_unknown_dialect, schema_remote_ref,
// schema_dangling_ref or schema_invalid.
func Compile(raw json.RawMessage) (*Schema, error) {
	doc, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		doc = map[string]any{}
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, refuse("schema_not_an_object", "", "A parameter schema must be a JSON object, but this is %s.", jsonx.Kind(doc))
	}
	s, err := build(root)
	if err != nil {
		return nil, err
	}
	if t, ok := acceptsObject(root, root, 0); !ok {
		return nil, refuse("schema_root_type", "/type",
			"Parameters are always an object, but this schema asks for %s.", t)
	}
	return s, nil
}

// CompileOutput reads the schema of a tool's result, which may describe any
// value. Nothing and null give a schema that accepts everything.
func CompileOutput(raw json.RawMessage) (*Schema, error) {
	doc, err := parse(raw)
	if err != nil {
		return nil, err
	}
	switch root := doc.(type) {
	case nil:
		return build(map[string]any{})
	case bool, map[string]any:
		return build(root)
	}
	return nil, refuse("schema_not_an_object", "", "A schema must be a JSON object, but this is %s.", jsonx.Kind(doc))
}

func parse(raw json.RawMessage) (any, error) {
	if len(raw) > MaxSize {
		return nil, refuse("schema_too_large", "", "The schema is %d bytes long; at most %d are accepted.", len(raw), MaxSize)
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		return nil, nil
	}
	doc, err := jsonx.Parse(raw, MaxSize)
	if err != nil {
		return nil, refuse("schema_unreadable", "", "The schema cannot be read: %s", fault.From(err).Message).Because(err)
	}
	return doc, nil
}

func build(doc any) (*Schema, error) {
	s := &Schema{doc: doc, dialect: latest, meter: &meter{}}
	if root, ok := doc.(map[string]any); ok {
		d, err := dialectOf(root)
		if err != nil {
			return nil, err
		}
		s.dialect = d
		n := &normaliser{dialect: d}
		n.root(root)
		s.warnings = n.warnings
	}
	if err := s.compile(); err != nil {
		return nil, err
	}
	s.model = sync.OnceValue(func() json.RawMessage { return encode(modelForm(s.doc, s.dialect)) })
	s.display = sync.OnceValue(func() json.RawMessage { return encode(displayForm(s.doc)) })
	return s, nil
}

// location is where each schema stands for its own compiler. A compiler per
// schema keeps two tools with the same $id apart.
const location = "schema:///parameters"

func (s *Schema) compile() (err error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(s.dialect.draft)
	c.UseLoader(denyAll{})
	c.UseRegexpEngine(func(p string) (jsonschema.Regexp, error) {
		re, known := compilePattern(p, s.meter)
		if !known {
			s.warn("", "pattern_unchecked", "The pattern %q cannot be read and is not checked.", clip(p, 80))
		}
		return re, nil
	})
	c.RegisterVocabulary(s.meter.vocabulary())
	c.AssertVocabs()
	// A third-party compiler reads what strangers wrote: its panic is their fault.
	defer func() {
		if r := recover(); r != nil {
			err = refuse("schema_invalid", "", "The schema cannot be compiled.").Because(fmt.Errorf("panic: %v", r))
		}
	}()
	s.meter.reset()
	if err := c.AddResource(location, s.doc); err != nil {
		return compileFault(err)
	}
	s.compiled, err = c.Compile(location)
	if err != nil {
		return compileFault(err)
	}
	return nil
}

// denyAll refuses every load: a reference beyond the document is never fetched.
type denyAll struct{}

var errRemote = errors.New("references to other documents are not followed")

// Load implements jsonschema.URLLoader.
func (denyAll) Load(string) (any, error) { return nil, errRemote }

func compileFault(err error) error {
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return refuse("schema_remote_ref", "",
			"The schema refers to %q, which lies outside it. Such references are never fetched.", clip(load.URL, 200)).Because(err)
	}
	if p, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return refuse("schema_dangling_ref", "", "The schema refers to %q, which does not exist in it.", fragment(p.URL)).Because(err)
	}
	if a, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return refuse("schema_dangling_ref", "", "The schema refers to %q, which does not exist in it.", fragment(a.Reference)).Because(err)
	}
	if v, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](v.Err); ok {
			f := refuse("schema_invalid", "", "The schema breaks the rules of its dialect.").Because(err)
			f.Fields = explain(inner, nil)
			if len(f.Fields) > 0 {
				f.Message = fmt.Sprintf("The schema breaks the rules of its dialect at %q: %s", f.Fields[0].Path, f.Fields[0].Message)
			}
			return f
		}
	}
	return refuse("schema_invalid", "", "The schema cannot be compiled: %s.", clip(strings.ReplaceAll(err.Error(), location, ""), 300)).Because(err)
}

func fragment(url string) string { return clip(strings.TrimPrefix(url, location), 200) }

func refuse(code, path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Invalid, code, format, args...).
		Do("Ask the author of the tool to correct its schema.")
	f.Fields = []fault.Field{{Path: path, Code: code, Message: f.Message}}
	return f
}

func (s *Schema) warn(path, code, format string, args ...any) {
	w := fault.Field{Path: path, Code: code, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(s.warnings, w) { // the compiler asks for a pattern twice
		s.warnings = append(s.warnings, w)
	}
}

// Warnings lists what was tolerated, by the place in the schema.
func (s *Schema) Warnings() []fault.Field { return slices.Clone(s.warnings) }

// ForModel gives the schema in the shape that every model API takes: an object
// at the root with properties and no alternatives beside them, references
// inlined where they can be. Validate still checks the original.
func (s *Schema) ForModel() json.RawMessage { return s.model() }

// Display gives the schema with its local references inlined, cut where it
// repeats itself or grows too large.
func (s *Schema) Display() json.RawMessage { return s.display() }

func encode(v any) json.RawMessage {
	b, err := jsonx.CanonicalOf(v)
	if err != nil { // an inlined form deeper than jsonx allows
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return b
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
