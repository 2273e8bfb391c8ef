package identity_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

func (h *house) invite(t *testing.T, role capability.Role, email string) (identity.Invitation, string) {
	t.Helper()
	inv, token, err := h.ids.Invite(t.Context(), h.asAdmin, role, email)
	if err != nil {
		t.Fatal(err)
	}
	return inv, token
}

func TestInvitationByLink(t *testing.T) {
	t.Parallel()
	h := build(t)
	inv, token := h.invite(t, capability.RoleMember, "")
	if life := inv.ExpiresAt.Sub(inv.CreatedAt); life != identity.InvitationLife {
		t.Errorf("lives %v", life)
	}
	seen, err := h.ids.Invitation(t.Context(), token)
	if err != nil || seen.WorkspaceName != "acme Inc." || seen.InvitedBy != "Ada" || seen.Role != capability.RoleMember {
		t.Errorf("got %+v, %v", seen, err)
	}
	workspace, err := h.ids.Accept(t.Context(), h.outsider.Subject, token)
	if err != nil || workspace != "acme" {
		t.Fatalf("got %q, %v", workspace, err)
	}
	if got := h.actor(t, h.outsider, "acme").Role; got != capability.RoleMember {
		t.Errorf("joined as %q", got)
	}
	if _, err := h.ids.Accept(t.Context(), h.viewer.Subject, token); !fault.Is(err, fault.NotFound) {
		t.Errorf("used twice: %v", err)
	}
}

func TestInvitationMakesAnAccount(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, token := h.invite(t, capability.RoleViewer, "New@Acme.test")
	in := identity.NewUser{Email: "other@acme.test", Name: "New", Password: goodPassword}
	_, _, err := h.ids.AcceptAsNew(t.Context(), token, in)
	wantCode(t, err, "invited_other")
	if _, err := h.ids.UserByEmail(t.Context(), "other@acme.test"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an account was left behind: %v", err)
	}
	in.Email = "new@acme.test"
	in.Password = ""
	_, _, err = h.ids.AcceptAsNew(t.Context(), token, in)
	wantField(t, err, "/password", "too_short")
	in.Password = goodPassword
	u, workspace, err := h.ids.AcceptAsNew(t.Context(), token, in)
	if err != nil || workspace != "acme" {
		t.Fatal(err)
	}
	if got := h.actor(t, u, "acme").Role; got != capability.RoleViewer {
		t.Errorf("joined as %q", got)
	}
}

func TestInvitationOfAnAccountThatExists(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, token := h.invite(t, capability.RoleViewer, "")
	_, _, err := h.ids.AcceptAsNew(t.Context(), token, identity.NewUser{Email: "admin@globex.test", Name: "Gus", Password: goodPassword})
	wantCode(t, err, "email_taken")
	if _, err := h.ids.Accept(t.Context(), h.outsider.Subject, token); err != nil {
		t.Errorf("the failed try used the link up: %v", err)
	}
}

func TestInvitationOfAMember(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, token := h.invite(t, capability.RoleAdmin, "")
	_, err := h.ids.Accept(t.Context(), h.viewer.Subject, token)
	wantCode(t, err, "already_member")
	if got := fault.From(err).Detail["workspace"]; got != "acme" {
		t.Errorf("detail %v", got)
	}
	if got := h.actor(t, h.viewer, "acme").Role; got != capability.RoleViewer {
		t.Errorf("a link raised a role to %q", got)
	}
	if _, err := h.ids.Invitation(t.Context(), token); err != nil {
		t.Errorf("the link is used up: %v", err)
	}
}

