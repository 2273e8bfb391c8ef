package toolschema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFaultsAModelCanCorrect(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","required":["n","job"],"additionalProperties":false,"properties":{
		"n":{"type":"integer","minimum":1},"ids":{"type":"array","items":{"type":"string"}},"body":{"type":"string"},
		"flag":{"type":"boolean"},"job":{"enum":["a","b"]},"d":{"type":"string","pattern":"^[0-9]+$"}}}`)
	type m = map[string]string
	for args, want := range map[string]m{
		`{"n":"5","job":"a","ids":"[\"q\"]","body":"{\"keep\":1}","flag":"false"}`: {
			"/n":    `Expected integer, found the string "5".`,
			"/ids":  `Expected array, found the string "[\"q\"]".`,
			"/flag": `Expected boolean, found the string "false".`,
		},
		`"{\"n\":5}"`:                          {"": "Expected an object with the parameters by name, found a string."},
		`{"n":0,"job":"c"}`:                    {"/n": "Minimum: got 0, want 1, found the number 0.", "/job": `Expected one of "a", "b", found the string "c".`},
		`{}`:                                   {"/n": `The parameter "n" is required and missing.`, "/job": `The parameter "job" is required and missing.`},
		`{"n":1,"job":"a","bdy":"x"}`:          {"/bdy": `The tool does not name a parameter "bdy". Did you mean "body"?`},
		`{"n":1,"job":"a","d":"x1"}`:           {"/d": `Expected text that matches the pattern ^[0-9]+$, found the string "x1".`},
		`{"n":1.5,"job":"a"}`:                  {"/n": "Expected integer, found the number 1.5."},
		`{"n":1,"n":2}`:                        {"": `The key "n" stands twice in one object (at /n, byte 7).`},
		`{"n":7312459980021764353,"job":"a"}`:  {},
		`{"n":18446744073709551615,"job":"b"}`: {},
	} {
		got := m{}
		for _, f := range s.Validate(json.RawMessage(args)) {
			got[f.Path] = f.Message
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", args, diff)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	open := `{"type":"object","properties":{"job":{"type":"string"},"params":{"type":"object","additionalProperties":true}},"required":["job"]}`
	for name, c := range map[string]struct {
		schema, args string
		want         []string
	}{
		"misspelt":            {open, `{"job":"b","parms":{"k":1}}`, []string{"/parms did_you_mean"}},
		"free-form inside":    {open, `{"job":"b","params":{"k":1,"jbo":2}}`, nil},
		"unlike any":          {open, `{"job":"b","zzzzzz":1}`, []string{"/zzzzzz unknown_key"}},
		"welcome":             {`{"properties":{"job":{}},"additionalProperties":true}`, `{"zzzzzz":1}`, nil},
		"nothing named":       {`{}`, `{"a":1}`, nil},
		"named by an anyOf":   {`{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"a":1,"b":2}`, nil},
		"nested in a list":    {`{"properties":{"l":{"type":"array","items":{"$ref":"#/$defs/E"}}},"$defs":{"E":{"properties":{"colour":{}}}}}`, `{"l":[{"color":1}]}`, []string{"/l/0/color did_you_mean"}},
		"case and separators": {`{"properties":{"userId":{}}}`, `{"user_id":1}`, []string{"/user_id did_you_mean"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, c.schema)
			if f := s.Validate(json.RawMessage(c.args)); f != nil && name != "misspelt" {
				t.Errorf("the schema lets it through, got %v", f)
			}
			if diff := cmp.Diff(c.want, codes(s.Hints(json.RawMessage(c.args)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"properties":{"b":{"type":"string","description":"B."},"a":{"type":"array"},"z":true},"required":["z"]}`)
	var got []string
	for _, p := range s.Parameters() {
		got = append(got, p.Name+"|"+p.Description+"|"+string(p.Schema))
	}
	want := []string{"z||true", `a||{"items":{},"type":"array"}`, `b|B.|{"description":"B.","type":"string"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A schema that costs alternatives^depth, and a pattern that backtracks for
// ever, end with a fault: neither is a pass, neither holds the server up.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	bomb := compile(t, `{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","allOf":[
		{"properties":{"k":{"$ref":"#/$defs/N"}}},{"properties":{"k":{"$ref":"#/$defs/N"}}},{"properties":{"k":{"$ref":"#/$defs/N"}}}]}}}`)
	args := strings.Repeat(`{"k":`, 40) + `{}` + strings.Repeat(`}`, 40)
	if got := codes(bomb.Validate(json.RawMessage(args))); !cmp.Equal(got, []string{" too_complex"}) {
		t.Errorf("exponential schema: %v", got)
	}
	if f := bomb.Validate(json.RawMessage(`{"k":{"k":{}}}`)); f != nil {
		t.Errorf("a small call after it: %v", f)
	}
	slow := compile(t, `{"properties":{"s":{"type":"array","items":{"type":"string","pattern":"^(?=a)(a+)+$"}}}}`)
	evil := `"` + strings.Repeat("a", 40) + `!"`
	list := strings.TrimSuffix(strings.Repeat(evil+",", 30), ",")
	if f := slow.Validate(json.RawMessage(`{"s":[` + list + `]}`)); len(f) == 0 {
		t.Error("an unfinished match passed")
	}
	if f := slow.Validate(json.RawMessage(`{"s":["aaa"]}`)); f != nil {
		t.Errorf("a quick match after it: %v", f)
	}
}
