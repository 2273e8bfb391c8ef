package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// relied is a public tool of two versions that three workspaces adopted, at the
// newer one where not pinned back.
func relied(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	first := code("Relied", "v1")
	first.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, first)
	next := code("Relied", "v2")
	next.Bump = capability.BumpMinor
	b.publish(t, b.author, next)
	wantCode(t, b.store.Update(t.Context(), b.admin, "acme", "relied", catalog.Patch{Reach: reachOf(capability.ReachPublic)}), "")
	b.adopt(t, "relied", "globex")
	b.adopt(t, "relied", "initech")
	b.pinBack(t, "initech", "1.0.0")
	return b
}

// pinBack moves a workspace's pin of the tool.
func (b *bundle) pinBack(t *testing.T, workspace, version string) {
	t.Helper()
	b.exec(t, `UPDATE adoptions a SET version_pk = v.pk FROM capability_versions v
		WHERE a.workspace = $1 AND v.capability_pk = a.capability_pk AND v.version = $2`, workspace, version)
}

// switchOn has a member carry a version of the tool by his own choice.
func (b *bundle) switchOn(t *testing.T, who capability.Actor, version string) {
	t.Helper()
	b.exec(t, `INSERT INTO overlays (workspace, subject, key, enabled, version_pk)
		SELECT $1, $2, 'capability:acme/relied', true, v.pk FROM capability_versions v JOIN capabilities c ON c.pk = v.capability_pk
		WHERE c.id = 'relied' AND v.version = $3`, who.Workspace, uuid.MustParse(who.Subject), version)
}

func (b *bundle) reliance(t *testing.T, version string) catalog.Reliance {
	t.Helper()
	got, err := b.store.Reliance(t.Context(), b.author, "acme", "relied", version)
	wantCode(t, err, "")
	return got
}

