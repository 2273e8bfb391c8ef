package identity_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

func TestCreateWorkspace(t *testing.T) {
	t.Parallel()
	h := build(t)
	m, err := h.ids.CreateWorkspace(t.Context(), h.viewer.Subject, "initech", "")
	if want := (identity.Membership{Workspace: "initech", Name: "initech", Role: capability.RoleAdmin}); err != nil || m != want {
		t.Errorf("got %+v, %v", m, err)
	}
	for slug, code := range map[string]string{"acme": "taken", "mcp": "reserved", "_capstore": "reserved", "A b": "bad_slug", "": "required"} {
		_, err := h.ids.CreateWorkspace(t.Context(), h.viewer.Subject, slug, "Name")
		wantField(t, err, "/slug", code)
	}
}

func TestOneWinsASlug(t *testing.T) {
	t.Parallel()
	h := build(t)
	var wg sync.WaitGroup
	errs := make(chan error, 10)
	for range cap(errs) {
		wg.Go(func() {
			_, err := h.ids.CreateWorkspace(t.Context(), h.viewer.Subject, "initech", "")
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d won", won)
	}
}

func TestRenameWorkspace(t *testing.T) {
	t.Parallel()
	h := build(t)
	if err := h.ids.RenameWorkspace(t.Context(), h.asAdmin, "Acme & Söhne"); err != nil {
		t.Fatal(err)
	}
	if p, err := h.ids.PrincipalOf(t.Context(), h.viewer.Subject, "acme"); err != nil || p.WorkspaceName != "Acme & Söhne" {
		t.Errorf("got %q, %v", p.WorkspaceName, err)
	}
	if err := h.ids.RenameWorkspace(t.Context(), h.asMember, "Mine"); !fault.Is(err, fault.Denied) {
		t.Errorf("a member: %v", err)
	}
}

func TestMembersAreSeenFromInsideOnly(t *testing.T) {
	t.Parallel()
	h := build(t)
	got, err := h.ids.Members(t.Context(), h.asViewer)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range got {
		names = append(names, m.Name+" "+string(m.Role))
	}
	if diff := cmp.Diff([]string{"Ada admin", "Max member", "Vera viewer"}, names); diff != "" {
		t.Error(diff)
	}
	forged := h.alien
	forged.Workspace = "acme"
	if got, err := h.ids.Members(t.Context(), forged); err != nil || len(got) != 0 {
		t.Errorf("an outsider reads %+v, %v", got, err)
	}
}

func TestSetRole(t *testing.T) {
	t.Parallel()
	h := build(t)
	for name, c := range map[string]struct {
		actor   capability.Actor
		subject string
		role    capability.Role
		code    string
	}{
		"by a member":       {h.asMember, h.viewer.Subject, capability.RoleMember, "role_too_low"},
		"of an outsider":    {h.asAdmin, h.outsider.Subject, capability.RoleMember, "not_found"},
		"of nobody":         {h.asAdmin, uuid.NewString(), capability.RoleMember, "not_found"},
		"from elsewhere":    {h.alien, h.viewer.Subject, capability.RoleMember, "not_found"},
		"to no role":        {h.asAdmin, h.viewer.Subject, "owner", "invalid"},
		"of the last admin": {h.asAdmin, h.admin.Subject, capability.RoleMember, "last_admin"},
	} {
		t.Run(name, func(t *testing.T) {
			wantCode(t, h.ids.SetRole(t.Context(), c.actor, c.subject, c.role), c.code)
		})
	}
	if err := h.ids.SetRole(t.Context(), h.asAdmin, h.viewer.Subject, capability.RoleMember); err != nil {
		t.Fatal(err)
	}
	if got := h.actor(t, h.viewer, "acme").Role; got != capability.RoleMember {
		t.Errorf("got %s", got)
	}
}

func TestTwoAdminsDemotingEachOtherLeaveOne(t *testing.T) {
	t.Parallel()
	h := build(t)
	if err := h.ids.SetRole(t.Context(), h.asAdmin, h.member.Subject, capability.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	other := h.actor(t, h.member, "acme")
	var wg sync.WaitGroup
	var first, second error
	wg.Go(func() { first = h.ids.SetRole(t.Context(), h.asAdmin, h.member.Subject, capability.RoleViewer) })
	wg.Go(func() { second = h.ids.RemoveMember(t.Context(), other, h.admin.Subject) })
	wg.Wait()
	if (first == nil) == (second == nil) {
		t.Fatalf("want one to win: %v, %v", first, second)
	}
	for _, err := range []error{first, second} {
		if err != nil && !fault.HasCode(err, "last_admin") {
			t.Error(err)
		}
	}
}

func TestRemovedMemberLosesHisCredentials(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, here, err := h.ids.CreateToken(t.Context(), h.asMember, identity.NewToken{Name: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	_, there, err := h.ids.CreateToken(t.Context(), h.actor(t, h.member, "globex"), identity.NewToken{Name: "globex"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.ids.RemoveMember(t.Context(), h.asAdmin, h.member.Subject); err != nil {
		t.Fatal(err)
	}
	if p, err := h.ids.PrincipalOf(t.Context(), h.member.Subject, "acme"); err != nil || p.IsMember() {
		t.Errorf("still in: %+v, %v", p, err)
	}
	h.join(t, "acme", h.member, capability.RoleMember)
	if _, err := h.ids.ByToken(t.Context(), here, "acme"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("coming back revived the token: %v", err)
	}
	if _, err := h.ids.ByToken(t.Context(), there, "globex"); err != nil {
		t.Errorf("the other workspace's token died: %v", err)
	}
}

func TestLeave(t *testing.T) {
	t.Parallel()
	h := build(t)
	wantCode(t, h.ids.Leave(t.Context(), h.asAdmin), "last_admin")
	if err := h.ids.Leave(t.Context(), h.asViewer); err != nil {
		t.Fatal(err)
	}
	wantCode(t, h.ids.Leave(t.Context(), h.asViewer), "not_found")
	if err := h.ids.RemoveMember(t.Context(), h.asMember, h.admin.Subject); !fault.Is(err, fault.Denied) {
		t.Errorf("a member removes: %v", err)
	}
}

func TestMembershipChangesAreAnnouncedAndAudited(t *testing.T) {
	t.Parallel()
	h := build(t)
	if _, err := h.db.Exec(t.Context(), `TRUNCATE changes`); err != nil {
		t.Fatal(err)
	}
	before := len(h.actions(t))
	if err := h.ids.SetRole(t.Context(), h.asAdmin, h.viewer.Subject, capability.RoleMember); err != nil {
		t.Fatal(err)
	}
	if err := h.ids.RemoveMember(t.Context(), h.asAdmin, h.viewer.Subject); err != nil {
		t.Fatal(err)
	}
	var changes []string
	err := h.db.QueryRow(t.Context(), `SELECT array_agg(workspace || ' ' || topic || ' ' || key ORDER BY id) FROM changes`).Scan(&changes)
	want := "acme members " + h.viewer.Subject
	if diff := cmp.Diff([]string{want, want}, changes); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if diff := cmp.Diff([]string{"member.role", "member.remove"}, h.actions(t)[before:]); diff != "" {
		t.Error(diff)
	}
}
