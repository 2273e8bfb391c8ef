package identity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

func TestPrincipalCarriesStandingAndMemberships(t *testing.T) {
	t.Parallel()
	h := build(t)
	ctx, counter := pg.Counted(t.Context())
	got, err := h.ids.PrincipalOf(ctx, h.member.Subject, "acme")
	if err != nil {
		t.Fatal(err)
	}
	want := identity.Principal{
		Subject: h.member.Subject, Email: "member@acme.test", Name: "Max",
		Workspace: "acme", WorkspaceName: "acme Inc.", Role: capability.RoleMember,
		Memberships: []identity.Membership{
			{Workspace: "acme", Name: "acme Inc.", Role: capability.RoleMember},
			{Workspace: "globex", Name: "globex Inc.", Role: capability.RoleViewer},
		},
		Dismissed: []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := counter.Count(); n != 1 {
		t.Errorf("%d statements, want 1: %q", n, counter.Statements())
	}
}

func TestNoStandingOutsideOnesWorkspaces(t *testing.T) {
	t.Parallel()
	h := build(t)
	var seen []identity.Principal
	for _, workspace := range []string{"globex", "nowhere", ""} {
		p, err := h.ids.PrincipalOf(t.Context(), h.admin.Subject, workspace)
		if err != nil {
			t.Fatal(err)
		}
		if p.IsMember() || p.Viewer().Audiences() != nil || capability.May(p.Actor(), capability.ActRead, capability.Fresh) == nil {
			t.Errorf("%q: an outsider may act or see: %+v", workspace, p)
		}
		seen = append(seen, p)
	}
	if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
		t.Error("a foreign workspace is told apart from a missing one:", diff)
	}
}

func TestNobodysSubjectIsSignedOut(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, subject := range []string{"", "x", uuid.NewString()} {
		if _, err := h.ids.PrincipalOf(t.Context(), subject, "acme"); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%q: got %v", subject, err)
		}
	}
}

func TestByToken(t *testing.T) {
	t.Parallel()
	h := build(t)
	token, bearer, err := h.ids.CreateToken(t.Context(), h.asMember, identity.NewToken{Name: "laptop", Scope: capability.ScopeWrite})
	if err != nil {
		t.Fatal(err)
	}
	ctx, counter := pg.Counted(t.Context())
	p, err := h.ids.ByToken(ctx, bearer, "acme")
	if err != nil {
		t.Fatal(err)
	}
	if want := (capability.Actor{Workspace: "acme", Subject: h.member.Subject, Role: capability.RoleMember, Scope: capability.ScopeWrite}); p.Actor() != want || p.TokenID != token.ID {
		t.Errorf("got %+v", p)
	}
	if n := counter.Count(); n != 1 {
		t.Errorf("%d statements, want 1", n)
	}
	if p, err := h.ids.ByToken(t.Context(), bearer, ""); err != nil || p.Workspace != "acme" {
		t.Errorf("without a workspace: got %+v, %v", p, err)
	}
	// globex knows the person, but this token is not for it.
	if p, err := h.ids.ByToken(t.Context(), bearer, "globex"); err != nil || p.IsMember() {
		t.Errorf("in another workspace: got %+v, %v", p, err)
	}
}

func TestTokenUseIsNotedOncePerMinute(t *testing.T) {
	t.Parallel()
	h := build(t)
	token, bearer, err := h.ids.CreateToken(t.Context(), h.asMember, identity.NewToken{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	use := func(age string) time.Time {
		t.Helper()
		_, err := h.db.Exec(t.Context(), `UPDATE tokens SET last_used_at = last_used_at - $1::interval WHERE id = $2`, age, token.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.ids.ByToken(t.Context(), bearer, "acme"); err != nil {
			t.Fatal(err)
		}
		all, err := h.ids.Tokens(t.Context(), h.member.Subject)
		if err != nil || len(all) != 1 || all[0].LastUsedAt == nil {
			t.Fatalf("got %+v, %v", all, err)
		}
		return *all[0].LastUsedAt
	}
	first := use("0")
	if again := use("0"); !again.Equal(first) {
		t.Error("a second use within the minute was written")
	}
	if later := use("2 minutes"); !later.After(first) {
		t.Error("a use after the minute was not written")
	}
}

func TestDeadTokensAreAlike(t *testing.T) {
	t.Parallel()
	h := build(t)
	newToken := func() (identity.Token, string) {
		token, bearer, err := h.ids.CreateToken(t.Context(), h.asMember, identity.NewToken{Name: "t"})
		if err != nil {
			t.Fatal(err)
		}
		return token, bearer
	}
	revoked, revokedBearer := newToken()
	if err := h.ids.RevokeToken(t.Context(), h.member.Subject, revoked.ID); err != nil {
		t.Fatal(err)
	}
	expired, expiredBearer := newToken()
	if _, err := h.db.Exec(t.Context(), `UPDATE tokens SET expires_at = now() WHERE id = $1`, expired.ID); err != nil {
		t.Fatal(err)
	}
	var first *fault.Fault
	var statements []string
	for name, bearer := range map[string]string{
		"revoked": revokedBearer, "expired": expiredBearer, "unknown": "cap_0123", "empty": "", "huge": string(make2MiB()),
	} {
		ctx, counter := pg.Counted(t.Context())
		_, err := h.ids.ByToken(ctx, bearer, "acme")
		if !fault.Is(err, fault.Unauthenticated) {
			t.Fatalf("%s: got %v", name, err)
		}
		got := fault.From(err)
		if first == nil {
			first, statements = got, counter.Statements()
		}
		if got.Code != first.Code || got.Message != first.Message || !cmp.Equal(statements, counter.Statements()) {
			t.Errorf("%s is told apart: %v", name, got)
		}
	}
}

func make2MiB() []byte { return make([]byte, 2<<20) }
