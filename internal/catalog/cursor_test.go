package catalog

import (
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg/pgtest"
)

// The sum of a cursor is no secret, so what it holds is not to be trusted.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t), Options{})
	if err := s.SeedFirstParty(t.Context()); err != nil {
		t.Fatal(err)
	}
	me := capability.Actor{Workspace: "acme", Subject: "6b1f0f0e-0000-7000-8000-000000000000", Role: capability.RoleViewer}
	q := Query{Scope: ScopeVisible, Sort: SortRelevance, Limit: 30}
	for name, c := range map[string]cursor{
		"no snapshot":        {Key: 1, PK: 1},
		"words for one":      {Key: 1, PK: 1, Walk: "'; DROP TABLE capabilities; --"},
		"a backwards one":    {Key: 1, PK: 1, Walk: "20:10:"},
		"a key out of range": {Key: 1 << 60, PK: 1, Walk: "20:30:"},
	} {
		q.Cursor = c.encode(q.fingerprint(me.Viewer()))
		if _, err := s.Browse(t.Context(), me, q); !fault.HasCode(err, "bad_cursor") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
