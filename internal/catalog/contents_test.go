package catalog_test

import (
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"

	"github.com/google/go-cmp/cmp"
)

// Contents gives several versions at once by the rules of one.
func TestContents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	shared := code("shared", "print(1)")
	shared.Visibility = capability.ReachPublic
	b.publish(t, b.admin, shared)
	for _, body := range []string{"print(2)", "print(3)", "print(4)"} {
		b.publish(t, b.admin, code("shared", body))
	}
	private := code("own", "print(1)")
	private.Visibility = capability.ReachPrivate
	b.publish(t, b.author, private)
	if err := b.store.Withdraw(ctx, b.admin, "acme", "shared", "1.0.1"); err != nil {
		t.Fatal(err)
	}
	if err := b.store.Block(ctx, b.admin, "acme", "shared", "1.0.3", "It leaks."); err != nil {
		t.Fatal(err)
	}
	all := []capability.Ref{{Source: "acme", ID: "own"}, {Source: "acme", ID: "absent"}, {Source: "acme", ID: "shared"}}
	for name, c := range map[string]struct {
		who    capability.Actor
		refs   []capability.Ref
		latest bool
		want   []string
	}{
		"the author":  {b.author, all, false, []string{"own@1.0.0 live latest", "shared@1.0.3 blocked", "shared@1.0.2 live latest", "shared@1.0.1 withdrawn", "shared@1.0.0 live"}},
		"a colleague": {b.admin, all, false, []string{"shared@1.0.3 blocked", "shared@1.0.2 live latest", "shared@1.0.1 withdrawn", "shared@1.0.0 live"}},
		"a stranger":  {b.outsider, all, false, []string{"shared@1.0.3 blocked", "shared@1.0.2 live latest", "shared@1.0.0 live"}},
		"the latest":  {b.outsider, all, true, []string{"shared@1.0.2 live latest"}},
		"one":         {b.outsider, []capability.Ref{{Source: "acme", ID: "shared", Version: "1.0.0"}}, false, []string{"shared@1.0.0 live"}},
		"withdrawn":   {b.outsider, []capability.Ref{{Source: "acme", ID: "shared", Version: "1.0.1"}}, false, nil},
		"none":        {b.author, nil, false, nil},
	} {
		found, err := b.store.Contents(ctx, c.who, c.refs, c.latest)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found {
			line := v.ID + "@" + v.Version + " " + string(v.State)
			if v.Latest {
				line += " latest"
			}
			got = append(got, line)
			if v.Content.Digest() != v.Digest {
				t.Errorf("%s: the content of %s is not its own", name, line)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	note := catalog.Deprecation{Note: "Old."}
	if err := b.store.Update(ctx, b.admin, "acme", "shared", catalog.Patch{Deprecated: &note}); err != nil {
		t.Fatal(err)
	}
	found, err := b.store.Contents(ctx, b.admin, all, true)
	if err != nil || len(found) != 1 || found[0].Deprecated == nil || *found[0].Deprecated != note {
		t.Errorf("%+v %v", found, err)
	}
}
