package catalog_test

import (
	"slices"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func TestFirstParty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 2 {
		wantCode(t, b.store.SeedFirstParty(t.Context()), "")
	}
	page, err := b.store.Browse(t.Context(), b.outsider, catalog.Query{Scope: catalog.ScopeStore, Counts: true, Sort: catalog.SortRelevance})
	wantCode(t, err, "")
	n := map[capability.Kind]int{}
	for _, row := range page.Items {
		n[row.Kind]++
		if !row.BuiltIn() || row.Version != "1.0.0" || row.Author != (catalog.Person{}) {
			t.Errorf("%+v is not as shipped", row)
		}
	}
	for kind, least := range map[capability.Kind]int{
		capability.KindSkill: 2, capability.KindHook: 1, capability.KindCommand: 1, capability.KindMCP: 2,
		capability.KindEnvironment: 1, capability.KindDelegation: 1,
	} {
		if counted := countOf(page.Facets.Kinds, string(kind)); n[kind] < least || counted.N != n[kind] {
			t.Errorf("%d of kind %s, counted %d", n[kind], kind, counted.N)
		}
	}
	grafana, err := b.store.Get(t.Context(), b.outsider, capability.FirstPartyOwner, "grafana")
	wantCode(t, err, "")
	spec := grafana.Latest.Content.Spec.(*capability.MCPSpec)
	if spec.Image == "" || !slices.Equal(spec.Args, []string{"-t", "stdio"}) {
		t.Errorf("grafana is %+v", spec)
	}
	err = b.store.Delete(t.Context(), b.admin, capability.FirstPartyOwner, "grafana")
	wantCode(t, err, "read_only")
}
