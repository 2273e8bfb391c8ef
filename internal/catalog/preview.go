package catalog

import (
	"context"
	"fmt"
	"slices"

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
	// for a private one, which People read: its creator and its maintainers.
	Everyone   bool
	Workspaces []Readers
	People     int
	// Lost are the workspaces that read it now by name and would not, with how
	// many of their members; EveryoneLost says that everyone else would stop
	// reading it.
	Lost         []Readers
	EveryoneLost bool
	Adopters     int // workspaces that adopted it and read it now
	Losing       int // of them, those for which it would stop
	// Switched are the members of the owning workspace for whom it would stop
	// though they switched it on for themselves.
	Switched int
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
		h, err := holdVisible(ctx, tx, actor, source, id)
		if err != nil {
			return err
		}
		want := h.access
		want.Reach, want.SharedWith = reach, sharedWith
		if err := s.checkTargets(ctx, tx, actor, h.access.SharedWith, want); err != nil {
			return err
		}
		out, err = preview(ctx, tx, h, want)
		return err
	})
	return out, err
}

func preview(ctx context.Context, tx pgx.Tx, h *holding, want capability.Access) (ReachPreview, error) {
	out := ReachPreview{
		Everyone:     want.Reach == capability.ReachPublic,
		EveryoneLost: h.access.Reach == capability.ReachPublic && want.Reach != capability.ReachPublic,
	}
	if want.Reach == capability.ReachPrivate {
		out.People = keepers(want)
	}
	now, then := readersByName(h.access), readersByName(want)
	rows, err := queries.ReachTargets(ctx, tx, union(now, then))
	if err != nil {
		return out, fmt.Errorf("reach targets: %w", err)
	}
	for _, r := range rows {
		readers := Readers{Slug: r.Slug, Name: r.Name, Members: int(r.Members)}
		if slices.Contains(then, r.Slug) {
			out.Workspaces = append(out.Workspaces, readers)
			continue
		}
		if r.Slug == h.Source {
			readers.Members -= out.People
		}
		if !out.Everyone && readers.Members > 0 {
			out.Lost = append(out.Lost, readers)
		}
	}
	return out, out.count(ctx, tx, h.Pk, then)
}

// count fills in who uses it now and for whom it would stop.
func (p *ReachPreview) count(ctx context.Context, tx pgx.Tx, pk int64, readers []string) error {
	n, err := queries.ReachEffect(ctx, tx, db.ReachEffectParams{Everyone: p.Everyone, Workspaces: readers, Pk: pk})
	if err != nil {
		return fmt.Errorf("effect of a reach: %w", err)
	}
	p.Adopters, p.Losing = int(n.Adopters), int(n.Losing)
	if p.People > 0 {
		p.Switched = int(n.Switched)
	}
	return nil
}

// readersByName lists the workspaces that the access lets read by name.
func readersByName(a capability.Access) []string {
	switch a.Reach {
	case capability.ReachSubset:
		return append([]string{a.Source}, a.SharedWith...)
	case capability.ReachWorkspace:
		return []string{a.Source}
	}
	return []string{}
}

// keepers is how many people read a private one.
func keepers(a capability.Access) int {
	people := len(a.Maintainers)
	if a.CreatedBy != "" && !slices.Contains(a.Maintainers, a.CreatedBy) {
		people++
	}
	return people
}

// SuccessorPreview says what naming a successor would mean.
type SuccessorPreview struct {
	Successor Known
	// Adopters are the workspaces that adopted the deprecated one; of them
	// Unseen cannot see the successor.
	Adopters int
	Unseen   int
}

// PreviewSuccessor returns what Update would mean if it named this successor
// (source/id). It refuses what Update would refuse.
func (s *Service) PreviewSuccessor(ctx context.Context, actor capability.Actor, source, id, ref string) (out SuccessorPreview, err error) {
	d := Deprecation{Successor: ref}
	if err := fault.Fields(d.check()); err != nil {
		return out, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		h, err := holdVisible(ctx, tx, actor, source, id)
		if err != nil {
			return err
		}
		row, err := successor(ctx, tx, actor, h, ref)
		if err != nil {
			return err
		}
		if out.Successor, err = knownOf(row); err != nil {
			return err
		}
		access := capability.Access{Source: row.Source, Reach: capability.Reach(row.Reach), SharedWith: row.SharedWith}
		seen := ReachPreview{Everyone: access.Reach == capability.ReachPublic}
		if err := seen.count(ctx, tx, h.Pk, readersByName(access)); err != nil {
			return err
		}
		out.Adopters, out.Unseen = seen.Adopters, seen.Losing
		return nil
	})
	return out, err
}

// holdVisible locks a capability that the actor sees and may write to.
func holdVisible(ctx context.Context, tx pgx.Tx, actor capability.Actor, source, id string) (*holding, error) {
	row, err := queries.LockVisibleCapability(ctx, tx, db.LockVisibleCapabilityParams{
		Source: source, ID: id, Audiences: actor.Viewer().Audiences(),
	})
	if err != nil {
		return nil, missing(err)
	}
	h := hold(db.LockCapabilityRow(row))
	return h, capability.MayWrite(actor, h.access)
}
