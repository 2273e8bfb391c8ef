package secret

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Info is what may be known of a secret: everything but its value.
type Info struct {
	Name          string
	Personal      bool
	CreatedBy     string // subject
	CreatedByName string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Revision      int64 // 1, and one more with each replacement
	MayChange     bool  // the actor may replace or delete it
}

// List returns the workspace's secrets and the actor's own ones by name, the
// own one first where both have the name. For someone who is no member it is
// empty.
func (s *Service) List(ctx context.Context, actor capability.Actor) ([]Info, error) {
	viewer, err := uuid.Parse(actor.Subject)
	if err != nil {
		return nil, fault.Missing()
	}
	rows, err := s.q.ListSecrets(ctx, s.db, db.ListSecretsParams{Workspace: actor.Workspace, Viewer: viewer})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list secrets: %w", err))
	}
	out := make([]Info, len(rows))
	for i, r := range rows {
		key := rowKey{workspace: actor.Workspace, subject: r.Subject, name: r.Name, actor: viewer}
		own := capability.Ownership{Creator: r.CreatedBy == viewer}
		out[i] = Info{
			r.Name, r.Subject != nil, r.CreatedBy.String(), r.CreatedByName,
			r.CreatedAt, r.UpdatedAt, r.Revision, key.may(actor, own) == nil,
		}
	}
	return out, nil
}

// Resolve returns the values of the named secrets for a member's call: his own
// one of a name, else the workspace's. It takes one statement. Names without a
// secret are returned as missing, sorted; for someone who is no member all are.
func (s *Service) Resolve(ctx context.Context, workspace, subject string, names []string) (map[string]Value, []string, error) {
	if len(names) == 0 {
		return map[string]Value{}, nil, nil
	}
	viewer, err := uuid.Parse(subject)
	if err != nil {
		return nil, nil, fault.Missing()
	}
	arg := db.ResolveSecretsParams{Workspace: workspace, Viewer: viewer, Names: names}
	var values map[string]Value
	err = s.following(func() (err error) {
		values, err = s.resolve(ctx, arg)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var missing []string
	for _, name := range names {
		if _, ok := values[name]; !ok && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return values, missing, nil
}

func (s *Service) resolve(ctx context.Context, arg db.ResolveSecretsParams) (map[string]Value, error) {
	rows, err := s.q.ResolveSecrets(ctx, s.db, arg)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("resolve secrets: %w", err))
	}
	values := make(map[string]Value, len(rows))
	for _, r := range rows {
		clear, err := s.keys.open(r.Ciphertext, binding(arg.Workspace, r.Subject, r.Name))
		if err != nil {
			return nil, wrongKey()
		}
		values[r.Name] = NewValue(string(clear))
	}
	return values, nil
}

// Used records, in the transaction that starts a call, which secrets it was
// given. target is what was called.
func Used(ctx context.Context, tx pgx.Tx, actor capability.Actor, target string, names []string) error {
	return pg.Audit(ctx, tx, pg.Entry{
		Workspace: actor.Workspace, Subject: actor.Subject, Action: "secret.use", Target: target,
		Detail: map[string]any{"names": names},
	})
}
