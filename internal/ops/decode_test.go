package ops

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/fault"
)

// FuzzDecodeBody: whatever is sent, a body is read or refused with a fault that
// names what is wrong.
func FuzzDecodeBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":1,"spec":{"type":"code","type":"mcp"}}`, `{"enabled":null}`, `[`, "\xff", `{"deprecated":{"note":3,"x":1}}`,
		`{"name":"x","description":"y","spec":{"type":"command","template":"$1"},"tags":["a"]}`, `{"config":{"capabilities":[{}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, into := range []any{&NewPublication{}, &CapabilityPatch{}, &Switch{}, &NewAgentConfig{}, &NewSkill{}} {
			err := DecodeBody(data, into)
			if fault.Is(err, fault.Internal) || fault.Is(err, fault.Invalid) && len(fault.From(err).Fields) == 0 {
				t.Errorf("%T: %v", into, err)
			}
		}
	})
}

// TestNull tells null from what was left out.
func TestNull(t *testing.T) {
	t.Parallel()
	yes := true
	for body, want := range map[string]Nullable[bool]{
		`{"enabled":null}`: {Set: true}, `{"enabled":true}`: {Set: true, Value: &yes},
	} {
		var got Switch
		must(t, DecodeBody([]byte(body), &got))
		if diff := cmp.Diff(want, got.Enabled); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	for body, code := range map[string]string{`{}`: "required", `{"enabled":1}`: "bad_value"} {
		f := fault.From(DecodeBody([]byte(body), &Switch{}))
		if f == nil || len(f.Fields) != 1 || f.Fields[0].Code != code || f.Fields[0].Path != "/enabled" {
			t.Errorf("%s: %v, want %s at /enabled", body, f, code)
		}
	}
}
