package toolschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"capstore/internal/fault"
	"capstore/internal/toolschema"

	"github.com/google/go-cmp/cmp"
)

func compile(t *testing.T, raw string) *toolschema.Schema {
	t.Helper()
	s, err := toolschema.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("Compile(%s): %v", raw, err)
	}
	return s
}

func codes(fields []fault.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Path+" "+f.Code)
	}
	return out
}

func TestCompileRefusals(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"properties":{"a":`, 40) + `{}` + strings.Repeat(`}}`, 40)
	for name, c := range map[string]struct{ raw, code string }{
		"string root":        {`{"type":"string"}`, "schema_root_type"},
		"string by ref":      {`{"$ref":"#/$defs/S","$defs":{"S":{"type":"string"}}}`, "schema_root_type"},
		"only string forms":  {`{"anyOf":[{"type":"string"},{"type":"array"}]}`, "schema_root_type"},
		"list":               {`[]`, "schema_not_an_object"},
		"text":               {`"object"`, "schema_not_an_object"},
		"broken JSON":        {`{"type":`, "schema_unreadable"},
		"duplicate key":      {`{"type":"object","type":"string"}`, "schema_unreadable"},
		"too deep":           {deep, "schema_unreadable"},
		"too large":          {`{"description":"` + strings.Repeat("x", toolschema.MaxSize) + `"}`, "schema_too_large"},
		"nonsense dialect":   {`{"$schema":"urn:x"}`, "schema_unknown_dialect"},
		"draft 3":            {`{"$schema":"http://json-schema.org/draft-03/schema#"}`, "schema_unknown_dialect"},
		"dialect of number":  {`{"$schema":7}`, "schema_unknown_dialect"},
		"remote ref":         {`{"type":"object","properties":{"a":{"$ref":"https://evil.example/s.json"}}}`, "schema_remote_ref"},
		"file ref":           {`{"type":"object","properties":{"a":{"$ref":"file:///etc/hostname"}}}`, "schema_remote_ref"},
		"remote root ref":    {`{"$ref":"https://evil.example/s.json"}`, "schema_remote_ref"},
		"dangling":           {`{"type":"object","properties":{"a":{"$ref":"#/$defs/Nope"}}}`, "schema_dangling_ref"},
		"dangling anchor":    {`{"type":"object","properties":{"a":{"$ref":"#nope"}}}`, "schema_dangling_ref"},
		"unknown type":       {`{"type":"object","properties":{"a":{"type":"strnig"}}}`, "schema_invalid"},
		"properties of text": {`{"type":"object","properties":"a"}`, "schema_invalid"},
		"huge number":        {`{"properties":{"a":{"minimum":1e999999999}}}`, "schema_unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := toolschema.Compile(json.RawMessage(c.raw))
			if !fault.HasCode(err, c.code) || !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v, want code %s", err, c.code)
			}
		})
	}
}

func TestNoParameters(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, ` `, `null`, `{}`, `{"type":"object"}`, `{"type":"object","properties":[]}`,
		`{"type":"object","required":null}`, `{"properties":null}`, `{"type":"object","required":[]}`} {
		s := compile(t, raw)
		var got map[string]any
		if err := json.Unmarshal(s.ForModel(), &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"type": "object", "properties": map[string]any{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
		for _, args := range []string{``, `null`, `{}`} {
			if f := s.Validate(json.RawMessage(args)); f != nil {
				t.Errorf("%q with %q: %v", raw, args, f)
			}
		}
	}
	closed := compile(t, `{"type":"object","additionalProperties":false}`)
	if got := codes(closed.Validate(json.RawMessage(`{"q":1}`))); !cmp.Equal(got, []string{"/q unknown_key"}) {
		t.Errorf("closed object: %v", got)
	}
}

// A list that does not say of what takes anything, and is shown to a model with
// an item schema, as some interfaces insist.
func TestListsWithoutItems(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"ids":{"type":"array"}}}`)
	if f := s.Validate(json.RawMessage(`{"ids":[1,"x",{}]}`)); f != nil {
		t.Errorf("items of any kind: %v", f)
	}
	if got := codes(s.Validate(json.RawMessage(`{"ids":"1,2"}`))); !cmp.Equal(got, []string{"/ids wrong_type"}) {
		t.Errorf("a text: %v", got)
	}
	if got := string(s.ForModel()); got != `{"properties":{"ids":{"items":{},"type":"array"}},"type":"object"}` {
		t.Errorf("model form: %s", got)
	}
}

