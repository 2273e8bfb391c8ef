package ops

import (
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"capstore/internal/catalog"
)

// Schemas describes the types of operations as JSON Schema, each type once.
type Schemas struct {
	huma.Registry
	prefix string          // where references lead
	bodies map[string]bool // the schemas of which inputs are made
}

// NewSchemas returns an empty set in which references begin with the prefix.
func NewSchemas(prefix string) Schemas {
	r := huma.NewMapRegistry(prefix, schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[Nullable[bool]](), reflect.TypeFor[*bool]())
	r.RegisterTypeAlias(reflect.TypeFor[Nullable[string]](), reflect.TypeFor[*string]())
	r.RegisterTypeAlias(reflect.TypeFor[Nullable[catalog.Deprecation]](), reflect.TypeFor[*catalog.Deprecation]())
	return Schemas{Registry: r, prefix: prefix, bodies: map[string]bool{}}
}

// Input returns the schema of a type that is sent. Unlike an answer it takes
// no field that it does not name.
func (s Schemas) Input(t reflect.Type, hint string) *huma.Schema {
	schema := s.Schema(t, true, hint)
	s.reachable(strings.TrimPrefix(schema.Ref, s.prefix))
	return schema
}

// Parameter returns the schema of one field of a path, query or header.
func (s Schemas) Parameter(p Param) *huma.Schema {
	schema := s.Schema(p.Type, false, p.Name)
	target := schema
	if schema.Type == huma.TypeArray {
		schema.Nullable, target = false, schema.Items
	}
	for _, c := range p.Choices {
		target.Enum = append(target.Enum, c)
	}
	return schema
}

// schemaName tells types of other packages from those of the operations.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if pkg := path.Base(t.PkgPath()); t.PkgPath() != "" && pkg != "ops" && pkg != "httpd" {
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	return name
}

// Mend corrects what the generator gets wrong, once every type is in: lists
// are never null in an answer, a reference may be null where Go has a pointer, and
// answers may grow, while an unknown field in a body is a fault.
func (s Schemas) Mend() {
	for name, schema := range s.Map() {
		if !s.bodies[name] {
			schema.AdditionalProperties = nil
		}
		for _, f := range reflect.VisibleFields(s.TypeFromRef(s.prefix + name)) {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p, ok := schema.Properties[key]
			if !ok {
				continue
			}
			if p.Type == huma.TypeArray {
				p.Nullable = false
			}
			if p.Ref != "" && mayBeNull(f, options) {
				schema.Properties[key] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}, Description: p.Description}
			}
		}
	}
}

func mayBeNull(f reflect.StructField, options string) bool {
	if f.Type == reflect.TypeFor[Nullable[catalog.Deprecation]]() {
		return true
	}
	return f.Type.Kind() == reflect.Pointer && options != "omitempty"
}

// reachable marks the schemas that the one of the name is made of.
func (s Schemas) reachable(name string) {
	if s.bodies[name] {
		return
	}
	s.bodies[name] = true
	s.walk(s.Map()[name])
}

func (s Schemas) walk(schema *huma.Schema) {
	if schema == nil {
		return
	}
	if schema.Ref != "" {
		s.reachable(strings.TrimPrefix(schema.Ref, s.prefix))
	}
	s.walk(schema.Items)
	for _, p := range schema.Properties {
		s.walk(p)
	}
	if more, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		s.walk(more)
	}
}
