package capability_test

import (
	"encoding/json"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

func TestSpecsSurviveTheirJSON(t *testing.T) {
	t.Parallel()
	for _, kind := range capability.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			c := sample(t, kind)
			if got := c.Spec.Kind(); got != kind {
				t.Fatalf("kind = %q", got)
			}
			raw := capability.EncodeSpec(c.Spec)
			if !strings.HasPrefix(string(raw), `{"type":"`+string(kind)+`"`) {
				t.Errorf("type does not come first: %.60s", raw)
			}
			again, fields := capability.DecodeSpec(raw)
			if len(fields) > 0 {
				t.Fatalf("decode: %v", fields)
			}
			if diff := cmp.Diff(c.Spec, again); diff != "" {
				t.Error(diff)
			}
			canonical, err := c.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			decoded, fields := capability.DecodeContent(canonical)
			if len(fields) > 0 {
				t.Fatalf("decode canonical: %v", fields)
			}
			if decoded.Digest() != c.Digest() {
				t.Error("the digest moved on the way through the canonical form")
			}
		})
	}
}

func TestDecodeSpecNamesEveryFaultAndItsPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"no type":       {`{"code":"x"}`, []string{"/spec/type required"}},
		"null type":     {`{"type":null}`, []string{"/spec/type required"}},
		"type a number": {`{"type":1}`, []string{"/spec/type wrong_type"}},
		"unknown type":  {`{"type":"tool"}`, []string{"/spec/type unknown_kind"}},
		"other case":    {`{"type":"MCP"}`, []string{"/spec/type unknown_kind"}},
		"not an object": {`[]`, []string{"/spec wrong_type"}},
		"null":          {`null`, []string{"/spec wrong_type"}},
		"not JSON":      {`{"type":`, []string{"/spec bad_json"}},
		"empty":         {``, []string{"/spec bad_json"}},
		"duplicate key": {`{"type":"mcp","url":"a","url":"b"}`, []string{"/spec duplicate_key"}},
		"several at once": {
			`{"type":"code","lang":"python","timeoutSec":"30","requiredSecrets":[{"name":"A","value":"s3cret"}],"code":7}`,
			[]string{"/spec/code wrong_type", "/spec/lang unknown_field", "/spec/requiredSecrets/0/value unknown_field", "/spec/timeoutSec wrong_type"},
		},
		"a field of another kind": {`{"type":"command","template":"x","code":"y"}`, []string{"/spec/code unknown_field"}},
		"pointer escapes":         {`{"type":"skill","a/b~c":1}`, []string{"/spec/a~1b~0c unknown_field"}},
		"a variable with a value": {`{"type":"delegation","harness":"h","image":"i","env":{"A":{"secretRef":"B","value":"x"}}}`, []string{"/spec/env/A bad_value"}},
		"a variable as a number":  {`{"type":"delegation","harness":"h","image":"i","env":{"A":1}}`, []string{"/spec/env/A bad_value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, fields := capability.DecodeSpec(json.RawMessage(tc.spec))
			if diff := cmp.Diff(tc.want, marks(fields)); diff != "" {
				t.Error(diff)
			}
			if spec != nil {
				t.Error("a faulty spec was returned")
			}
		})
	}
}

func TestDecodeContentTellsTheFaultsOfBothLevels(t *testing.T) {
	t.Parallel()
	_, fields := capability.DecodeContent([]byte(`{"name":1,"descr":"x","spec":{"type":"command","tmpl":"y"}}`))
	want := []string{"/descr unknown_field", "/name wrong_type", "/spec/tmpl unknown_field"}
	if diff := cmp.Diff(want, marks(fields)); diff != "" {
		t.Error(diff)
	}
	_, fields = capability.DecodeContent([]byte(`{"name":"x","description":"y"}`))
	if diff := cmp.Diff([]string{"/spec required"}, marks(fields)); diff != "" {
		t.Error(diff)
	}
}

// The digest is stored with every version and every consent: if this test
// fails, those of existing installations no longer match.
func TestDigestsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	c := capability.Content{Name: "Echo", Description: "Says <it> back & 한국어.", Spec: &capability.CommandSpec{Template: "Say $1\n"}}
	got, err := c.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"description":"Says <it> back & 한국어.","name":"Echo","spec":{"template":"Say $1\n","type":"command"}}`
	if string(got) != want {
		t.Errorf("canonical form\n got %s\nwant %s", got, want)
	}
	if want := "sha256:633b43044fa55ee1893b57e3de32f2840715a287e7781df2512066baa649a014"; c.Digest() != want {
		t.Errorf("digest = %s, want %s", c.Digest(), want)
	}
}

func TestDigestSeesContentAndNothingElse(t *testing.T) {
	t.Parallel()
	decode := func(s string) capability.Content {
		c, fields := capability.DecodeContent([]byte(s))
		if len(fields) > 0 {
			t.Fatal(fields)
		}
		return c
	}
	base := decode(`{"name":"n","description":"d","spec":{"type":"code","language":"node","code":"1","isReadOnly":true,"parametersSchema":{"type":"object","properties":{"a":{"minimum":1.0},"b":{}}}}}`)
	same := decode(`{"spec":{"parametersSchema":{"properties":{"b":{},"a":{"minimum":1.0}},"type":"object"},"isReadOnly":true,
		"code":"\u0031","language":"node","type":"code","egress":[]},"description":"d","name":"n"}`)
	if base.Digest() != same.Digest() {
		t.Error("order, white space, escapes or an empty list moved the digest")
	}
	other := decode(`{"name":"n","description":"d","spec":{"type":"code","language":"node","code":"1","isReadOnly":true,"parametersSchema":{"type":"object","properties":{"a":{"minimum":1},"b":{}}}}}`)
	if base.Digest() == other.Digest() {
		t.Error("1.0 and 1 were taken for one spelling")
	}
	big := decode(`{"name":"n","description":"d","spec":{"type":"environment","image":"i","preset":{"seed":9007199254740993}}}`)
	if raw, _ := big.Canonical(); !strings.Contains(string(raw), "9007199254740993") {
		t.Errorf("a large integer was rounded: %s", raw)
	}
}

func TestEnvValueKeepsLiteralsAndReferencesApart(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]capability.EnvValue{
		`""`:                                   {},
		`"{\"secretRef\":1}"`:                  {Literal: `{"secretRef":1}`},
		`{"secretRef":"A"}`:                    {SecretRef: "A"},
		`{"secretRef":"A","scope":"personal"}`: {SecretRef: "A", Scope: "personal"},
	} {
		var got capability.EnvValue
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got != want {
			t.Errorf("%s = %+v", raw, got)
		}
		if out, err := json.Marshal(got); err != nil || string(out) != raw {
			t.Errorf("%s came back as %s (%v)", raw, out, err)
		}
	}
	for _, raw := range []string{`null`, `1`, `{}`, `[]`, `{"scope":"personal"}`, `{"secretRef":"A","x":1}`} {
		if err := new(capability.EnvValue).UnmarshalJSON([]byte(raw)); err == nil {
			t.Errorf("%s was accepted", raw)
		}
	}
}
