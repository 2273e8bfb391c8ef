package catalog_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
)

func reachOf(r capability.Reach) *capability.Reach { return &r }

func TestUpdate(t *testing.T) {
	t.Parallel()
	list := func(s ...string) *[]string { return &s }
	subset, public := capability.ReachSubset, capability.ReachPublic
	tests := []struct {
		name  string
		by    func(b *bundle) capability.Actor
		patch func(b *bundle) catalog.Patch
		code  string
		path  string // of the field fault, for invalid input
	}{
		{"creator shares with a workspace of his", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Reach: &subset, SharedWith: list("globex")}
		}, "", ""},
		{"not with one that he is no member of", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Reach: &subset, SharedWith: list("initech")}
		}, "not_a_member", "/sharedWith/0"},
		{"nor with one that does not exist", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Reach: &subset, SharedWith: list("nowhere")}
		}, "not_a_member", "/sharedWith/0"},
		{"nor with the owner", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Reach: &subset, SharedWith: list("acme")}
		}, "owner_listed", "/sharedWith/0"},
		{"targets need a subset", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{SharedWith: list("globex")}
		}, "not_allowed", "/sharedWith"},
		{"unknown reach", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Reach: reachOf("galaxy")}
		}, "not_allowed", "/visibility"},
		{"a member may not promote", nil, func(*bundle) catalog.Patch { return catalog.Patch{Reach: &public} }, "public_needs_admin", ""},
		{"an admin may", func(b *bundle) capability.Actor { return b.admin }, func(*bundle) catalog.Patch {
			return catalog.Patch{Reach: &public}
		}, "", ""},
		{"a viewer changes nothing", func(b *bundle) capability.Actor { return b.viewer }, func(*bundle) catalog.Patch {
			return catalog.Patch{Tags: list("x")}
		}, "role_too_low", ""},
		{"what one cannot see is missing", func(b *bundle) capability.Actor { return b.outsider }, func(*bundle) catalog.Patch {
			return catalog.Patch{Tags: list("x")}
		}, "not_found", ""},
		{"too many tags", nil, func(*bundle) catalog.Patch {
			tags := []string{}
			for i := range 21 {
				tags = append(tags, string(rune('a'+i)))
			}
			return catalog.Patch{Tags: &tags}
		}, "too_many", "/tags"},
		{"maintainers are members", nil, func(b *bundle) catalog.Patch {
			return catalog.Patch{Maintainers: list(b.outsider.Subject)}
		}, "not_a_member", "/maintainers/0"},
		{"maintainers are subjects", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Maintainers: list("ada@example.com")}
		}, "not_a_member", "/maintainers/0"},
		{"maintainers are named by the creator", nil, func(b *bundle) catalog.Patch {
			return catalog.Patch{Maintainers: list(b.admin.Subject)}
		}, "", ""},
		{"stale revision", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Tags: list("x"), IfRevision: 7}
		}, "changed_since", ""},
		{"successor is a reference", nil, func(*bundle) catalog.Patch {
			return catalog.Patch{Deprecated: &catalog.Deprecation{Successor: "the other one"}}
		}, "bad_reference", "/deprecated/successor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := code("Shared Tool", "print(1)")
			p.Visibility = capability.ReachWorkspace
			b.publish(t, b.author, p)
			by := b.author
			if tt.by != nil {
				by = tt.by(b)
			}
			err := b.store.Update(t.Context(), by, "acme", "shared-tool", tt.patch(b))
			if tt.path != "" {
				wantField(t, err, tt.path, tt.code)
				return
			}
			wantCode(t, err, tt.code)
		})
	}
}

func TestReachIsFollowedEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	p := code("Ledger Export", "print(1)")
	p.Visibility, p.SharedWith = capability.ReachSubset, []string{"globex"}
	b.publish(t, b.author, p)
	finds := func(a capability.Actor, scope catalog.Scope) int {
		page, err := b.store.Browse(ctx, a, catalog.Query{Q: "ledger", Scope: scope})
		wantCode(t, err, "")
		return len(page.Items)
	}
	if finds(b.other, catalog.ScopeStore) != 1 || finds(b.other, catalog.ScopeMine) != 0 || finds(b.other, "") != 1 {
		t.Error("a target does not find what is shared with it, or takes it for its own")
	}
	if finds(b.viewer, catalog.ScopeMine) != 1 || finds(b.viewer, catalog.ScopeStore) != 0 {
		t.Error("the owner's own is not under mine alone")
	}
	if finds(b.outsider, "") != 0 {
		t.Error("an outsider finds it")
	}
	preview, err := b.store.PreviewReach(ctx, b.author, "acme", "ledger-export", capability.ReachWorkspace, nil)
	wantCode(t, err, "")
	if preview.Everyone || len(preview.Workspaces) != 1 || preview.Workspaces[0].Slug != "acme" || preview.Workspaces[0].Members != 3 {
		t.Errorf("preview %+v", preview)
	}
	err = b.store.Update(ctx, b.author, "acme", "ledger-export", catalog.Patch{Reach: reachOf(capability.ReachWorkspace)})
	wantCode(t, err, "")
	if finds(b.other, "") != 0 {
		t.Error("a dropped target still finds it")
	}
	_, err = b.store.Get(ctx, b.other, "acme", "ledger-export")
	wantCode(t, err, "not_found")
	var told int
	row := b.db.QueryRow(ctx, `SELECT count(*) FROM changes WHERE topic = $1 AND workspace = 'globex' AND key = 'acme/ledger-export'`, catalog.TopicRevoked)
	if err := row.Scan(&told); err != nil || told != 1 {
		t.Errorf("the revocation was told %d times: %v", told, err)
	}
}