func TestMendedWithWarning(t *testing.T) {
	t.Parallel()
	for raw, path := range map[string]string{
		`{"type":"object","required":null}`:                                                    "/required",
		`{"type":"object","properties":[]}`:                                                    "/properties",
		`{"properties":{"a":{"type":"string","required":true}}}`:                               "/properties/a/required",
		`{"properties":{"a":{"description":null}}}`:                                            "/properties/a/description",
		`{"properties":{"a":{"type":"integer","minimum":1,"exclusiveMinimum":true}}}`:          "/properties/a/exclusiveMinimum",
		`{"properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`:           "/properties/a/items",
		`{"properties":{"a":{"examples":"x"}}}`:                                                "/properties/a/examples",
		`{"$id":"x#y","type":"object"}`:                                                        "/$id",
		`{"properties":{"a":{"type":"string","pattern":"(?<bad"}}}`:                            "",
		`{"$schema":null,"properties":{"a":{"title":7}}}`:                                      "/properties/a/title",
		`{"properties":{"a":{"type":"object","properties":{"b":{"anyOf":[{"items":null}]}}}}}`: "/properties/a/properties/b/anyOf/0/items",
	} {
		w := compile(t, raw).Warnings()
		if len(w) != 1 || w[0].Path != path {
			t.Errorf("%s: warnings %v, want one at %q", raw, w, path)
		}
	}
	if w := compile(t, `{"type":"object","properties":{"a":{"type":"array"}}}`).Warnings(); len(w) > 0 {
		t.Errorf("a clean schema warns: %v", w)
	}
}

func TestDialects(t *testing.T) {
	t.Parallel()
	tuple := `"properties":{"a":{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false},"n":{"exclusiveMinimum":0}}`
	old := `"properties":{"n":{"minimum":0,"exclusiveMinimum":true}}`
	for name, c := range map[string]struct {
		raw, args string
		ok        bool
	}{
		"draft-07":             {`{"$schema":"http://json-schema.org/draft-07/schema#",` + tuple + `}`, `{"a":["x",1,2]}`, false},
		"draft-07, fits":       {`{"$schema":"http://json-schema.org/draft-07/schema#",` + tuple + `}`, `{"a":["x",1],"n":1}`, true},
		"draft-07 without #":   {`{"$schema":"http://json-schema.org/draft-07/schema",` + tuple + `}`, `{"n":0}`, false},
		"draft-07 by https":    {`{"$schema":"https://json-schema.org/draft-07/schema#",` + tuple + `}`, `{"a":[1]}`, false},
		"draft-06":             {`{"$schema":"http://json-schema.org/draft-06/schema#",` + tuple + `}`, `{"a":["x",1,2]}`, false},
		"2019-09":              {`{"$schema":"https://json-schema.org/draft/2019-09/schema",` + tuple + `}`, `{"a":["x",1,2]}`, false},
		"2019-09, bound":       {`{"$schema":"https://json-schema.org/draft/2019-09/schema",` + tuple + `}`, `{"n":0}`, false},
		"2019-09, fits":        {`{"$schema":"https://json-schema.org/draft/2019-09/schema",` + tuple + `}`, `{"a":["x",1],"n":1}`, true},
		"absent, bound":        {`{` + tuple + `}`, `{"n":0}`, false},
		"absent":               {`{` + tuple + `}`, `{"a":["x",1,2]}`, false},
		"absent, fits":         {`{` + tuple + `}`, `{"a":["x",1],"n":0.5}`, true},
		"2020-12 prefixItems":  {`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"prefixItems":[{"type":"string"}],"items":false}}}`, `{"a":["x",1]}`, false},
		"draft-04":             {`{"$schema":"http://json-schema.org/draft-04/schema#",` + old + `}`, `{"n":0}`, false},
		"draft-04, fits":       {`{"$schema":"http://json-schema.org/draft-04/schema#",` + old + `}`, `{"n":1}`, true},
		"draft-04 bound, 2020": {`{` + old + `}`, `{"n":0}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := compile(t, c.raw).Validate(json.RawMessage(c.args))
			if (len(faults) == 0) != c.ok {
				t.Errorf("got %v, want ok=%v", faults, c.ok)
			}
		})
	}
}

func TestSameIDTwice(t *testing.T) {
	t.Parallel()
	a := compile(t, `{"$id":"https://x.example/tool","properties":{"v":{"$ref":"#/$defs/V"}},"$defs":{"V":{"type":"string"}}}`)
	b := compile(t, `{"$id":"https://x.example/tool","properties":{"v":{"$ref":"#/$defs/V"}},"$defs":{"V":{"type":"integer"}}}`)
	if f := a.Validate(json.RawMessage(`{"v":"x"}`)); f != nil {
		t.Errorf("first: %v", f)
	}
	if f := b.Validate(json.RawMessage(`{"v":1}`)); f != nil {
		t.Errorf("second: %v", f)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	box := `{"type":"object","properties":{"w":{"type":"integer"}},"required":["w"]}`
	for name, raw := range map[string]string{
		"$defs":       `{"type":"object","$defs":{"Box":` + box + `},"properties":{"b":{"$ref":"#/$defs/Box"}},"required":["b"]}`,
		"definitions": `{"type":"object","definitions":{"Box":` + box + `},"properties":{"b":{"$ref":"#/definitions/Box"}},"required":["b"]}`,
		"escapes":     `{"type":"object","$defs":{"a/b c":` + box + `},"properties":{"b":{"$ref":"#/$defs/a~1b%20c"}},"required":["b"]}`,
		"root ref":    `{"$ref":"#/$defs/Args","$defs":{"Box":` + box + `,"Args":{"type":"object","properties":{"b":{"$ref":"#/$defs/Box"}},"required":["b"]}}}`,
		"by own id":   `{"$id":"https://x.example/t","type":"object","$defs":{"Box":` + box + `},"properties":{"b":{"$ref":"https://x.example/t#/$defs/Box"}},"required":["b"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, raw)
			if f := s.Validate(json.RawMessage(`{"b":{"w":3}}`)); f != nil {
				t.Errorf("valid arguments: %v", f)
			}
			if got := codes(s.Validate(json.RawMessage(`{"b":{}}`))); !cmp.Equal(got, []string{"/b/w required"}) {
				t.Errorf("missing w: %v", got)
			}
			var model, want any
			if err := json.Unmarshal(s.ForModel(), &model); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(`{"type":"object","properties":{"b":`+box+`},"required":["b"]}`), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, model); diff != "" {
				t.Errorf("model form: %s", diff)
			}
			if strings.Contains(string(s.Display()), "$ref") {
				t.Errorf("display keeps a reference: %s", s.Display())
			}
		})
	}
}

