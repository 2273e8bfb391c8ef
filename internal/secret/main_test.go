package secret_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vault is the secrets of acme, with people in all roles, and an admin of
// globex.
type vault struct {
	db                                  *pg.DB
	secrets                             *secret.Service
	keyFile                             string
	admin, member, other, viewer, alien capability.Actor
}

func build(t *testing.T) *vault {
	t.Helper()
	v := &vault{db: pgtest.New(t), keyFile: filepath.Join(t.TempDir(), "data", "secret.key")}
	v.admin = v.join(t, "acme", capability.RoleAdmin)
	v.member = v.join(t, "acme", capability.RoleMember)
	v.other = v.join(t, "acme", capability.RoleMember)
	v.viewer = v.join(t, "acme", capability.RoleViewer)
	v.alien = v.join(t, "globex", capability.RoleAdmin)
	v.secrets = v.open(t)
	return v
}

// join makes a person of the workspace in plain SQL: this package does not
// know identity.
func (v *vault) join(t *testing.T, workspace string, role capability.Role) capability.Actor {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	for sql, args := range map[string][]any{
		`INSERT INTO workspaces (slug, name) VALUES ($1, $1) ON CONFLICT DO NOTHING`: {workspace},
		`INSERT INTO users (id, email, name) VALUES ($1, $2, 'Somebody')`:            {id, id.String() + "@acme.test"},
	} {
		if _, err := v.db.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	_, err := v.db.Exec(t.Context(), `INSERT INTO memberships (workspace, subject, role) VALUES ($1, $2, $3)`, workspace, id, role)
	if err != nil {
		t.Fatal(err)
	}
	return capability.Actor{Workspace: workspace, Subject: id.String(), Role: role}
}

func (v *vault) open(t *testing.T) *secret.Service {
	t.Helper()
	s, err := secret.Open(t.Context(), v.db, secret.Config{KeyFile: v.keyFile})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (v *vault) set(t *testing.T, actor capability.Actor, name, value string) {
	t.Helper()
	v.put(t, actor, secret.NewSecret{Name: name, Value: secret.NewValue(value)})
}

func (v *vault) setOwn(t *testing.T, actor capability.Actor, name, value string) {
	t.Helper()
	v.put(t, actor, secret.NewSecret{Name: name, Value: secret.NewValue(value), Personal: true})
}

func (v *vault) put(t *testing.T, actor capability.Actor, in secret.NewSecret) {
	t.Helper()
	if _, err := v.secrets.Set(t.Context(), actor, in); err != nil {
		t.Fatal(err)
	}
}

// reveal resolves for the actor and takes the wraps off.
func reveal(t *testing.T, ctx context.Context, s *secret.Service, actor capability.Actor, names ...string) (map[string]string, []string) {
	t.Helper()
	values, missing, err := s.Resolve(ctx, actor.Workspace, actor.Subject, names)
	if err != nil {
		t.Fatal(err)
	}
	clear := map[string]string{}
	for name, v := range values {
		clear[name] = v.Reveal()
	}
	return clear, missing
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if !fault.HasCode(err, code) {
		t.Fatalf("got %v, want a fault with code %s", err, code)
	}
}

func wantField(t *testing.T, err error, path, code string) {
	t.Helper()
	if err != nil {
		for _, f := range fault.From(err).Fields {
			if f.Path == path && f.Code == code {
				return
			}
		}
	}
	t.Fatalf("got %v, want the fault %s at %s", err, code, path)
}
