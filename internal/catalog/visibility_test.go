package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// TestSQLSeesWhatTheKernelSees publishes generated capabilities and holds every
// way of reading them to CanConsume.
func TestSQLSeesWhatTheKernelSees(t *testing.T) {
	t.Parallel()
	b := setupWith(t, catalog.Options{Policy: capability.Policy{AllowMemberPublic: true}})
	ctx := t.Context()
	people := []capability.Actor{b.admin, b.author, b.viewer, b.other, b.outsider}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := fmt.Sprintf("thing-%d", n)
		creator := rapid.SampledFrom([]capability.Actor{b.admin, b.author, in(b.author, "globex"), b.other}).Draw(rt, "creator")
		access := capability.Access{
			Source: creator.Workspace, Reach: rapid.SampledFrom(capability.Reaches).Draw(rt, "reach"), CreatedBy: creator.Subject,
		}
		if access.Reach == capability.ReachSubset && creator.Subject == b.author.Subject && rapid.Bool().Draw(rt, "shared") {
			access.SharedWith = []string{map[string]string{"acme": "globex", "globex": "acme"}[creator.Workspace]}
		}
		p := code("Thing "+id, "print(1)")
		p.ID, p.Visibility, p.SharedWith = id, access.Reach, access.SharedWith
		if _, err := b.store.Publish(ctx, creator, p); err != nil {
			rt.Fatalf("publish: %v", err)
		}
		if access.Source == "acme" && rapid.Bool().Draw(rt, "maintained") {
			access.Maintainers = []string{b.viewer.Subject}
			if err := b.store.Update(ctx, creator, access.Source, id, catalog.Patch{Maintainers: &access.Maintainers}); err != nil {
				rt.Fatalf("name a maintainer: %v", err)
			}
		}
		deleted := rapid.IntRange(0, 4).Draw(rt, "deleted") == 0
		if deleted {
			if err := b.store.Delete(ctx, creator, access.Source, id); err != nil {
				rt.Fatalf("delete: %v", err)
			}
		}
		for range 6 {
			person := rapid.SampledFrom(people).Draw(rt, "viewer")
			viewer := in(person, rapid.SampledFrom([]string{"acme", "globex", "initech", ""}).Draw(rt, "acting in"))
			want := !deleted && capability.CanConsume(access, viewer.Viewer())
			for how, got := range b.waysToRead(rt, viewer, access.Source, id) {
				if got != want {
					rt.Errorf("%s of %+v by %+v: %v, want %v", how, access, viewer, got, want)
				}
			}
		}
	})
}

// waysToRead reports for every way of reading whether it shows the capability.
func (b *bundle) waysToRead(t *rapid.T, viewer capability.Actor, source, id string) map[string]bool {
	ctx := t.Context()
	seen := func(err error) bool {
		if err != nil && !fault.Is(err, fault.NotFound) {
			t.Fatalf("read: %v", err)
		}
		return err == nil
	}
	lists := func(q catalog.Query) bool {
		q.Limit = catalog.MaxLimit
		page, err := b.store.Browse(ctx, viewer, q)
		if err != nil {
			t.Fatalf("browse: %v", err)
		}
		return slices.ContainsFunc(page.Items, func(r catalog.Row) bool { return r.Source == source && r.ID == id })
	}
	_, get := b.store.Get(ctx, viewer, source, id)
	_, version := b.store.Version(ctx, viewer, source, id, "1.0.0")
	_, versions := b.store.Versions(ctx, viewer, source, id)
	_, diff := b.store.Diff(ctx, viewer, source, id, "1.0.0", "1.0.0", nil)
	contents, err := b.store.Contents(ctx, viewer, []capability.Ref{{Source: source, ID: id}}, false)
	if err != nil {
		t.Fatalf("contents: %v", err)
	}
	return map[string]bool{
		"contents": len(contents) > 0,
		"get":      seen(get), "version": seen(version), "versions": seen(versions), "diff": seen(diff),
		"search":         lists(catalog.Query{Q: id}),
		"store and mine": lists(catalog.Query{Q: id, Scope: catalog.ScopeStore}) || lists(catalog.Query{Q: id, Scope: catalog.ScopeMine}),
	}
}

// TestWhatIsHiddenReadsAsMissing holds a stranger's answers to those for what
// does not exist: the same fault by the same statements.
func TestWhatIsHiddenReadsAsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := code("Hidden", "v1")
	p.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, p)
	ask := map[string]func(ctx context.Context, who capability.Actor, id string) error{
		"get": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.Get(ctx, who, "acme", id)
			return err
		},
		"version": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.Version(ctx, who, "acme", id, "1.0.0")
			return err
		},
		"versions": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.Versions(ctx, who, "acme", id)
			return err
		},
		"diff": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.Diff(ctx, who, "acme", id, "1.0.0", "1.0.0", nil)
			return err
		},
		"update": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.Update(ctx, who, "acme", id, catalog.Patch{Tags: &[]string{"x"}})
		},
		"preview": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.PreviewReach(ctx, who, "acme", id, capability.ReachPublic, nil)
			return err
		},
		"preview of a successor": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.PreviewSuccessor(ctx, who, "acme", id, "acme/other")
			return err
		},
		"reliance": func(ctx context.Context, who capability.Actor, id string) error {
			_, err := b.store.Reliance(ctx, who, "acme", id, "1.0.0")
			return err
		},
		"withdraw": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.Withdraw(ctx, who, "acme", id, "1.0.0")
		},
		"revive": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.Revive(ctx, who, "acme", id, "1.0.0")
		},
		"block": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.Block(ctx, who, "acme", id, "1.0.0", "why")
		},
		"unblock": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.Unblock(ctx, who, "acme", id, "1.0.0")
		},
		"version tags": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.SetVersionTags(ctx, who, "acme", id, "1.0.0", nil)
		},
		"delete": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.Delete(ctx, who, "acme", id)
		},
		"take over": func(ctx context.Context, who capability.Actor, id string) error {
			return b.store.TakeOver(ctx, who, id)
		},
	}
	nobody := capability.Actor{Workspace: "initech", Subject: uuid.NewString(), Role: capability.RoleMember}
	for how, ask := range ask {
		for _, who := range []capability.Actor{b.outsider, b.other, nobody, {}} {
			answer := func(id string) (string, []string) {
				ctx, counter := pg.Counted(t.Context())
				err := ask(ctx, who, id)
				if !fault.Is(err, fault.NotFound) {
					t.Errorf("%s by %+v gives %v", how, who, err)
				}
				return fmt.Sprint(err), counter.Statements()
			}
			hidden, ran := answer("hidden")
			missing, alsoRan := answer("no-such-thing")
			if hidden != missing {
				t.Errorf("%s: hidden says %q, missing %q", how, hidden, missing)
			}
			if diff := cmp.Diff(ran, alsoRan); diff != "" {
				t.Errorf("%s runs other statements for what is missing:\n%s", how, diff)
			}
		}
	}
}