func TestMaintainerStandsBesideTheCreator(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	friend := b.person(t, "Fay", "acme", capability.RoleMember)
	b.publish(t, b.author, code("Secret Tool", "print(1)"))
	_, err := b.store.Get(ctx, friend, "acme", "secret-tool")
	wantCode(t, err, "not_found")
	wantCode(t, b.store.Update(ctx, b.author, "acme", "secret-tool", catalog.Patch{Maintainers: &[]string{friend.Subject}}), "")
	if got := b.publish(t, friend, code("Secret Tool", "print(2)")); got.Version.Version != "1.0.1" {
		t.Errorf("a maintainer published %+v", got.Version)
	}
	wantCode(t, b.store.Delete(ctx, friend, "acme", "secret-tool"), "not_owner")
	wantCode(t, b.store.Update(ctx, friend, "acme", "secret-tool", catalog.Patch{Maintainers: &[]string{}}), "not_owner")
	_, err = b.store.Get(ctx, in(friend, "globex"), "acme", "secret-tool")
	wantCode(t, err, "not_found")
}

func TestWhatALeaverLeaves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	b.publish(t, b.author, code("First Left", "print(1)"))
	b.publish(t, b.author, code("Second Left", "print(2)"))
	hidden, err := b.store.HiddenPrivate(ctx, b.admin)
	wantCode(t, err, "")
	if len(hidden) != 1 || hidden[0] != (catalog.HiddenCount{Kind: capability.KindCode, N: 2}) {
		t.Errorf("hidden: %+v", hidden)
	}
	_, err = b.store.HiddenPrivate(ctx, b.author)
	wantCode(t, err, "role_too_low")
	wantCode(t, b.store.Delete(ctx, b.admin, "acme", "first-left"), "not_found")
	b.exec(t, `DELETE FROM memberships WHERE workspace = 'acme' AND subject = $1`, uuid.MustParse(b.author.Subject))
	left, err := b.store.LeftBehind(ctx, b.admin)
	wantCode(t, err, "")
	if len(left) != 2 || left[0].ID != "first-left" {
		t.Errorf("left: %+v", left)
	}
	wantCode(t, b.store.TakeOver(ctx, b.outsider, "first-left"), "not_found")
	wantCode(t, b.store.TakeOver(ctx, b.viewer, "first-left"), "role_too_low")
	wantCode(t, b.store.TakeOver(ctx, b.admin, "first-left"), "")
	c, err := b.store.Get(ctx, b.admin, "acme", "first-left")
	wantCode(t, err, "")
	if c.Creator.Name != "Ada" {
		t.Errorf("taken over by %+v", c.Creator)
	}
	wantCode(t, b.store.Delete(ctx, b.admin, "acme", "second-left"), "")
}

func TestOfManyWritersOfOneRevisionOneWins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publish(t, b.author, code("Contended", "print(1)"))
	c, err := b.store.Get(t.Context(), b.author, "acme", "contended")
	wantCode(t, err, "")
	results := make(chan error, 10)
	var wg sync.WaitGroup
	for i := range cap(results) {
		wg.Go(func() {
			results <- b.store.Update(t.Context(), b.author, "acme", "contended", catalog.Patch{
				Tags: &[]string{fmt.Sprint("tag ", i)}, IfRevision: c.Revision,
			})
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		switch {
		case err == nil:
			won++
		case !fault.HasCode(err, "changed_since"):
			t.Errorf("a loser got %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won", won)
	}
}

func TestManyPublishAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			p := code(fmt.Sprintf("Parallel %d", i), "print(1)")
			p.Visibility = capability.ReachPublic
			if _, err := b.store.Publish(t.Context(), b.admin, p); err != nil {
				t.Errorf("publish %d: %v", i, err)
			}
			if err := b.store.Update(t.Context(), b.admin, "acme", fmt.Sprintf("parallel-%d", i), catalog.Patch{Tags: &[]string{"even", fmt.Sprint(i)}}); err != nil {
				t.Errorf("tag %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	page, err := b.store.Browse(t.Context(), b.outsider, catalog.Query{Q: "parallel", Tags: []string{"even"}, Counts: true})
	wantCode(t, err, "")
	if len(page.Items) != 20 || page.Total.N != 20 {
		t.Errorf("%d found, %+v counted", len(page.Items), page.Total)
	}
	page, err = b.store.Browse(t.Context(), b.outsider, catalog.Query{Q: "parallel", Counts: true, Limit: 5})
	wantCode(t, err, "")
	if countOf(page.Facets.Kinds, string(capability.KindCode)).N != 20 {
		t.Errorf("the list counts %+v", page.Facets.Kinds)
	}
}