func TestRelianceCountsWhoRestsOnAVersion(t *testing.T) {
	t.Parallel()
	b := relied(t)
	b.switchOn(t, b.viewer, "1.0.0")
	b.switchOn(t, b.admin, "1.1.0")
	b.switchOn(t, in(b.other, "globex"), "1.0.0") // kept under his workspace's adoption: it holds nothing
	old, latest := b.reliance(t, "1.0.0"), b.reliance(t, "1.1.0")
	if diff := cmp.Diff(catalog.Reliance{Adopters: 2, Pinned: 1, Switched: 2, SwitchedPinned: 1}, old); diff != "" {
		t.Errorf("on 1.0.0 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(catalog.Reliance{Adopters: 2, Pinned: 1, Switched: 2, SwitchedPinned: 1}, latest); diff != "" {
		t.Errorf("on 1.1.0 (-want +got):\n%s", diff)
	}
	b.adopt(t, "relied", "acme") // its members follow the workspace from now on
	b.exec(t, `INSERT INTO skills (workspace, id, name, name_fold, description, content, digest, origin_pk, created_by)
		SELECT 'globex', 'copy', 'copy', 'copy', '', '{}', '', pk, $1 FROM capabilities WHERE id = 'relied'`, uuid.MustParse(b.other.Subject))
	b.unadopt(t, "relied", "globex")
	want := catalog.Reliance{Adopters: 2, Pinned: 1, Copies: 1, Here: true, PinnedHere: true}
	if diff := cmp.Diff(want, b.reliance(t, "1.1.0")); diff != "" {
		t.Errorf("once its own workspace has it (-want +got):\n%s", diff)
	}
}

func TestRelianceLeavesOutWhoCannotReadIt(t *testing.T) {
	t.Parallel()
	b := relied(t)
	ctx := t.Context()
	wantCode(t, b.store.Update(ctx, b.author, "acme", "relied", catalog.Patch{
		Reach: reachOf(capability.ReachSubset), SharedWith: &[]string{"globex"}, Maintainers: nil,
	}), "")
	if got := b.reliance(t, ""); got.Adopters != 1 || got.Pinned != 0 {
		t.Errorf("shared with one of two adopters: %+v", got)
	}
	b.switchOn(t, b.viewer, "1.0.0")
	wantCode(t, b.store.Update(ctx, b.author, "acme", "relied", catalog.Patch{Reach: reachOf(capability.ReachPrivate)}), "")
	if got := b.reliance(t, "1.0.0"); got != (catalog.Reliance{}) {
		t.Errorf("private: %+v", got)
	}
	_, err := b.store.Reliance(ctx, b.author, "acme", "relied", "9.9.9")
	wantCode(t, err, "not_found")
	_, err = b.store.Reliance(ctx, b.viewer, "acme", "relied", "")
	wantCode(t, err, "not_found")
}

func TestAReachPreviewSaysWhoGainsAndWhoLoses(t *testing.T) {
	t.Parallel()
	b := relied(t)
	ctx := t.Context()
	b.switchOn(t, b.viewer, "1.0.0")
	b.switchOn(t, b.author, "1.0.0")
	acme, globex := catalog.Readers{Slug: "acme", Name: "Acme", Members: 3}, catalog.Readers{Slug: "globex", Name: "Globex", Members: 2}
	look := func(reach capability.Reach, with ...string) catalog.ReachPreview {
		t.Helper()
		got, err := b.store.PreviewReach(ctx, b.author, "acme", "relied", reach, with)
		wantCode(t, err, "")
		return got
	}
	for _, step := range []struct {
		name  string
		reach capability.Reach
		with  []string
		want  catalog.ReachPreview
	}{
		{"public to one workspace", capability.ReachSubset, []string{"globex"}, catalog.ReachPreview{
			Workspaces: []catalog.Readers{acme, globex}, EveryoneLost: true, Adopters: 2, Losing: 1,
		}},
		{"public to private", capability.ReachPrivate, nil, catalog.ReachPreview{
			People: 1, EveryoneLost: true, Adopters: 2, Losing: 2, Switched: 1,
		}},
	} {
		if diff := cmp.Diff(step.want, look(step.reach, step.with...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	wantCode(t, b.store.Update(ctx, b.author, "acme", "relied", catalog.Patch{Reach: reachOf(capability.ReachSubset), SharedWith: &[]string{"globex"}}), "")
	lost := acme
	lost.Members = 2 // its creator goes on reading it
	want := catalog.ReachPreview{People: 1, Lost: []catalog.Readers{lost, globex}, Adopters: 1, Losing: 1, Switched: 1}
	if diff := cmp.Diff(want, look(capability.ReachPrivate)); diff != "" {
		t.Errorf("shared to private (-want +got):\n%s", diff)
	}
	_, err := b.store.PreviewReach(ctx, b.author, "acme", "relied", capability.ReachPublic, nil)
	wantCode(t, err, "public_needs_admin")
}

func TestASuccessorIsSomethingToMoveTo(t *testing.T) {
	t.Parallel()
	b := relied(t)
	ctx := t.Context()
	next := code("Next", "v1")
	next.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, next)
	b.publish(t, b.admin, code("Admins Own", "v1"))
	deprecate := func(id, successor string) error {
		return b.store.Update(ctx, b.author, "acme", id, catalog.Patch{Deprecated: &catalog.Deprecation{Successor: successor, Note: "Moved."}})
	}
	for ref, code := range map[string]string{
		"acme/relied": "successor_itself", "acme/nowhere": "unknown_successor", "acme/admins-own": "unknown_successor", "nonsense": "bad_reference",
	} {
		err := deprecate("relied", ref)
		wantField(t, err, "/deprecated/successor", code)
		_, err = b.store.PreviewSuccessor(ctx, b.author, "acme", "relied", ref)
		wantField(t, err, "/deprecated/successor", code)
	}
	seen, err := b.store.PreviewSuccessor(ctx, b.author, "acme", "relied", "acme/next")
	wantCode(t, err, "")
	if seen.Adopters != 2 || seen.Unseen != 2 || seen.Successor.Name != "Next" {
		t.Errorf("preview %+v", seen)
	}
	wantCode(t, deprecate("relied", "acme/next"), "")
	wantField(t, deprecate("next", "acme/relied"), "/deprecated/successor", "successor_circle")
	wantCode(t, b.store.Delete(ctx, b.author, "acme", "next"), "")
	wantCode(t, deprecate("relied", "acme/next"), "") // nothing of it changes
	known, err := b.store.Lookup(ctx, b.outsider, []string{"acme/next", "acme/relied", "acme/admins-own"})
	wantCode(t, err, "")
	if len(known) != 1 || known["acme/relied"].Version != "1.1.0" || known["acme/relied"].Pinned != "1.0.0" || known["acme/relied"].Deprecated == nil {
		t.Errorf("an outsider looks up %+v", known)
	}
}

// TestWhoKeepsAndWhoLosesAgreesWithTheKernel walks every reach to every other
// one, with adopters everywhere, and asks the kernel who reads it.
func TestWhoKeepsAndWhoLosesAgreesWithTheKernel(t *testing.T) {
	t.Parallel()
	b := relied(t)
	ctx := t.Context()
	b.adopt(t, "relied", "acme")
	b.join(t, b.author.Subject, "initech", capability.RoleMember)
	publisher := b.author
	publisher.Role = capability.RoleAdmin
	states := []catalog.Patch{
		{Reach: reachOf(capability.ReachPrivate), SharedWith: &[]string{}}, {Reach: reachOf(capability.ReachWorkspace), SharedWith: &[]string{}},
		{Reach: reachOf(capability.ReachSubset), SharedWith: &[]string{"globex"}}, {Reach: reachOf(capability.ReachSubset), SharedWith: &[]string{"initech"}},
		{Reach: reachOf(capability.ReachSubset), SharedWith: &[]string{"globex", "initech"}}, {Reach: reachOf(capability.ReachPublic), SharedWith: &[]string{}},
	}
	reads := func(p catalog.Patch, workspace string) bool {
		return capability.CanConsume(
			capability.Access{Source: "acme", Reach: *p.Reach, SharedWith: *p.SharedWith, CreatedBy: b.author.Subject},
			capability.Viewer{Workspace: workspace, Subject: uuid.NewString()},
		)
	}
	for _, now := range states {
		wantCode(t, b.store.Update(ctx, publisher, "acme", "relied", now), "")
		for _, next := range states {
			var want catalog.ReachPreview
			for _, workspace := range []string{"acme", "globex", "initech"} {
				if !reads(now, workspace) {
					continue
				}
				if want.Adopters++; !reads(next, workspace) {
					want.Losing++
				}
			}
			got, err := b.store.PreviewReach(ctx, publisher, "acme", "relied", *next.Reach, *next.SharedWith)
			wantCode(t, err, "")
			if got.Adopters != want.Adopters || got.Losing != want.Losing {
				t.Errorf("from %s %v to %s %v: %d adopters, %d losing; the kernel says %d and %d",
					*now.Reach, *now.SharedWith, *next.Reach, *next.SharedWith, got.Adopters, got.Losing, want.Adopters, want.Losing)
			}
			if rests := b.reliance(t, ""); rests.Adopters != want.Adopters {
				t.Errorf("at %s %v: %d rest on it; the kernel says %d", *now.Reach, *now.SharedWith, rests.Adopters, want.Adopters)
			}
		}
	}
}
