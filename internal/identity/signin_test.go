package identity_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

func withPassword(t *testing.T, h *house, email string) identity.User {
	t.Helper()
	u, err := h.ids.CreateUser(t.Context(), identity.NewUser{Email: email, Name: "Pat", Password: goodPassword})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	h := build(t)
	pat := withPassword(t, h, "Pat@Acme.test")
	for _, email := range []string{"pat@acme.test", " PAT@acme.TEST "} {
		if got, err := h.ids.SignIn(t.Context(), email, goodPassword); err != nil || got != pat.Subject {
			t.Errorf("%q: got %q, %v", email, got, err)
		}
	}
}

func TestUnknownAndWrongAreAlike(t *testing.T) {
	t.Parallel()
	h := build(t)
	withPassword(t, h, "pat@acme.test")
	type answer struct {
		Fault      fault.Fault
		Statements []string
	}
	try := func(email, password string) answer {
		t.Helper()
		ctx, counter := pg.Counted(t.Context())
		_, err := h.ids.SignIn(ctx, email, password)
		if !fault.Is(err, fault.Unauthenticated) {
			t.Fatalf("%s: got %v", email, err)
		}
		return answer{*fault.From(err), counter.Statements()}
	}
	wrong := try("pat@acme.test", "wrong horse battery")
	for name, other := range map[string]answer{
		"unknown":      try("nobody@acme.test", "wrong horse battery"),
		"passwordless": try("admin@acme.test", "wrong horse battery"),
		"empty":        try("pat@acme.test", ""),
		"too long":     try("pat@acme.test", strings.Repeat("x", 10_000)),
		"no address":   try("pat", goodPassword),
		"long address": try(longText(300_000), goodPassword),
	} {
		if diff := cmp.Diff(wrong, other, cmp.AllowUnexported(fault.Fault{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// longText is n bytes that do not compress.
func longText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	return b.String()[:n]
}

func TestSignInIsThrottledPerAccount(t *testing.T) {
	t.Parallel()
	h := build(t)
	pat := withPassword(t, h, "pat@acme.test")
	for range 10 {
		if _, err := h.ids.SignIn(t.Context(), "pat@acme.test", "wrong horse battery"); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
	}
	_, err := h.ids.SignIn(t.Context(), "PAT@acme.test", goodPassword)
	if !fault.Is(err, fault.Limited) {
		t.Fatalf("the right password went through: %v", err)
	}
	if secs, ok := fault.From(err).Detail["retryAfterSec"].(int); !ok || secs < 1 || secs > 15*60 {
		t.Errorf("retry after %v", fault.From(err).Detail)
	}
	if _, err := h.ids.SignIn(t.Context(), "other@acme.test", goodPassword); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("another account is held up: %v", err)
	}
	if _, err := h.db.Exec(t.Context(), `UPDATE signin_failures SET at = at - interval '15 minutes'`); err != nil {
		t.Fatal(err)
	}
	if got, err := h.ids.SignIn(t.Context(), "pat@acme.test", goodPassword); err != nil || got != pat.Subject {
		t.Errorf("after the window: %v", err)
	}
}

func TestSignInIsThrottledPerAddress(t *testing.T) {
	t.Parallel()
	h := build(t)
	withPassword(t, h, "pat@acme.test")
	_, err := h.db.Exec(t.Context(), `INSERT INTO signin_failures (key) SELECT 'i:192.0.2.1' FROM generate_series(1, 40)`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.ids.SignIn(pg.WithAddress(t.Context(), "192.0.2.1"), "pat@acme.test", goodPassword)
	if !fault.Is(err, fault.Limited) {
		t.Errorf("got %v", err)
	}
	if _, err = h.ids.SignIn(pg.WithAddress(t.Context(), "192.0.2.2"), "pat@acme.test", goodPassword); err != nil {
		t.Errorf("another address: %v", err)
	}
}

// A success takes back what it was counted as and forgives the account.
func TestSuccessForgives(t *testing.T) {
	t.Parallel()
	h := build(t)
	withPassword(t, h, "pat@acme.test")
	ctx := pg.WithAddress(t.Context(), "192.0.2.1")
	for range 3 {
		if _, err := h.ids.SignIn(ctx, "pat@acme.test", "wrong horse battery"); err == nil {
			t.Fatal("signed in")
		}
	}
	if _, err := h.ids.SignIn(ctx, "pat@acme.test", goodPassword); err != nil {
		t.Fatal(err)
	}
	var account, address int
	err := h.db.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE key LIKE 'a:%'), count(*) FILTER (WHERE key LIKE 'i:%') FROM signin_failures`).
		Scan(&account, &address)
	if err != nil || account != 0 || address != 3 {
		t.Errorf("left %d for the account and %d for the address, %v; want 0 and 3", account, address, err)
	}
}

func TestParallelGuessesDoNotOutrunTheThrottle(t *testing.T) {
	t.Parallel()
	h := build(t)
	withPassword(t, h, "pat@acme.test")
	var wg sync.WaitGroup
	heard := make(chan bool, 30)
	for range cap(heard) {
		wg.Go(func() {
			_, err := h.ids.SignIn(t.Context(), "pat@acme.test", "wrong horse battery")
			heard <- fault.Is(err, fault.Unauthenticated)
		})
	}
	wg.Wait()
	close(heard)
	n := 0
	for h := range heard {
		if h {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d guesses were heard, want 10", n)
	}
}

// What was typed as an e-mail may be a password; only known ones are logged.
func TestRefusedSignInLeavesATrace(t *testing.T) {
	t.Parallel()
	h := build(t)
	withPassword(t, h, "pat@acme.test")
	ctx := pg.WithAddress(t.Context(), "192.0.2.9")
	for _, email := range []string{"pat@acme.test", "hunter2hunter2"} {
		if _, err := h.ids.SignIn(ctx, email, "wrong horse battery"); err == nil {
			t.Fatal("signed in")
		}
	}
	var got []string
	err := h.db.QueryRow(t.Context(), `SELECT array_agg(target || '@' || address ORDER BY id) FROM audit WHERE action = 'signin.refuse'`).Scan(&got)
	if diff := cmp.Diff([]string{"pat@acme.test@192.0.2.9", "@192.0.2.9"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