func TestRecursiveSchema(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"tree":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object",
		"properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}}}}}`)
	if !strings.Contains(string(s.Display()), "Same shape as Node above.") {
		t.Errorf("display: %s", s.Display())
	}
	if !strings.Contains(string(s.ForModel()), `"$defs"`) {
		t.Errorf("the model's form lost the definitions: %s", s.ForModel())
	}
	if got := codes(s.Validate(json.RawMessage(`{"tree":{"kids":[{"kids":[{"v":1}]}]}}`))); !cmp.Equal(got, []string{"/tree/kids/0/kids/0/v wrong_type"}) {
		t.Errorf("deep fault: %v", got)
	}
}

func TestPropertiesNamedLikeKeywords(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"$defs":{"S":{"type":"string"}},"properties":{"type":{"$ref":"#/$defs/S"},"enum":{"$ref":"#/$defs/S"},"$ref":{"type":"string"},"$defs":{"type":"string"},"required":{"type":"boolean"}}}`)
	var form struct{ Properties map[string]map[string]any }
	if err := json.Unmarshal(s.ForModel(), &form); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]any{"type": {"type": "string"}, "enum": {"type": "string"}, "$ref": {"type": "string"}, "$defs": {"type": "string"}, "required": {"type": "boolean"}}
	if diff := cmp.Diff(want, form.Properties); diff != "" {
		t.Error(diff)
	}
}

func TestAlternativesAtTheRoot(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}`)
	for args, ok := range map[string]bool{`{"a":1}`: true, `{"b":1}`: true, `{}`: false, `{"c":1}`: false} {
		if f := s.Validate(json.RawMessage(args)); (len(f) == 0) != ok {
			t.Errorf("%s: %v", args, f)
		}
	}
	var form map[string]any
	if err := json.Unmarshal(s.ForModel(), &form); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{}, "b": map[string]any{}},
		"description": "Give one of these sets of parameters: a | b."}
	if diff := cmp.Diff(want, form); diff != "" {
		t.Error(diff)
	}
	one := compile(t, `{"type":"object","required":["op"],"oneOf":[
		{"properties":{"op":{"const":"add"},"x":{"type":"string"}},"required":["x"]},
		{"properties":{"op":{"const":"del"},"id":{"type":"integer"}},"required":["id"]}]}`)
	if f := one.Validate(json.RawMessage(`{"op":"del","id":4}`)); f != nil {
		t.Errorf("a valid form: %v", f)
	}
	got := codes(one.Validate(json.RawMessage(`{"op":"del","id":"4"}`)))
	if !cmp.Equal(got, []string{" no_alternative", "/id wrong_type"}) {
		t.Errorf("the closest form is not explained: %v", got)
	}
}

func TestOutputSchema(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{``, `null`, `{"title":"x"}`, `true`, `{"type":"string"}`} {
		if _, err := toolschema.CompileOutput(json.RawMessage(raw)); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
	if _, err := toolschema.CompileOutput(json.RawMessage(`7`)); !fault.HasCode(err, "schema_not_an_object") {
		t.Errorf("a number: %v", err)
	}
}

func TestParallelUse(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"properties":{"a":{"type":"string","pattern":"^(?=x)x+$"}}}`)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			want := i%2 == 0
			arg := fmt.Sprintf(`{"a":%q}`, map[bool]string{true: "xx", false: "y"}[want])
			if got := s.Validate(json.RawMessage(arg)) == nil; got != want {
				t.Errorf("%s: %v", arg, got)
			}
		})
	}
	wg.Wait()
}

func FuzzCompile(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}`, `{"a":"x"}`)
	f.Add(`{"anyOf":[{"required":["a"]},{"$ref":"#"}]}`, `{"a":1}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","required":[]}`, `[]`)
	f.Add(`{"allOf":[{"$ref":"#"}]}`, `{}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		s, err := toolschema.Compile(json.RawMessage(schema))
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("an unclear error: %v", err)
			}
			return
		}
		if !json.Valid(s.ForModel()) || !json.Valid(s.Display()) {
			t.Fatal("a derived form is no JSON")
		}
		s.Validate(json.RawMessage(args))
		s.Hints(json.RawMessage(args))
		s.Parameters()
	})
}
