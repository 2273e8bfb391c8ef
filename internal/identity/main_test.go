package identity_test

import (
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

func TestMain(m *testing.M) {
	identity.CheapHashing()
	goleak.VerifyTestMain(m)
}

const goodPassword = "correct horse battery"

// house is two workspaces: acme with an admin, a member and a viewer, and
// globex, which nobody of acme belongs to but its member.
type house struct {
	db                                 *pg.DB
	ids                                *identity.Service
	admin, member, viewer, outsider    identity.User
	asAdmin, asMember, asViewer, alien capability.Actor
}

func build(t *testing.T) *house {
	t.Helper()
	h := &house{db: pgtest.New(t)}
	h.ids = identity.New(h.db)
	h.admin = h.user(t, "admin@acme.test", "Ada")
	h.member = h.user(t, "member@acme.test", "Max")
	h.viewer = h.user(t, "viewer@acme.test", "Vera")
	h.outsider = h.user(t, "admin@globex.test", "Gus")
	for slug, maker := range map[string]identity.User{"acme": h.admin, "globex": h.outsider} {
		if _, err := h.ids.CreateWorkspace(t.Context(), maker.Subject, slug, slug+" Inc."); err != nil {
			t.Fatal(err)
		}
	}
	h.join(t, "acme", h.member, capability.RoleMember)
	h.join(t, "acme", h.viewer, capability.RoleViewer)
	h.join(t, "globex", h.member, capability.RoleViewer)
	h.asAdmin = h.actor(t, h.admin, "acme")
	h.asMember = h.actor(t, h.member, "acme")
	h.asViewer = h.actor(t, h.viewer, "acme")
	h.alien = h.actor(t, h.outsider, "globex")
	return h
}

func (h *house) user(t *testing.T, email, name string) identity.User {
	t.Helper()
	u, err := h.ids.EnsureUser(t.Context(), identity.NewUser{Email: email, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (h *house) join(t *testing.T, workspace string, u identity.User, role capability.Role) {
	t.Helper()
	if err := h.ids.EnsureMember(t.Context(), workspace, u.Subject, role); err != nil {
		t.Fatal(err)
	}
}

func (h *house) actor(t *testing.T, u identity.User, workspace string) capability.Actor {
	t.Helper()
	p, err := h.ids.PrincipalOf(t.Context(), u.Subject, workspace)
	if err != nil {
		t.Fatal(err)
	}
	return p.Actor()
}

// actions lists the audit actions so far, oldest first.
func (h *house) actions(t *testing.T) []string {
	t.Helper()
	rows, err := h.db.Query(t.Context(), `SELECT action FROM audit ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var a string
		if err := rows.Scan(&a); err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if !fault.HasCode(err, code) {
		t.Fatalf("got %v, want a fault with code %s", err, code)
	}
}

// wantField checks that the input was refused at the path.
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
