package doctor_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/cmd/capstore/app"
	"capstore/cmd/capstore/doctor"
	"capstore/internal/capability"
	"capstore/internal/identity"
)

// serve starts a server with the configuration, with one admin in acme, and
// returns the configuration that reaches it.
func serve(t *testing.T, cfg app.Config) (app.Config, *app.App) {
	t.Helper()
	cfg, a := serveWith(t, cfg, app.Options{})
	user, err := a.Identity.EnsureUser(t.Context(), identity.NewUser{Email: "ada@acme.test", Name: "Ada"})
	if err == nil {
		err = a.Identity.EnsureWorkspace(t.Context(), "acme", "Acme")
	}
	if err == nil {
		err = a.Identity.EnsureMember(t.Context(), "acme", user.Subject, capability.RoleAdmin)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cfg, a
}

func serveWith(t *testing.T, cfg app.Config, options app.Options) (app.Config, *app.App) {
	t.Helper()
	a, err := app.Open(t.Context(), cfg, options, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	at, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- a.Serve(ctx, func(addr net.Addr) { at <- addr }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.Close()
	})
	cfg.Addr = (<-at).String()
	return cfg, a
}

// TestMemberIsAsked holds the doctor to the very report that the member's own
// server gives, and to leave no token behind.
func TestMemberIsAsked(t *testing.T) {
	t.Parallel()
	cfg, a := serve(t, config(t))
	got := doctor.Examine(t.Context(), cfg, doctor.Member{Workspace: "acme", Email: "ada@acme.test"}, slog.New(slog.DiscardHandler))
	if got.Agent == nil {
		t.Fatalf("no report: %+v", got.Findings)
	}
	user, err := a.Identity.UserByEmail(t.Context(), "ada@acme.test")
	if err != nil {
		t.Fatal(err)
	}
	who, err := a.Identity.PrincipalOf(t.Context(), user.Subject, "acme")
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.Agent.Report(t.Context(), who.Actor(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Agent.Digest != want.Digest || got.Agent.Epoch != want.Epoch {
		t.Errorf("epoch %d %s, want %d %s", got.Agent.Epoch, got.Agent.Digest, want.Epoch, want.Digest)
	}
	var names, wanted []string
	for _, e := range got.Agent.Entries {
		names = append(names, string(e.Key))
	}
	for _, e := range want.Entries {
		wanted = append(wanted, string(e.Key))
	}
	if diff := cmp.Diff(wanted, names); diff != "" {
		t.Error(diff)
	}
	if f := find(t, got, "Agent of ada@acme.test in acme", "entries"); f.State != doctor.OK || !strings.Contains(f.Text, want.Digest) {
		t.Errorf("%+v", f)
	}
	tokens, err := a.Identity.Tokens(t.Context(), user.Subject)
	if err != nil {
		t.Fatal(err)
	}
	if len(tokens) > 0 {
		t.Errorf("left behind: %+v", tokens)
	}
}

func TestMemberThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		who   doctor.Member
		state doctor.State
		says  string
	}{
		{"no server", doctor.Member{Workspace: "acme", Email: "ada@acme.test"}, doctor.Notice, "No server runs"},
		{"half a name", doctor.Member{Workspace: "acme"}, doctor.Wrong, "--email"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			report := doctor.Examine(t.Context(), config(t), tc.who, slog.New(slog.DiscardHandler))
			f := find(t, report, "Agent of "+tc.who.Email+" in "+tc.who.Workspace, "report")
			if f.State != tc.state || !strings.Contains(f.Text, tc.says) {
				t.Errorf("%+v", f)
			}
		})
	}
}
