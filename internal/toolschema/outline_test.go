package toolschema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

func canonical(t rapid.TB, raw json.RawMessage) string {
	t.Helper()
	out, err := jsonx.Canonical(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(out)
}

func TestOutlineOf(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"type":"object","additionalProperties":false,"required":["city","ghost"],"properties":{
		"city":{"type":"string","description":"Where","minLength":1},
		"unit":{"type":"string","enum":["c","f"],"default":"c"},
		"days":{"type":"array","items":{"type":"integer"}},
		"deep":{"type":"array","items":{"type":"string","minLength":2}},
		"odd":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/x"}]},
		"null":{"type":["string","null"]},
		"num":{"type":"integer","enum":[1,2],"default":1.0}}}`)
	got, ok := OutlineOf(raw)
	want := Outline{Rest: json.RawMessage(`{"additionalProperties":false,"required":["ghost"]}`), Lines: []Line{
		{Name: "city", Type: "string", Description: "Where", Required: true, Rest: json.RawMessage(`{"minLength":1}`)},
		{Name: "unit", Type: TypeEnum, Values: []string{"c", "f"}, Default: json.RawMessage(`"c"`)},
		{Name: "days", Type: "array", Items: "integer"},
		{Name: "deep", Type: "array", Rest: json.RawMessage(`{"items":{"type":"string","minLength":2}}`)},
		{Name: "odd", Type: TypeAny, Rest: json.RawMessage(`{"oneOf":[{"type":"string"},{"$ref":"#/$defs/x"}]}`)},
		{Name: "null", Type: TypeAny, Rest: json.RawMessage(`{"type":["string","null"]}`)},
		{Name: "num", Type: "integer", Default: json.RawMessage(`1.0`), Rest: json.RawMessage(`{"enum":[1,2]}`)},
	}}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Fatalf("ok %v (-want +got):\n%s", ok, diff)
	}
	back, faults := got.Schema()
	if len(faults) > 0 || canonical(t, back) != canonical(t, raw) {
		t.Errorf("faults %v; the schema became\n%s", faults, back)
	}
}

func TestWhatNoListShows(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		``, `true`, `[]`, `{}`, `{"type":"string"}`, `{"type":["object"]}`, `{"type":"object","properties":[]}`,
		`{"type":"object","properties":{"a":true}}`, `{"type":"object","required":"a"}`, `{"type":"object","required":[null]}`,
		`{"type":"object","required":["a","a"]}`, `{"type":"object","properties":{"":{}}}`, `{"type":"object","properties":{" a":{}}}`,
	} {
		if _, ok := OutlineOf(json.RawMessage(raw)); ok {
			t.Errorf("%s is shown as a list", raw)
		}
	}
}

func TestFaultsOfAnOutline(t *testing.T) {
	t.Parallel()
	o := Outline{Rest: json.RawMessage(`{"properties":{}}`), Lines: []Line{
		{Name: "", Type: "string"},
		{Name: "a", Type: "text"},
		{Name: "a", Type: "string"},
		{Name: "b", Type: TypeEnum, Values: []string{"x", "x"}},
		{Name: "c", Type: "string", Default: json.RawMessage(`{`)},
		{Name: "d", Type: "string", Rest: json.RawMessage(`[]`)},
		{Name: "e", Type: "string", Rest: json.RawMessage(`{"type":"integer"}`)},
		{Name: "f", Type: "string", Rest: json.RawMessage(`{`)},
	}}
	schema, faults := o.Schema()
	var got []string
	for _, f := range faults {
		got = append(got, f.Path+" "+f.Code)
	}
	want := []string{
		"/lines/0/name required", "/lines/1/type not_allowed", "/lines/2/name repeated", "/lines/3/values required", "/lines/4/default bad_json",
		"/lines/5/rest wrong_type", "/lines/6/rest repeated", "/lines/7/rest bad_json", "/rest repeated",
	}
	if diff := cmp.Diff(want, got); diff != "" || schema != nil {
		t.Errorf("schema %s, faults (-want +got):\n%s", schema, diff)
	}
}

// outlines draws what a person could fill in.
func outlines() *rapid.Generator[Outline] {
	text := rapid.StringMatching(`[a-zA-Z0-9 "\\<é]{0,12}`)
	raw := func(values ...string) *rapid.Generator[json.RawMessage] {
		return rapid.Map(rapid.SampledFrom(append(values, "")), func(s string) json.RawMessage {
			if s == "" {
				return nil
			}
			return json.RawMessage(s)
		})
	}
	line := rapid.Custom(func(t *rapid.T) Line {
		l := Line{
			Type: rapid.SampledFrom(LineTypes).Draw(t, "type"), Description: text.Draw(t, "description"), Required: rapid.Bool().Draw(t, "required"),
			Name:    rapid.StringMatching(`[a-z][a-zA-Z0-9_/~]{0,9}`).Draw(t, "name"),
			Default: raw(`1`, `1.0`, `"x"`, `null`, `[1,{"a":2}]`).Draw(t, "default"),
			Rest:    raw(`{"minimum":0}`, `{"oneOf":[{"$ref":"#/x"}],"title":"T"}`).Draw(t, "rest"),
		}
		switch l.Type {
		case TypeEnum:
			l.Values = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z"\\é]{1,6}`), 1, 4, rapid.ID[string]).Draw(t, "values")
		case "array":
			l.Items = rapid.SampledFrom(append([]string{""}, ItemTypes...)).Draw(t, "items")
		}
		return l
	})
	return rapid.Custom(func(t *rapid.T) Outline {
		o := Outline{Rest: raw(`{"additionalProperties":false}`, `{"$defs":{"x":{}},"required":["zz/none"]}`).Draw(t, "rest")}
		o.Lines = rapid.SliceOfNDistinct(line, 0, 6, func(l Line) string { return l.Name }).Draw(t, "lines")
		if len(o.Lines) == 0 {
			o.Lines = nil
		}
		return o
	})
}

func TestAnOutlineComesBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := outlines().Draw(t, "outline")
		schema, faults := want.Schema()
		if len(faults) > 0 {
			t.Fatalf("faults %v", faults)
		}
		got, ok := OutlineOf(schema)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Fatalf("ok %v, %s (-want +got):\n%s", ok, schema, diff)
		}
	})
}

func FuzzOutline(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","enum":["x"]}},"required":["a"]}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"default":[]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsonx.Check(raw, MaxSize) != nil {
			return
		}
		first, ok := OutlineOf(raw)
		if !ok {
			return
		}
		schema, faults := first.Schema()
		if len(faults) > 0 {
			if fault.Fields(faults) == nil {
				t.Fatal("faults that are none")
			}
			return
		}
		again, ok := OutlineOf(schema)
		if diff := cmp.Diff(first, again); diff != "" || !ok {
			t.Fatalf("ok %v (-first +again):\n%s", ok, diff)
		}
	})
}
