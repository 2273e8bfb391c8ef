package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/pg"
)

func TestSimilarNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	public := func(who capability.Actor, name string) {
		p := code(name, "print(1)")
		p.Visibility = capability.ReachPublic
		b.publish(t, who, p)
	}
	public(b.admin, "IBAN check")
	public(b.admin, "Weather in Seoul")
	public(b.admin, "Mail merge")
	hidden := code("IBAN check own", "print(2)")
	hidden.Visibility = capability.ReachPrivate
	b.publish(t, b.author, hidden)
	for name, want := range map[string][]string{
		"IBAN check":       {"iban-check"},
		"iban-Check":       {"iban-check"},
		"IbanCheck":        {"iban-check"},
		"IBАN check":       {"iban-check"}, // a Cyrillic A
		"IBAN chekc":       {"iban-check"},
		"IBAN checks":      {"iban-check"},
		"IBN check":        {"iban-check"},
		"Check IBAN":       {"iban-check"},
		"Seoul in weather": {"weather-in-seoul"},
		"IBAN cheque":      nil,
		"IBAN check own":   nil,
		"Mail":             nil,
		"":                 nil,
		"\u202e":           nil,
		"Weather in Seol":  {"weather-in-seoul"},
	} {
		ctx, counter := pg.Counted(t.Context())
		found, err := b.store.Similar(ctx, b.other, name)
		wantCode(t, err, "")
		var ids []string
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		if diff := cmp.Diff(want, ids); diff != "" || counter.Count() > 1 {
			t.Errorf("%q by %d statements:\n%s", name, counter.Count(), diff)
		}
	}
	found, err := b.store.Similar(t.Context(), b.author, "IBAN check own")
	wantCode(t, err, "")
	if diff := cmp.Diff([]catalog.Similar{{Source: "acme", ID: "iban-check-own", Name: "IBAN check own", Kind: capability.KindCode}}, found); diff != "" {
		t.Errorf("to its creator:\n%s", diff)
	}
}
