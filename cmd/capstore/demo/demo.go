// Package demo fills an empty capstore with a believable company: two
// workspaces, five people in all roles, a catalogue with its history, and an
// agent in every state that a page can show. It is for one's own machine.
package demo

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/identity"
	"capstore/internal/pg"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// The two workspaces of the demo.
const (
	Acme   = "acme"
	Globex = "globex"
)

// Parts are the services that the demo is made with: it goes the way that
// people go, so that every rule holds for it.
type Parts struct {
	DB        *pg.DB
	Identity  *identity.Service
	Secrets   *secret.Service
	Catalog   *catalog.Service
	Workspace *workspace.Service
	Log       *slog.Logger
}

// person is one of the demo's people with his roles.
type person struct {
	email, name string
	roles       map[string]capability.Role
}

var people = []person{
	{"admin@acme.demo", "Mara Lindqvist", map[string]capability.Role{Acme: capability.RoleAdmin}},
	{"member@acme.demo", "Jun Park", map[string]capability.Role{Acme: capability.RoleMember, Globex: capability.RoleMember}},
	{"viewer@acme.demo", "Tom Okafor", map[string]capability.Role{Acme: capability.RoleViewer}},
	{"admin@globex.demo", "Elif Aydin", map[string]capability.Role{Globex: capability.RoleAdmin}},
	{"member@globex.demo", "Rosa Almeida", map[string]capability.Role{Globex: capability.RoleMember}},
}

// Emails lists the demo's people in the order of its sign-in page.
func Emails() []string {
	out := make([]string, 0, len(people))
	for _, p := range people {
		out = append(out, p.email)
	}
	return out
}

// marker is the audit entry that says that the demo is complete.
const marker = "demo.filled"

// cast finds the demo's people by e-mail.
type cast struct {
	subjects map[string]string
}

// in is the person acting in the workspace.
func (c cast) in(ws, email string) capability.Actor {
	for _, p := range people {
		if p.email == email {
			return capability.Actor{Workspace: ws, Subject: c.subjects[email], Role: p.roles[ws]}
		}
	}
	return capability.Actor{}
}

// Fill makes the demo where it is not there yet. What an interrupted start
// left is completed, and on a complete one nothing changes.
func Fill(ctx context.Context, p Parts) error {
	done, err := filled(ctx, p.DB)
	if err != nil || done {
		return err
	}
	who, err := enrol(ctx, p)
	if err != nil {
		return err
	}
	if err := publishAll(ctx, p, who); err != nil {
		return err
	}
	if err := play(ctx, p, who); err != nil {
		return err
	}
	if _, err := p.Catalog.Reindex(ctx); err != nil {
		return err
	}
	return p.DB.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return pg.Audit(ctx, tx, pg.Entry{Workspace: Acme, Action: marker})
	})
}

func filled(ctx context.Context, db *pg.DB) (done bool, err error) {
	err = db.QueryRow(ctx, "SELECT EXISTS (SELECT FROM audit WHERE workspace = $1 AND action = $2)", Acme, marker).Scan(&done)
	return done, pg.Fault(err)
}

func enrol(ctx context.Context, p Parts) (cast, error) {
	who := cast{subjects: map[string]string{}}
	for slug, name := range map[string]string{Acme: "Acme Logistics", Globex: "Globex Finance"} {
		if err := p.Identity.EnsureWorkspace(ctx, slug, name); err != nil {
			return who, err
		}
	}
	for _, one := range people {
		user, err := p.Identity.EnsureUser(ctx, identity.NewUser{Email: one.email, Name: one.name})
		if err != nil {
			return who, fmt.Errorf("demo: %s: %w", one.email, err)
		}
		who.subjects[one.email] = user.Subject
		for slug, role := range one.roles {
			if err := p.Identity.EnsureMember(ctx, slug, user.Subject, role); err != nil {
				return who, fmt.Errorf("demo: %s in %s: %w", one.email, slug, err)
			}
		}
	}
	return who, nil
}
