package toolsearch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParamsOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, schema string
		want         []Param
	}{
		{"none", `{"type":"object"}`, nil},
		{"flat, in the order of names", `{"properties":{"to":{"type":"string","description":"Whom"},"amount":{}}}`, []Param{{"amount", ""}, {"to", "Whom"}}},
		{"nested after what is near", `{"properties":{"a":{"properties":{"z":{}}},"b":{}}}`, []Param{{"a", ""}, {"b", ""}, {"z", ""}}},
		{"items", `{"properties":{"rows":{"items":{"properties":{"cell":{"description":"One"}}}}}}`, []Param{{"rows", ""}, {"cell", "One"}}},
		{"alternatives", `{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, []Param{{"a", ""}, {"b", ""}}},
		{"local reference", `{"properties":{"at":{"$ref":"#/$defs/Point"}},"$defs":{"Point":{"properties":{"x":{"description":"East"}}}}}`, []Param{{"at", ""}, {"x", "East"}}},
		{"escaped reference", `{"properties":{"at":{"$ref":"#/$defs/a~1b"}},"$defs":{"a/b":{"properties":{"x":{}}}}}`, []Param{{"at", ""}, {"x", ""}}},
		{"reference to itself", `{"$ref":"#","properties":{"a":{"$ref":"#"}}}`, []Param{{"a", ""}, {"a", ""}}},
		{"reference elsewhere", `{"properties":{"a":{"$ref":"https://example.com/a"}}}`, []Param{{"a", ""}}},
		{"reference to nothing", `{"properties":{"a":{"$ref":"#/$defs/gone"}}}`, []Param{{"a", ""}}},
		{"true for a schema", `{"properties":{"a":true}}`, []Param{{"a", ""}}},
		{"no object", `[1]`, nil},
		{"broken", `{"properties":`, nil},
		{"empty", ``, nil},
	} {
		if diff := cmp.Diff(test.want, ParamsOf(json.RawMessage(test.schema))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestParamsOfBounds(t *testing.T) {
	t.Parallel()
	var wide strings.Builder
	for i := range 200 {
		fmt.Fprintf(&wide, `"p%d":{},`, i)
	}
	schema := `{"properties":{` + strings.TrimSuffix(wide.String(), ",") + `}}`
	if got := ParamsOf(json.RawMessage(schema)); len(got) != maxParams {
		t.Errorf("of 200 arguments %d are read, want %d", len(got), maxParams)
	}
	deep := strings.Repeat(`{"properties":{"a":`, 50) + `{}` + strings.Repeat(`}}`, 50)
	if got := ParamsOf(json.RawMessage(deep)); len(got) != maxDepth {
		t.Errorf("of 50 levels %d are read, want %d", len(got), maxDepth)
	}
	huge := `{"properties":{"a":{"description":"` + strings.Repeat("x", maxSchema) + `"}}}`
	if got := ParamsOf(json.RawMessage(huge)); got != nil {
		t.Errorf("a schema beyond the bound has %d arguments", len(got))
	}
}

func FuzzParamsOf(f *testing.F) {
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"properties":{"x":{"items":{"$ref":"#"}}}}]}}}`))
	f.Add([]byte(`{"properties":{"":{"description":1}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if got := ParamsOf(schema); len(got) > maxParams {
			t.Fatalf("%d arguments", len(got))
		}
	})
}
