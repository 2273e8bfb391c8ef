// Package identity knows people: users, their memberships and roles, how they
// join, sign in and hold tokens. A credential goes in and a Principal comes
// out; what the Principal may do is the kernel's to say.
package identity

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/semaphore"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Topics of the change feed that this package appends to. The key of each is
// the subject whom the change concerns, or "" for the whole workspace.
const (
	TopicMembers   = "members"
	TopicWorkspace = "workspace"
)

// Service is the people's side of one database. Make it with New.
type Service struct {
	db      *pg.DB
	q       *db.Queries
	hashing *semaphore.Weighted
	dummy   func() string

	setupMu    sync.Mutex
	setupToken string
}

// New returns a service over the database.
func New(database *pg.DB) *Service {
	return &Service{
		db: database, q: db.New(),
		hashing: semaphore.NewWeighted(maxHashing),
		dummy:   sync.OnceValue(dummyHash),
	}
}

// subjectID reads a subject. What is no id belongs to nobody.
func subjectID(subject string) (uuid.UUID, error) {
	id, err := uuid.Parse(subject)
	if err != nil {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

// newID makes the id of a new row; ids sort by the time they were made.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// record leaves the trace of a membership change: the audit entry and the
// hint that makes every server look again.
func record(ctx context.Context, tx pgx.Tx, topic, key string, e pg.Entry) error {
	if err := pg.Audit(ctx, tx, e); err != nil {
		return err
	}
	return pg.Append(ctx, tx, pg.Change{Workspace: e.Workspace, Topic: topic, Key: key})
}

func none(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
