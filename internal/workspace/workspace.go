// Package workspace owns what a workspace's agent is given: the versioned
// agent config and its adoptions, each member's overlay, the workspace's skill
// library, and from these the one answer to what a member's agent carries and
// whether a call may run now.
package workspace

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/netguard"
	"capstore/internal/pg"
)

// Topics of the change feed.
const (
	TopicAgent   = "agent"   // the config of a workspace's agent
	TopicOverlay = "overlay" // a member's switches; the key is his subject
	TopicSkill   = "skill"   // the skill library; the key is the skill's id
	TopicModel   = "model"   // the registered models; the key is the model's name
)

// Options is what the operator decided and what ships with this server.
type Options struct {
	Rules    capability.Rules
	Defaults []Default
	// Guard says which addresses of models may be registered; nil lets the
	// public ones through by https.
	Guard *netguard.Guard
}

// Default is a first-party tool that every agent is offered.
type Default struct {
	ID          string // bare, also its runtime name
	Description string
	ReadOnly    bool
	// Needs names the secrets without which it cannot be switched on.
	Needs []capability.RequiredSecret
}

// Service answers for one database. It is safe for use by many goroutines.
type Service struct {
	db    *pg.DB
	store *catalog.Service
	opts  Options
	known *knowledge
	guard *netguard.Guard
}

// New returns the service over the database; store is what a workspace skill
// is published to.
func New(db *pg.DB, store *catalog.Service, opts Options) *Service {
	s := &Service{db: db, store: store, opts: opts, known: newKnowledge(), guard: opts.Guard}
	if s.guard == nil {
		s.guard, _ = netguard.New(nil) // an empty list has no entry that could be wrong
	}
	return s
}

// queries is the stateless generated code; each call names its handle.
var queries = db.New()

// subjectOf reads the actor's subject. One that is no id belongs to nobody,
// who sees nothing.
func subjectOf(actor capability.Actor) (uuid.UUID, error) {
	id, err := uuid.Parse(actor.Subject)
	if err != nil || actor.Workspace == "" {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

// record audits the act and tells the change feed, in the transaction of the
// act itself.
func record(ctx context.Context, tx pgx.Tx, actor capability.Actor, change pg.Change, e pg.Entry) error {
	e.Workspace, e.Subject = actor.Workspace, actor.Subject
	if err := pg.Audit(ctx, tx, e); err != nil {
		return err
	}
	change.Workspace = actor.Workspace
	return pg.Append(ctx, tx, change)
}

// Person is somebody as lists show him.
type Person = catalog.Person

func person(id *uuid.UUID, name string) Person {
	if id == nil {
		return Person{}
	}
	return Person{Subject: id.String(), Name: name}
}

// decodeContent reads content that this server stored. It was validated then,
// so a fault here is a bug or a damaged row, never the caller's.
func decodeContent(raw string) (capability.Content, error) {
	c, fields := capability.DecodeContent([]byte(raw))
	if len(fields) > 0 {
		return c, fmt.Errorf("stored content: %w", fault.Fields(fields))
	}
	return c, nil
}
