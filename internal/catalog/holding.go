package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// holding is a capability locked for writing.
type holding struct {
	db.LockCapabilityRow
	access capability.Access
}

func hold(row db.LockCapabilityRow) *holding {
	return &holding{LockCapabilityRow: row, access: capability.Access{
		Source: row.Source, Reach: capability.Reach(row.Reach), SharedWith: row.SharedWith,
		CreatedBy: subject(row.CreatedBy), Maintainers: subjects(row.Maintainers),
	}}
}

func (h *holding) name() string { return name(h.Source, h.ID) }

// readers says whom a change of the capability concerns, as the change feed
// addresses them.
func (h *holding) readers() []string {
	switch h.access.Reach {
	case capability.ReachPublic:
		return []string{""}
	case capability.ReachSubset:
		return append([]string{h.Source}, h.access.SharedWith...)
	}
	return []string{h.Source}
}

// Topics of the change feed.
const (
	// TopicCapability is any change of a capability; the key is source/id.
	TopicCapability = "capability"
	// TopicRevoked is one after which some pin may not be used any more.
	TopicRevoked = "revoked"
)

// tell announces the change to the workspaces.
func tell(ctx context.Context, tx pgx.Tx, topic, key string, workspaces []string) error {
	changes := make([]pg.Change, len(workspaces))
	for i, w := range workspaces {
		changes[i] = pg.Change{Workspace: w, Topic: topic, Key: key}
	}
	return pg.Append(ctx, tx, changes...)
}

// change is one write to an existing capability: it locks what the actor sees,
// asks whether he may, writes, and leaves index, audit and feed as they should
// be. What he does not see is missing, by the same statements.
type change struct {
	action string // for the audit
	may    func(capability.Actor, capability.Access) error
	// ifRevision refuses when the metadata moved on; 0 does not care.
	ifRevision int64
	topic      func() string // asked after write; nil is TopicCapability
	// write does it and returns what the audit keeps.
	write func(ctx context.Context, tx pgx.Tx, h *holding) (detail any, err error)
}

func (s *Service) change(ctx context.Context, actor capability.Actor, source, id string, c change) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := queries.LockVisibleCapability(ctx, tx, db.LockVisibleCapabilityParams{
			Source: source, ID: id, Audiences: actor.Viewer().Audiences(),
		})
		if err != nil {
			return missing(err)
		}
		h := hold(db.LockCapabilityRow(row))
		if err := c.may(actor, h.access); err != nil {
			return err
		}
		return c.apply(ctx, tx, actor, h)
	})
}

func (c change) apply(ctx context.Context, tx pgx.Tx, actor capability.Actor, h *holding) error {
	if c.ifRevision != 0 && c.ifRevision != h.Revision {
		return changedSince(h.Revision)
	}
	before := h.readers()
	detail, err := c.write(ctx, tx, h)
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := queries.TouchCapability(ctx, tx, h.Pk); err != nil {
		return fmt.Errorf("touch capability: %w", err)
	}
	if err := reindex(ctx, tx, h.Pk); err != nil {
		return err
	}
	entry := pg.Entry{Workspace: actor.Workspace, Subject: actor.Subject, Action: c.action, Target: h.name(), Detail: detail}
	if err := pg.Audit(ctx, tx, entry); err != nil {
		return err
	}
	topic := TopicCapability
	if c.topic != nil {
		topic = c.topic()
	}
	return tell(ctx, tx, topic, h.name(), union(before, h.readers()))
}

func always(topic string) func() string { return func() string { return topic } }

// errUnchanged is how a write says that there is nothing to do.
var errUnchanged = errors.New("catalog: nothing to change")

func union(a, b []string) []string {
	seen, out := map[string]bool{}, []string{}
	for _, s := range append(a, b...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	if seen[""] {
		return []string{""}
	}
	return out
}

func changedSince(revision int64) error {
	return fault.New(fault.Conflict, "changed_since", "Someone changed this after you opened it; nothing was overwritten.").
		With("revision", revision).Do("Reload it, look at what changed, and make your change again.")
}

// missing turns "no row" into the fault for what is missing or unseen.
func missing(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.Missing()
	}
	return fmt.Errorf("read capability: %w", err)
}

func optionalID(id string) *uuid.UUID {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil
	}
	return &parsed
}
