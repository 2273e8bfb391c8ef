package jsonx_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, code, pointer string }{
		"value":               {in: ` {"a":[1,"x",null,true]} `},
		"scalar":              {in: `7`},
		"64 levels":           {in: strings.Repeat("[", 64) + strings.Repeat("]", 64)},
		"65 levels":           {in: strings.Repeat("[", 65) + strings.Repeat("]", 65), code: "too_deep", pointer: strings.Repeat("/0", 64)},
		"a million levels":    {in: strings.Repeat("[", 1<<20), code: "too_deep", pointer: strings.Repeat("/0", 64)},
		"duplicate key":       {in: `{"a":{"b":1,"b":2}}`, code: "duplicate_key", pointer: "/a/b"},
		"duplicate by escape": {in: `{"a":1,"\u0061":2}`, code: "duplicate_key", pointer: "/a"},
		"trailing":            {in: `{} {}`, code: "trailing_data"},
		"trailing junk":       {in: `{}x`, code: "trailing_data"},
		"invalid UTF-8":       {in: "{\"a\":\"\xff\"}", code: "invalid_utf8", pointer: "/a"},
		"lone surrogate":      {in: `{"a":"\ud800"}`, code: "bad_json", pointer: "/a"},
		"nothing":             {in: ``, code: "bad_json"},
		"cut":                 {in: `{"a":[1,`, code: "bad_json", pointer: "/a"},
		"comment":             {in: `{"a":1 /* x */}`, code: "bad_json"},
		"NaN":                 {in: `{"a":NaN}`, code: "bad_json", pointer: "/a"},
		"exponent":            {in: `{"a":1e999999999}`, code: "number_out_of_range", pointer: "/a"},
		"a long number":       {in: strings.Repeat("9", 500), code: "number_out_of_range"},
		"byte order mark":     {in: "\ufeff{}", code: "bad_json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := jsonx.Check([]byte(c.in), 0)
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !fault.HasCode(err, c.code) || !fault.Is(err, fault.Malformed) {
				t.Fatalf("got %v, want code %s", err, c.code)
			}
			if got := fault.From(err).Detail["pointer"]; c.pointer != "" && got != c.pointer {
				t.Errorf("pointer %q, want %q", got, c.pointer)
			}
		})
	}
	if err := jsonx.Check([]byte(`[1,2,3]`), 5); !fault.Is(err, fault.TooLarge) {
		t.Errorf("over the limit: %v", err)
	}
}

type inner struct {
	Count uint8 `json:"count"`
	Note  *string
}

type embedded struct {
	Kind string `json:"kind"`
}

type body struct {
	embedded
	Name  string            `json:"name"`
	Size  int               `json:"size,omitempty"`
	Items []inner           `json:"items"`
	Map   map[string]inner  `json:"map"`
	When  time.Time         `json:"when"`
	Raw   json.RawMessage   `json:"raw"`
	Any   any               `json:"any"`
	Num   json.Number       `json:"num"`
	Bytes []byte            `json:"bytes"`
	Label map[string]string `json:"label"`
	Gone  string            `json:"-"`
}

