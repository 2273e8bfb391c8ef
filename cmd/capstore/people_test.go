package main

import (
	"strings"
	"testing"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
)

// TestFromAnEmptyDatabase is how an operator begins: account, workspace, people,
// token, each as a script would take it.
func TestFromAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	on := func(args ...string) []string { return append(args, "--database-url", url, "--data", t.TempDir()) }

	password := strings.TrimSuffix(done(t, "", on("user", "create", "--email", "Ada@Example.com", "--name", "Ada")...), "\n")
	out := done(t, "", on("workspace", "create", "--workspace", "acme", "--name", "Acme Logistics", "--email", "ada@example.com")...)
	if want := "Acme Logistics is at http://127.0.0.1:8080/acme/store\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	done(t, "a long password\n", on("user", "create", "--email", "vera@example.com", "--name", "Vera",
		"--workspace", "acme", "--role", "viewer", "--password-stdin")...)
	token := strings.TrimSuffix(done(t, "", on("token", "create", "--email", "ada@example.com", "--workspace", "acme", "--scope", "write", "--expires", "2d")...), "\n")

	people := identity.New(open(t, url))
	who, err := people.ByToken(t.Context(), token, "acme")
	if err != nil || who.Role != capability.RoleAdmin || who.Scope != capability.ScopeWrite {
		t.Errorf("the token speaks for %+v (%v), want an admin of acme who may write", who, err)
	}
	for email, secret := range map[string]string{"ada@example.com": password, "vera@example.com": "a long password"} {
		if _, err := people.SignIn(t.Context(), email, secret); err != nil {
			t.Errorf("%s cannot sign in with the password: %v", email, err)
		}
	}
}

func TestOperatorIsToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	on := func(args ...string) []string { return append(args, "--database-url", url, "--data", t.TempDir()) }
	done(t, "", on("user", "create", "--email", "ada@example.com", "--name", "Ada")...)
	done(t, "", on("workspace", "create", "--workspace", "acme", "--email", "ada@example.com")...)
	done(t, "", on("user", "create", "--email", "lone@example.com", "--name", "Lone")...)

	for _, tc := range []struct {
		name, stdin string
		args        []string
		says        []string
	}{
		{"e-mail in use", "", []string{"user", "create", "--email", "ADA@example.com", "--name", "Ada"}, []string{"exists already"}},
		{"no e-mail, no name", "", []string{"user", "create", "--email", "ada", "--name", " "}, []string{"2 things", "/email", "/name"}},
		{"no password", "\n", []string{"user", "create", "--email", "b@example.com", "--name", "B", "--password-stdin"}, []string{"no password"}},
		{"short password", "short", []string{"user", "create", "--email", "b@example.com", "--name", "B", "--password-stdin"}, []string{"/password"}},
		{"no such workspace", "", []string{"user", "create", "--email", "b@example.com", "--name", "B", "--workspace", "none"}, []string{`"none"`}},
		{"nobody for an admin", "", []string{"workspace", "create", "--workspace", "new", "--email", "b@example.com"}, []string{"b@example.com", "capstore user create"}},
		{"short name in use", "", []string{"workspace", "create", "--workspace", "acme", "--email", "ada@example.com"}, []string{"in use"}},
		{"reserved short name", "", []string{"workspace", "create", "--workspace", "api", "--email", "ada@example.com"}, []string{"/slug"}},
		{"no member", "", []string{"token", "create", "--email", "lone@example.com", "--workspace", "acme"}, []string{"not a member"}},
		{"too long a life", "", []string{"token", "create", "--email", "ada@example.com", "--workspace", "acme", "--expires", "400d"}, []string{"366 days"}},
	} {
		got := command(tc.stdin, on(tc.args...)...)
		if got.Code != 1 || got.Out != "" {
			t.Errorf("%s: %+v, want code 1 and nothing on standard output", tc.name, got)
		}
		for _, part := range tc.says {
			if !strings.Contains(got.Err, part) {
				t.Errorf("%s: %q does not say %q", tc.name, got.Err, part)
			}
		}
	}
	if _, err := identity.New(open(t, url)).UserByEmail(t.Context(), "b@example.com"); err == nil {
		t.Error("a refused command left an account behind")
	}
}

func TestNewerDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := open(t, url)
	if _, err := db.Exec(t.Context(), "UPDATE goose_db_version SET version_id = version_id + 1 WHERE version_id > 0"); err != nil {
		t.Fatal(err)
	}
	got := command("", "user", "create", "--email", "a@b.test", "--name", "A", "--database-url", url, "--data", t.TempDir())
	if got.Code != 1 || !strings.Contains(got.Err, "newer") {
		t.Errorf("%+v, want a refusal that names the newer schema", got)
	}
}

func TestRotatedKeyStillOpens(t *testing.T) {
	t.Parallel()
	url, dir := pgtest.URL(t), t.TempDir()
	on := func(args ...string) []string { return append(args, "--database-url", url, "--data", dir) }
	done(t, "", on("user", "create", "--email", "ada@example.com", "--name", "Ada")...)
	done(t, "", on("workspace", "create", "--workspace", "acme", "--email", "ada@example.com")...)

	db := open(t, url)
	ada, err := identity.New(db).UserByEmail(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	running, err := app.OpenSecrets(t.Context(), app.Config{Data: dir}, db)
	if err != nil {
		t.Fatal(err)
	}
	actor := capability.Actor{Workspace: "acme", Subject: ada.Subject, Role: capability.RoleAdmin}
	if _, err := running.Set(t.Context(), actor, secret.NewSecret{Name: "KEY", Value: secret.NewValue("4f1a9c")}); err != nil {
		t.Fatal(err)
	}
	if out := done(t, "", on("secrets", "rotate-key")...); !strings.Contains(out, ": 1.") {
		t.Errorf("printed %q, want one secret", out)
	}
	values, missing, err := running.Resolve(t.Context(), "acme", ada.Subject, []string{"KEY"})
	if err != nil || len(missing) > 0 || values["KEY"].Reveal() != "4f1a9c" {
		t.Errorf("after the rotation: missing %v, error %v", missing, err)
	}
}

func open(t *testing.T, url string) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), pg.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
