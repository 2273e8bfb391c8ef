package catalog

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Readers is a workspace that would read a capability.
type Readers struct {
	Slug    string
	Name    string
	Members int
}

// ReachPreview says what a reach would mean before it is set.
type ReachPreview struct {
	// Everyone is everyone signed in; Workspaces is then empty. Both are empty
	// for a private one.
	Everyone   bool
	Workspaces []Readers
	Adopters   int // workspaces that adopted it
	Losing     int // of them, those for which it would stop
}

// PreviewReach returns what Update would change for readers if it set this
// reach. It refuses what Update would refuse.
func (s *Service) PreviewReach(ctx context.Context, actor capability.Actor, source, id string, reach capability.Reach, sharedWith []string) (out ReachPreview, err error) {
	if reach == "" {
		reach = "unknown"
	}
	if err := fault.Fields(checkReach(reach, sharedWith)); err != nil {
		return out, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := queries.LockVisibleCapability(ctx, tx, db.LockVisibleCapabilityParams{
			Source: source, ID: id, Audiences: actor.Viewer().Audiences(),
		})
		if err != nil {
			return missing(err)
		}
		h := hold(db.LockCapabilityRow(row))
		if err := capability.MayWrite(actor, h.access); err != nil {
			return err
		}
		want := h.access
		want.Reach, want.SharedWith = reach, sharedWith
		if err := s.checkTargets(ctx, tx, actor, h.access.SharedWith, want); err != nil {
			return err
		}
		out, err = preview(ctx, tx, h.Pk, want)
		return err
	})
	return out, err
}

func preview(ctx context.Context, tx pgx.Tx, pk int64, want capability.Access) (out ReachPreview, err error) {
	slugs := []string{}
	switch want.Reach {
	case capability.ReachPublic:
		out.Everyone = true
	case capability.ReachSubset:
		slugs = append(slugs, want.SharedWith...)
		fallthrough
	case capability.ReachWorkspace:
		slugs = append(slugs, want.Source)
	}
	rows, err := queries.ReachTargets(ctx, tx, slugs)
	if err != nil {
		return out, fmt.Errorf("reach targets: %w", err)
	}
	for _, r := range rows {
		out.Workspaces = append(out.Workspaces, Readers{Slug: r.Slug, Name: r.Name, Members: int(r.Members)})
	}
	n, err := queries.AffectedAdopters(ctx, tx, db.AffectedAdoptersParams{Workspaces: slugs, Pk: pk})
	if err != nil {
		return out, fmt.Errorf("affected adopters: %w", err)
	}
	out.Adopters = int(n.Adopters)
	if !out.Everyone {
		out.Losing = int(n.Losing)
	}
	return out, nil
}
