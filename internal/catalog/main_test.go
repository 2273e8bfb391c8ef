package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

// bundle is a store with two workspaces and five people.
type bundle struct {
	db    *pg.DB
	store *catalog.Service
	// admin and author are of acme; author is in globex too. viewer only reads
	// in acme. other and outsider are of globex and initech.
	admin, author, viewer, other, outsider capability.Actor
}

func setup(t testing.TB) *bundle { return setupWith(t, catalog.Options{}) }

func setupWith(t testing.TB, opts catalog.Options) *bundle {
	t.Helper()
	db := pgtest.New(t)
	b := &bundle{db: db, store: catalog.New(db, opts)}
	for _, slug := range []string{"acme", "globex", "initech"} {
		b.exec(t, `INSERT INTO workspaces (slug, name) VALUES ($1, initcap($1))`, slug)
	}
	b.admin = b.person(t, "Ada", "acme", capability.RoleAdmin)
	b.author = b.person(t, "Ben", "acme", capability.RoleMember)
	b.viewer = b.person(t, "Vic", "acme", capability.RoleViewer)
	b.other = b.person(t, "Gil", "globex", capability.RoleMember)
	b.outsider = b.person(t, "Ivy", "initech", capability.RoleAdmin)
	b.join(t, b.author.Subject, "globex", capability.RoleMember)
	return b
}

func (b *bundle) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := b.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bundle) person(t testing.TB, name, workspace string, role capability.Role) capability.Actor {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	b.exec(t, `INSERT INTO users (id, email, name) VALUES ($1, $2, $3)`, id, id.String()+"@example.com", name)
	b.join(t, id.String(), workspace, role)
	return capability.Actor{Workspace: workspace, Subject: id.String(), Role: role}
}

func (b *bundle) join(t testing.TB, subject, workspace string, role capability.Role) {
	t.Helper()
	b.exec(t, `INSERT INTO memberships (workspace, subject, role) VALUES ($1, $2, $3)`, workspace, subject, string(role))
}

// in is the actor acting in another workspace.
func in(a capability.Actor, workspace string) capability.Actor {
	a.Workspace = workspace
	return a
}

// code is a publication of a small code tool.
func code(name, body string) catalog.Publication {
	spec, err := json.Marshal(map[string]any{
		"type": "code", "language": "python", "code": body, "isReadOnly": true,
		"parametersSchema": json.RawMessage(`{"type":"object"}`),
	})
	if err != nil {
		panic(err)
	}
	return catalog.Publication{Name: name, Description: "Does what " + name + " says.", Spec: spec}
}

func (b *bundle) publish(t testing.TB, by capability.Actor, p catalog.Publication) catalog.Published {
	t.Helper()
	out, err := b.store.Publish(t.Context(), by, p)
	if err != nil {
		t.Fatalf("publish %s: %v", p.Name, err)
	}
	return out
}

// wantCode fails unless err is a fault with the code; "" wants no error.
func wantCode(t testing.TB, err error, code string) *fault.Fault {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Fatalf("unexpected: %v", err)
		}
		return nil
	}
	if !fault.HasCode(err, code) {
		t.Fatalf("got %v, want a fault %s", err, code)
	}
	return fault.From(err)
}

// wantField fails unless err lists the field fault.
func wantField(t testing.TB, err error, path, code string) {
	t.Helper()
	for _, f := range fault.From(err).Fields {
		if f.Path == path && f.Code == code {
			return
		}
	}
	t.Fatalf("got %v, want the fault %s at %s", err, code, path)
}

// countOf is the count of a value, none when it is not among them.
func countOf(counts []catalog.FacetCount, value string) catalog.Count {
	for _, c := range counts {
		if c.Value == value {
			return c.Count
		}
	}
	return catalog.Count{}
}
