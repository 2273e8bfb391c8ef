package catalog_test

import (
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// line publishes three versions of a workspace tool.
func line(t *testing.T) *bundle {
	b := setup(t)
	p := code("Line", "v1")
	p.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, p)
	for _, body := range []string{"v2", "v3"} {
		next := code("Line", body)
		next.Bump = capability.BumpMinor
		b.publish(t, b.author, next)
	}
	return b
}

func TestWithdrawAndRevive(t *testing.T) {
	t.Parallel()
	b := line(t)
	ctx := t.Context()
	wantCode(t, b.store.Withdraw(ctx, b.viewer, "acme", "line", "1.2.0"), "role_too_low")
	wantCode(t, b.store.Withdraw(ctx, b.author, "acme", "line", "9.9.9"), "not_found")
	wantCode(t, b.store.Withdraw(ctx, b.author, "acme", "line", "1.2.0"), "")
	wantCode(t, b.store.Withdraw(ctx, b.author, "acme", "line", "1.2.0"), "")
	c, err := b.store.Get(ctx, b.viewer, "acme", "line")
	wantCode(t, err, "")
	if c.Latest.Version != "1.1.0" {
		t.Errorf("latest is %s", c.Latest.Version)
	}
	p := code("Line", "other")
	p.Version = "1.2.0"
	_, err = b.store.Publish(ctx, b.author, p)
	if f := wantCode(t, err, "version_exists"); f.Detail["state"] != catalog.Withdrawn || f.Detail["version"] != "1.2.0" {
		t.Errorf("conflict says %+v", f.Detail)
	}
	same := code("Line", "v3")
	same.Version = "1.2.0"
	if got := b.publish(t, b.author, same); !got.Revived || got.Created || got.Version.State != catalog.Live || !got.Version.Latest {
		t.Errorf("revival gave %+v", got)
	}
}

func TestAWithdrawnNumberStaysTaken(t *testing.T) {
	t.Parallel()
	b := line(t)
	ctx := t.Context()
	wantCode(t, b.store.Withdraw(ctx, b.author, "acme", "line", "1.2.0"), "")
	p := code("Line", "fresh")
	p.Version = "1.1.5"
	_, err := b.store.Publish(ctx, b.author, p)
	wantCode(t, err, "version_not_newer")
	if got := b.publish(t, b.author, code("Line", "fresh")); got.Version.Version != "1.2.1" {
		t.Errorf("next is %s", got.Version.Version)
	}
	// Outsiders of the owner see neither row nor number of what is withdrawn.
	wantCode(t, b.store.Update(ctx, b.admin, "acme", "line", catalog.Patch{Reach: reachOf(capability.ReachPublic)}), "")
	_, err = b.store.Version(ctx, b.outsider, "acme", "line", "1.2.0")
	wantCode(t, err, "not_found")
	versions, err := b.store.Versions(ctx, b.outsider, "acme", "line")
	wantCode(t, err, "")
	if len(versions) != 3 {
		t.Errorf("an outsider lists %d versions", len(versions))
	}
	own, err := b.store.Versions(ctx, b.viewer, "acme", "line")
	wantCode(t, err, "")
	if len(own) != 4 || own[1].State != catalog.Withdrawn {
		t.Errorf("the owner lists %+v", own)
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	b := line(t)
	ctx := t.Context()
	wantField(t, b.store.Block(ctx, b.author, "acme", "line", "1.2.0", "  "), "/reason", "required")
	wantCode(t, b.store.Block(ctx, b.viewer, "acme", "line", "1.2.0", "leaks"), "role_too_low")
	wantCode(t, b.store.Block(ctx, b.author, "acme", "line", "1.2.0", "leaks a token"), "")
	v, err := b.store.Version(ctx, b.viewer, "acme", "line", "1.2.0")
	wantCode(t, err, "")
	if v.State != catalog.Blocked || v.BlockedReason != "leaks a token" || v.Latest {
		t.Errorf("blocked version is %+v", v.VersionInfo)
	}
	for _, number := range []string{"1.2.0", "", "2.0.0"} {
		p := code("Line", "v3")
		p.Version = number
		_, err := b.store.Publish(ctx, b.author, p)
		if f := wantCode(t, err, "version_exists"); f.Detail["state"] != catalog.Blocked {
			t.Errorf("conflict says %+v", f.Detail)
		}
	}
	wantCode(t, b.store.Unblock(ctx, b.author, "acme", "line", "1.2.0"), "")
	c, err := b.store.Get(ctx, b.viewer, "acme", "line")
	wantCode(t, err, "")
	if c.Latest.Version != "1.2.0" {
		t.Errorf("latest is %s", c.Latest.Version)
	}
}

func TestWithNothingLiveOnlyTheOwnerLooks(t *testing.T) {
	t.Parallel()
	b := line(t)
	ctx := t.Context()
	wantCode(t, b.store.Update(ctx, b.admin, "acme", "line", catalog.Patch{Reach: reachOf(capability.ReachPublic)}), "")
	for _, v := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		wantCode(t, b.store.Withdraw(ctx, b.author, "acme", "line", v), "")
	}
	page, err := b.store.Browse(ctx, b.outsider, catalog.Query{})
	wantCode(t, err, "")
	_, missing := b.store.Get(ctx, b.outsider, "acme", "line")
	wantCode(t, missing, "not_found")
	c, err := b.store.Get(ctx, b.author, "acme", "line")
	wantCode(t, err, "")
	if len(page.Items) != 0 || c.Latest != nil {
		t.Errorf("%d listed, latest %+v", len(page.Items), c.Latest)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := line(t)
	ctx := t.Context()
	colleague := b.person(t, "Col", "acme", capability.RoleMember)
	wantCode(t, b.store.Delete(ctx, colleague, "acme", "line"), "not_owner")
	wantCode(t, b.store.Delete(ctx, in(b.author, "globex"), "acme", "line"), "not_found")
	wantCode(t, b.store.Delete(ctx, b.author, "acme", "line"), "")
	_, err := b.store.Get(ctx, b.author, "acme", "line")
	wantCode(t, err, "not_found")
	_, err = b.store.Publish(ctx, b.author, code("Line", "again"))
	wantCode(t, err, "id_taken")
	wantCode(t, b.store.Delete(ctx, b.author, "acme", "line"), "not_found")
	var audited int
	row := b.db.QueryRow(ctx, `SELECT count(*) FROM audit WHERE action = 'capability.delete' AND target = 'acme/line' AND subject IS NOT NULL`)
	if err := row.Scan(&audited); err != nil || audited != 1 {
		t.Errorf("audited %d times: %v", audited, err)
	}
}

func TestVersionTags(t *testing.T) {
	t.Parallel()
	b := line(t)
	ctx := t.Context()
	wantCode(t, b.store.SetVersionTags(ctx, b.author, "acme", "line", "1.0.0", []string{" stable ", "Stable", "lts"}), "")
	v, err := b.store.Version(ctx, b.viewer, "acme", "line", "1.0.0")
	wantCode(t, err, "")
	if len(v.Tags) != 2 || v.Tags[0] != "stable" {
		t.Errorf("tags are %q", v.Tags)
	}
	wantCode(t, b.store.SetVersionTags(ctx, b.viewer, "acme", "line", "1.0.0", nil), "role_too_low")
}