func TestDeadInvitationsAreAlike(t *testing.T) {
	t.Parallel()
	h := build(t)
	revoked, revokedToken := h.invite(t, capability.RoleMember, "")
	if err := h.ids.RevokeInvitation(t.Context(), h.asAdmin, revoked.ID); err != nil {
		t.Fatal(err)
	}
	expired, expiredToken := h.invite(t, capability.RoleMember, "")
	if _, err := h.db.Exec(t.Context(), `UPDATE invitations SET expires_at = now() WHERE id = $1`, expired.ID); err != nil {
		t.Fatal(err)
	}
	_, usedToken := h.invite(t, capability.RoleMember, "")
	if _, err := h.ids.Accept(t.Context(), h.outsider.Subject, usedToken); err != nil {
		t.Fatal(err)
	}
	var statements []string
	for name, token := range map[string]string{"unknown": "0123", "empty": "", "revoked": revokedToken, "expired": expiredToken, "used": usedToken} {
		ctx, counter := pg.Counted(t.Context())
		_, err := h.ids.Invitation(ctx, token)
		if got := fault.From(err); err == nil || got.Message != fault.Missing().Message || got.Code != fault.Missing().Code {
			t.Errorf("%s: got %v", name, err)
		}
		if statements == nil {
			statements = counter.Statements()
		}
		if diff := cmp.Diff(statements, counter.Statements()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if _, err := h.ids.Accept(t.Context(), h.outsider.Subject, token); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s accepted: %v", name, err)
		}
	}
}

func TestOneOfManyTakesTheLink(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, token := h.invite(t, capability.RoleMember, "")
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range cap(errs) {
		u := h.user(t, fmt.Sprintf("guest%d@elsewhere.test", i), "Guest")
		wg.Go(func() {
			_, err := h.ids.Accept(t.Context(), u.Subject, token)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
		} else if !fault.Is(err, fault.NotFound) {
			t.Error(err)
		}
	}
	if members, err := h.ids.Members(t.Context(), h.asAdmin); err != nil || won != 1 || len(members) != 4 {
		t.Errorf("%d won, %d members, %v", won, len(members), err)
	}
}

func TestInvitingTakesAnAdmin(t *testing.T) {
	t.Parallel()
	h := build(t)
	inv, _ := h.invite(t, capability.RoleMember, "")
	for _, actor := range []capability.Actor{h.asMember, h.asViewer} {
		if _, _, err := h.ids.Invite(t.Context(), actor, capability.RoleAdmin, ""); !fault.Is(err, fault.Denied) {
			t.Errorf("%s invites: %v", actor.Role, err)
		}
		if err := h.ids.RevokeInvitation(t.Context(), actor, inv.ID); !fault.Is(err, fault.Denied) {
			t.Errorf("%s revokes: %v", actor.Role, err)
		}
		if list, err := h.ids.Invitations(t.Context(), actor); err != nil || len(list) != 0 {
			t.Errorf("%s reads %+v, %v", actor.Role, list, err)
		}
	}
	if err := h.ids.RevokeInvitation(t.Context(), h.alien, inv.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("another workspace's admin: %v", err)
	}
	list, err := h.ids.Invitations(t.Context(), h.asAdmin)
	if err != nil || len(list) != 1 || list[0].ID != inv.ID || list[0].InvitedBy != "Ada" {
		t.Errorf("got %+v, %v", list, err)
	}
	_, _, err = h.ids.Invite(t.Context(), h.asAdmin, "owner", "nonsense")
	wantField(t, err, "/role", "unknown_choice")
	wantField(t, err, "/email", "bad_email")
}

// An admin who is no more must not come back by a link that he left open.
func TestDemotedAdminsInvitationsEnd(t *testing.T) {
	t.Parallel()
	h := build(t)
	if err := h.ids.SetRole(t.Context(), h.asAdmin, h.member.Subject, capability.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	_, token, err := h.ids.Invite(t.Context(), h.actor(t, h.member, "acme"), capability.RoleAdmin, "")
	if err != nil {
		t.Fatal(err)
	}
	_, kept := h.invite(t, capability.RoleMember, "")
	if err := h.ids.RemoveMember(t.Context(), h.asAdmin, h.member.Subject); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ids.Accept(t.Context(), h.member.Subject, token); !fault.Is(err, fault.NotFound) {
		t.Errorf("he let himself in: %v", err)
	}
	if _, err := h.ids.Invitation(t.Context(), kept); err != nil {
		t.Errorf("the other admin's link ended: %v", err)
	}
}