func TestDecodeListsEveryFault(t *testing.T) {
	t.Parallel()
	var b body
	err := jsonx.Decode([]byte(`{"nmae":"x","Name":"x","size":1.5,"items":[{"count":256},7,{"cuont":1}],
		"map":{"a/b":{"count":-1}},"when":"soon","num":"7","bytes":"?","label":{"k":1},"Gone":"x"}`), &b)
	got := map[string]string{}
	for _, f := range fault.From(err).Fields {
		got[f.Path] = f.Code
	}
	want := map[string]string{"/nmae": "unknown_field", "/Name": "unknown_field", "/Gone": "unknown_field", "/size": "wrong_type",
		"/items/0/count": "wrong_type", "/items/1": "wrong_type", "/items/2/cuont": "unknown_field", "/map/a~1b/count": "wrong_type",
		"/when": "bad_value", "/num": "wrong_type", "/bytes": "bad_value", "/label/k": "wrong_type"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if msg := fault.From(err).Fields[0].Message; msg != `There is no field "Gone" here.` {
		t.Errorf("fields come in the order of paths, first is %q", msg)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var b body
	in := `{"kind":"k","name":"n","size":-7,"items":[{"count":255,"Note":"x"}],"map":{},"when":"2026-01-02T03:04:05Z",
		"raw":{"free":1},"any":{"n":18446744073709551615},"num":0.1000000000000000055,"bytes":"AAE=","label":null}`
	if err := jsonx.Decode([]byte(in), &b); err != nil {
		t.Fatal(err)
	}
	if b.Kind != "k" || b.Items[0].Count != 255 || string(b.Raw) != `{"free":1}` || b.Num != "0.1000000000000000055" {
		t.Errorf("got %+v", b)
	}
	if n := b.Any.(map[string]any)["n"]; n != json.Number("18446744073709551615") {
		t.Errorf("a number was re-spelt: %v", n)
	}
	fields := jsonx.DecodeAt([]byte(`{"count":"1"}`), &inner{}, "/spec")
	if diff := cmp.Diff([]fault.Field{{Path: "/spec/count", Code: "wrong_type", Message: "Expected a whole number of 0 or more, found a string."}}, fields); diff != "" {
		t.Error(diff)
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ 1.0, 1e2, 18446744073709551615 ] } `: `{"a":[1.0,1e2,18446744073709551615],"b":1}`,
		`{"\u0061":"\u00e9\/<"}`:                                   `{"a":"é/<"}`,
		`{"😀":1,"\ufb33":2}`:                                       "{\"😀\":1,\"\ufb33\":2}",
	} {
		got, err := jsonx.Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
	}
	got, err := jsonx.CanonicalOf(map[string]any{"z": "<b>", "a": json.Number("1.50")})
	if err != nil || string(got) != `{"a":1.50,"z":"<b>"}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// However the keys are ordered and the text is spaced, the canonical form is
// the same, and it is its own canonical form.
func TestCanonicalLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.String(), 0, 6, rapid.ID).Draw(t, "keys")
		shuffled := rapid.Permutation(keys).Draw(t, "order")
		spell := func(keys []string, space string) []byte {
			var b bytes.Buffer
			b.WriteString("{" + space)
			for i, k := range keys {
				if i > 0 {
					b.WriteString("," + space)
				}
				name, err := json.Marshal(k)
				if err != nil {
					t.Fatal(err)
				}
				b.Write(name)
				b.WriteString(":" + space + string(name))
			}
			b.WriteString("}")
			return b.Bytes()
		}
		a, err := jsonx.Canonical(spell(keys, ""))
		if err != nil {
			t.Fatal(err)
		}
		b, err := jsonx.Canonical(spell(shuffled, " \n"))
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s != %s (%v)", a, b, err)
		}
		c, err := jsonx.Canonical(a)
		if err != nil || !bytes.Equal(a, c) {
			t.Fatalf("not stable: %s, %v", c, err)
		}
	})
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"descripton": "description", "DESCRIPTION": "description", "user-id": "userId", "zzz": "", "": "", "nam": "name", "x": ""} {
		if got := jsonx.Nearest(in, []string{"name", "description", "userId", "id"}); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[1e5,"\ud83d\ude00"]`, `{"a":1,"a":2}`, "\xff", `1e1001`, `{}{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := jsonx.Check(data, 1<<20); err != nil {
			if k := fault.From(err).Kind; k != fault.Malformed && k != fault.TooLarge {
				t.Fatalf("an unclear error: %v", err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatal("accepted what is no JSON")
		}
		c, err := jsonx.Canonical(data)
		if err != nil || !json.Valid(c) {
			t.Fatalf("no canonical form: %s, %v", c, err)
		}
		var into body
		_ = jsonx.Decode(data, &into)
	})
}
