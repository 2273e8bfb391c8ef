package identity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/fault"
	"capstore/internal/identity"
)

func TestCreateUserInput(t *testing.T) {
	t.Parallel()
	h := build(t)
	good := identity.NewUser{Email: "new@acme.test", Name: "New", Password: goodPassword}
	for name, c := range map[string]struct {
		change     func(*identity.NewUser)
		path, code string
	}{
		"no email":      {func(u *identity.NewUser) { u.Email = " " }, "/email", "required"},
		"no at":         {func(u *identity.NewUser) { u.Email = "new" }, "/email", "bad_email"},
		"display name":  {func(u *identity.NewUser) { u.Email = "New <new@acme.test>" }, "/email", "bad_email"},
		"two":           {func(u *identity.NewUser) { u.Email = "a@b.test, c@d.test" }, "/email", "bad_email"},
		"header":        {func(u *identity.NewUser) { u.Email = "a@b.test\r\nBcc: c@d.test" }, "/email", "bad_email"},
		"nul":           {func(u *identity.NewUser) { u.Email = "a\x00@b.test" }, "/email", "bad_email"},
		"bidi email":    {func(u *identity.NewUser) { u.Email = "a\u202e@b.test" }, "/email", "bad_email"},
		"long email":    {func(u *identity.NewUser) { u.Email = strings.Repeat("a", 250) + "@b.test" }, "/email", "bad_email"},
		"no name":       {func(u *identity.NewUser) { u.Name = "" }, "/name", "required"},
		"tab":           {func(u *identity.NewUser) { u.Name = "a\tb" }, "/name", "control_characters"},
		"zero width":    {func(u *identity.NewUser) { u.Name = "a\u200bb" }, "/name", "control_characters"},
		"bytes":         {func(u *identity.NewUser) { u.Name = "a\xffb" }, "/name", "control_characters"},
		"short":         {func(u *identity.NewUser) { u.Password = "123456789" }, "/password", "too_short"},
		"long":          {func(u *identity.NewUser) { u.Password = strings.Repeat("x", 257) }, "/password", "too_long"},
		"password byte": {func(u *identity.NewUser) { u.Password = "0123456789\xff" }, "/password", "bad_text"},
	} {
		t.Run(name, func(t *testing.T) {
			in := good
			c.change(&in)
			_, err := h.ids.CreateUser(t.Context(), in)
			wantField(t, err, c.path, c.code)
		})
	}
	t.Run("all at once", func(t *testing.T) {
		_, err := h.ids.CreateUser(t.Context(), identity.NewUser{Password: "short"})
		wantField(t, err, "/email", "required")
		wantField(t, err, "/name", "required")
		wantField(t, err, "/password", "too_short")
	})
}

func TestEmailIsOneWhateverItsCase(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, err := h.ids.CreateUser(t.Context(), identity.NewUser{Email: "ADMIN@acme.Test", Name: "Twin"})
	wantCode(t, err, "email_taken")
	wantField(t, err, "/email", "taken")
}

func TestNamesAreComposed(t *testing.T) {
	t.Parallel()
	h := build(t)
	u, err := h.ids.CreateUser(t.Context(), identity.NewUser{Email: "han@acme.test", Name: " 한글 "})
	if err != nil || u.Name != "한글" {
		t.Errorf("got %q, %v", u.Name, err)
	}
}

func TestChangePasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	h := build(t)
	pat := withPassword(t, h, "pat@acme.test")
	b := newBrowser(t, h)
	other := newBrowser(t, h)
	b.signIn(t, pat.Subject)
	other.signIn(t, pat.Subject)

	err := h.ids.ChangePassword(t.Context(), pat.Subject, "wrong horse battery", "another good one", b.key(t))
	wantField(t, err, "/password", "wrong")
	err = h.ids.ChangePassword(t.Context(), pat.Subject, goodPassword, "short", b.key(t))
	wantField(t, err, "/newPassword", "too_short")
	if other.subject(t) != pat.Subject {
		t.Fatal("a refused change ended a session")
	}

	if err := h.ids.ChangePassword(t.Context(), pat.Subject, goodPassword, "another good one", b.key(t)); err != nil {
		t.Fatal(err)
	}
	if b.subject(t) != pat.Subject {
		t.Error("one's own session ended")
	}
	if other.subject(t) != "" {
		t.Error("the other session goes on")
	}
	if _, err := h.ids.SignIn(t.Context(), "pat@acme.test", goodPassword); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := h.ids.SignIn(t.Context(), "pat@acme.test", "another good one"); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

func TestChangePasswordIsThrottled(t *testing.T) {
	t.Parallel()
	h := build(t)
	pat := withPassword(t, h, "pat@acme.test")
	for range 10 {
		err := h.ids.ChangePassword(t.Context(), pat.Subject, "wrong horse battery", "another good one", "")
		wantField(t, err, "/password", "wrong")
	}
	err := h.ids.ChangePassword(t.Context(), pat.Subject, goodPassword, "another good one", "")
	if !fault.Is(err, fault.Limited) {
		t.Errorf("got %v", err)
	}
}

func TestProfileAndHints(t *testing.T) {
	t.Parallel()
	h := build(t)
	if err := h.ids.SetProfile(t.Context(), h.admin.Subject, identity.Profile{Name: "Ada L.", Locale: "ko", Theme: "dark"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.ids.Dismiss(t.Context(), h.admin.Subject, "store.welcome"); err != nil {
			t.Fatal(err)
		}
	}
	p, err := h.ids.PrincipalOf(t.Context(), h.admin.Subject, "acme")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "Ada L." || p.Locale != "ko" || p.Theme != "dark" || !cmp.Equal(p.Dismissed, []string{"store.welcome"}) {
		t.Errorf("got %+v", p)
	}
	err = h.ids.SetProfile(t.Context(), h.admin.Subject, identity.Profile{Name: "", Locale: "xx", Theme: "pink"})
	wantField(t, err, "/name", "required")
	wantField(t, err, "/locale", "unknown_choice")
	wantField(t, err, "/theme", "unknown_choice")
	if err := h.ids.Dismiss(t.Context(), h.admin.Subject, "<script>"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestEnsureChangesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	h := build(t)
	before := len(h.actions(t))
	u, err := h.ids.EnsureUser(t.Context(), identity.NewUser{Email: "ADMIN@acme.test", Name: "Somebody else"})
	if err != nil || u != h.admin {
		t.Errorf("got %+v, %v", u, err)
	}
	if err := h.ids.EnsureWorkspace(t.Context(), "acme", "Another name"); err != nil {
		t.Fatal(err)
	}
	h.join(t, "acme", h.member, "viewer")
	if p := h.actor(t, h.member, "acme"); p != h.asMember {
		t.Errorf("the role changed: %+v", p)
	}
	if after := len(h.actions(t)); after != before {
		t.Errorf("%d entries in the audit log for nothing", after-before)
	}
}

// OWASP's floor for one pass: less is cheaper for whoever steals the table.
func TestHashesAreCostly(t *testing.T) {
	t.Parallel()
	if p := identity.RealHashing; p.Memory < 46<<10 || p.Iterations < 1 || p.SaltLength < 16 || p.KeyLength < 32 {
		t.Errorf("got %+v", p)
	}
}
