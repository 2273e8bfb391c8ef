package intake_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"capstore/internal/fault"
	"capstore/internal/interchange/intake"
)

// Whoever of two requests tells first what it did, the import made it once, and
// its secret was kept once.
func TestTwoRequestsTellOfOneImport(t *testing.T) {
	t.Parallel()
	taken := &fault.Fault{Code: "taken"}
	made := []intake.Result{{Path: "a", Status: intake.Made, Secrets: []intake.KeptSecret{{Name: "KEY", Fault: taken}}}}
	found := []intake.Result{{Path: "a", Status: intake.Unchanged, Secrets: []intake.KeptSecret{{Name: "KEY"}}}, {Path: "b", Status: intake.Refused}}
	want := []intake.Result{{Path: "a", Status: intake.Made, Secrets: []intake.KeptSecret{{Name: "KEY"}}}, {Path: "b", Status: intake.Refused}}
	byPath := cmp.Transformer("byPath", func(rs []intake.Result) map[string]intake.Result {
		out := map[string]intake.Result{}
		for _, r := range rs {
			out[r.Path] = r
		}
		return out
	})
	for name, order := range map[string][][]intake.Result{"maker first": {made, found, made}, "maker last": {found, made}} {
		var st intake.State
		for _, rs := range order {
			copied := []intake.Result{}
			for _, r := range rs {
				r.Secrets = append([]intake.KeptSecret{}, r.Secrets...)
				copied = append(copied, r)
			}
			st.Tell(copied)
		}
		if d := cmp.Diff(want, st.Results, byPath, cmpopts.EquateEmpty()); d != "" || len(st.Results) != 2 {
			t.Errorf("%s: %s", name, d)
		}
	}
}
