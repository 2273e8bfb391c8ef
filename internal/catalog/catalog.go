// Package catalog is the store: what is published, in which versions, who may
// read it, and how it is found. It hides the SQL of it all; the rules
// themselves are internal/capability's.
package catalog

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Options is what the operator decided for the store.
type Options struct {
	// Runtimes lists what this server can run beside text and remote servers;
	// nil is nothing. It is asked for each search.
	Runtimes func(context.Context) []Runtime
	Policy   capability.Policy
	Rules    capability.Rules
}

// Service is the store. It is safe for use by many goroutines.
type Service struct {
	db     *pg.DB
	opts   Options
	counts countCache
}

// New returns the store over the database.
func New(db *pg.DB, opts Options) *Service { return &Service{db: db, opts: opts} }

// Rules returns what the operator allows of content.
func (s *Service) Rules() capability.Rules { return s.opts.Rules }

// Policy returns who may publish to everyone, so that pages can hide what
// would be refused.
func (s *Service) Policy() capability.Policy { return s.opts.Policy }

// name spells a capability for logs and the change feed.
func name(source, id string) string { return source + "/" + id }

// splitName takes a name apart; false when it is none.
func splitName(s string) (source, id string, ok bool) {
	source, id, ok = strings.Cut(s, "/")
	return source, id, ok && source != "" && capability.ValidID(id)
}

// subjectOf reads the actor's id. An actor without one is nobody: missing to
// him is everything.
func subjectOf(actor capability.Actor) (uuid.UUID, error) {
	id, err := uuid.Parse(actor.Subject)
	if err != nil {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

func subjects(ids []uuid.UUID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}

func subject(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
