package api

import (
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"capstore/internal/catalog"
	"capstore/internal/ops"
)

const schemas = "#/components/schemas/"

func newRegistry() huma.Registry {
	r := huma.NewMapRegistry(schemas, schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[ops.Nullable[bool]](), reflect.TypeFor[*bool]())
	r.RegisterTypeAlias(reflect.TypeFor[ops.Nullable[catalog.Deprecation]](), reflect.TypeFor[*catalog.Deprecation]())
	return r
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

// mend corrects what the generator gets wrong for this surface: lists are
// never null in an answer, a reference may be null where Go has a pointer, and
// answers may grow, while an unknown field in a body is a fault.
func mend(r huma.Registry, bodies map[string]bool) {
	for name, s := range r.Map() {
		if !bodies[name] {
			s.AdditionalProperties = nil
		}
		for _, f := range reflect.VisibleFields(r.TypeFromRef(schemas + name)) {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p, ok := s.Properties[key]
			if !ok {
				continue
			}
			if p.Type == huma.TypeArray {
				p.Nullable = false
			}
			if p.Ref != "" && mayBeNull(f, options) {
				s.Properties[key] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}, Description: p.Description}
			}
		}
	}
}

func mayBeNull(f reflect.StructField, options string) bool {
	if f.Type == reflect.TypeFor[ops.Nullable[catalog.Deprecation]]() {
		return true
	}
	return f.Type.Kind() == reflect.Pointer && options != "omitempty"
}

// reachable marks the schemas that the one of the name is made of.
func reachable(r huma.Registry, name string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	var walk func(s *huma.Schema)
	walk = func(s *huma.Schema) {
		if s == nil {
			return
		}
		if s.Ref != "" {
			reachable(r, strings.TrimPrefix(s.Ref, schemas), seen)
		}
		walk(s.Items)
		for _, p := range s.Properties {
			walk(p)
		}
		if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
			walk(more)
		}
	}
	walk(r.Map()[name])
}
