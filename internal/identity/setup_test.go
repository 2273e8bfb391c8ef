package identity_test

import (
	"sync"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg/pgtest"
)

func firstAdmin(email, slug string) identity.NewSetup {
	return identity.NewSetup{
		NewUser: identity.NewUser{Email: email, Name: "First", Password: goodPassword},
		Slug:    slug, WorkspaceName: "First Ltd",
	}
}

func TestSetup(t *testing.T) {
	t.Parallel()
	ids := identity.New(pgtest.New(t))
	if needed, err := ids.SetupNeeded(t.Context()); err != nil || !needed {
		t.Fatalf("needed %v, %v", needed, err)
	}
	u, err := ids.Setup(t.Context(), firstAdmin("first@acme.test", "acme"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ids.PrincipalOf(t.Context(), u.Subject, "acme")
	if err != nil || p.Role != capability.RoleAdmin || p.WorkspaceName != "First Ltd" || !p.HasPassword {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := ids.SignIn(t.Context(), "first@acme.test", goodPassword); err != nil {
		t.Errorf("sign in: %v", err)
	}
	if needed, err := ids.SetupNeeded(t.Context()); err != nil || needed {
		t.Errorf("still needed: %v, %v", needed, err)
	}
	_, err = ids.Setup(t.Context(), firstAdmin("second@acme.test", "other"))
	wantCode(t, err, "already_set_up")
}

func TestSetupInput(t *testing.T) {
	t.Parallel()
	ids := identity.New(pgtest.New(t))
	_, err := ids.Setup(t.Context(), identity.NewSetup{Slug: "api", WorkspaceName: "a\x00b"})
	wantField(t, err, "/email", "required")
	wantField(t, err, "/name", "required")
	wantField(t, err, "/password", "too_short")
	wantField(t, err, "/slug", "reserved")
	wantField(t, err, "/workspaceName", "control_characters")
	if needed, err := ids.SetupNeeded(t.Context()); err != nil || !needed {
		t.Errorf("something was written: %v, %v", needed, err)
	}
}

func TestSetupToken(t *testing.T) {
	t.Parallel()
	ids := identity.New(pgtest.New(t))
	if ids.SetupTokenRequired() {
		t.Fatal("required before it was asked for")
	}
	token := ids.RequireSetupToken()
	if again := ids.RequireSetupToken(); again != token || !ids.SetupTokenRequired() {
		t.Error("a second call changed the token")
	}
	in := firstAdmin("first@acme.test", "acme")
	for _, wrong := range []string{"", "x", token + "x"} {
		in.Token = wrong
		_, err := ids.Setup(t.Context(), in)
		wantField(t, err, "/token", "wrong")
	}
	in.Token = token
	if _, err := ids.Setup(t.Context(), in); err != nil {
		t.Error(err)
	}
}

func TestTwoSetupsAtOnceMakeOneServer(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ids := identity.New(db)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range cap(errs) {
		wg.Go(func() {
			_, err := ids.Setup(t.Context(), firstAdmin(string(rune('a'+i))+"@acme.test", "acme-"+string(rune('a'+i))))
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	won := 0
	for err := range errs {
		switch {
		case err == nil:
			won++
		case !fault.HasCode(err, "already_set_up"):
			t.Error(err)
		}
	}
	var users, workspaces int
	err := db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM workspaces)`).Scan(&users, &workspaces)
	if won != 1 || users != 1 || workspaces != 1 || err != nil {
		t.Errorf("%d won, %d users, %d workspaces, %v", won, users, workspaces, err)
	}
}
