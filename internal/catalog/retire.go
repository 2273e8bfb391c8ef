package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// versionChange is a write to one version of a capability that exists.
func (s *Service) versionChange(ctx context.Context, actor capability.Actor, source, id, version string, c change,
	write func(ctx context.Context, tx pgx.Tx, row db.VersionLineRow) (detail map[string]any, err error),
) error {
	c.write = func(ctx context.Context, tx pgx.Tx, h *holding) (any, error) {
		line, err := queries.VersionLine(ctx, tx, h.Pk)
		if err != nil {
			return nil, fmt.Errorf("version line: %w", err)
		}
		for _, row := range line {
			if row.Version != version {
				continue
			}
			detail, err := write(ctx, tx, row)
			if err != nil {
				return nil, err
			}
			detail["version"] = version
			return detail, relatest(ctx, tx, h.Pk)
		}
		return nil, fault.Missing()
	}
	return s.change(ctx, actor, source, id, c)
}

// Withdraw takes a version out of every list. Pins of it keep resolving, its
// number stays taken. For its creator or an admin.
func (s *Service) Withdraw(ctx context.Context, actor capability.Actor, source, id, version string) error {
	return s.setWithdrawn(ctx, actor, source, id, version, true, change{action: "version.withdraw", may: capability.MayDelete})
}

// Revive takes a withdrawal back.
func (s *Service) Revive(ctx context.Context, actor capability.Actor, source, id, version string) error {
	return s.setWithdrawn(ctx, actor, source, id, version, false, change{action: "version.revive", may: capability.MayWrite})
}

func (s *Service) setWithdrawn(ctx context.Context, actor capability.Actor, source, id, version string, want bool, c change) error {
	return s.versionChange(ctx, actor, source, id, version, c,
		func(ctx context.Context, tx pgx.Tx, row db.VersionLineRow) (map[string]any, error) {
			if (row.WithdrawnAt != nil) == want {
				return nil, errUnchanged
			}
			err := queries.SetVersionState(ctx, tx, db.SetVersionStateParams{Withdrawn: want, Subject: optionalID(actor.Subject), Pk: row.Pk})
			return map[string]any{"digest": row.Digest}, err
		})
}

// Block revokes a version: pins of it stop resolving at once, everywhere. The
// reason is shown to who held one.
func (s *Service) Block(ctx context.Context, actor capability.Actor, source, id, version, reason string) error {
	reason = strings.TrimSpace(reason)
	fields := checkNote("/reason", reason)
	if reason == "" {
		fields = append(fields, fault.Field{Path: "/reason", Code: "required", Message: "Say why, for those who use this version."})
	}
	if err := fault.Fields(fields); err != nil {
		return err
	}
	return s.setBlocked(ctx, actor, source, id, version, reason, change{action: "version.block", may: capability.MayBlock, topic: always(TopicRevoked)})
}

// Unblock lets pins of the version resolve again.
func (s *Service) Unblock(ctx context.Context, actor capability.Actor, source, id, version string) error {
	return s.setBlocked(ctx, actor, source, id, version, "", change{action: "version.unblock", may: capability.MayBlock})
}

// setBlocked blocks for the reason; "" unblocks.
func (s *Service) setBlocked(ctx context.Context, actor capability.Actor, source, id, version, reason string, c change) error {
	return s.versionChange(ctx, actor, source, id, version, c,
		func(ctx context.Context, tx pgx.Tx, row db.VersionLineRow) (map[string]any, error) {
			if reason == "" && row.BlockedAt == nil {
				return nil, errUnchanged
			}
			err := queries.SetVersionBlock(ctx, tx, db.SetVersionBlockParams{
				Blocked: reason != "", Subject: optionalID(actor.Subject), Reason: reason, Pk: row.Pk,
			})
			return map[string]any{"digest": row.Digest, "reason": reason}, err
		})
}

// Delete tombstones a capability: its versions resolve nowhere any more and
// its id stays taken. An admin may delete what a former member left behind,
// which he cannot see otherwise.
func (s *Service) Delete(ctx context.Context, actor capability.Actor, source, id string) error {
	c := change{
		action: "capability.delete", may: capability.MayDelete, topic: always(TopicRevoked),
		write: func(ctx context.Context, tx pgx.Tx, h *holding) (any, error) {
			err := queries.Tombstone(ctx, tx, db.TombstoneParams{Subject: optionalID(actor.Subject), Pk: h.Pk})
			return map[string]any{"adopters": h.Adopters, "reach": h.Reach}, err
		},
	}
	err := s.change(ctx, actor, source, id, c)
	if fault.Is(err, fault.NotFound) && actor.Role == capability.RoleAdmin {
		return s.changeLeft(ctx, actor, source, id, c)
	}
	return err
}

// TakeOver makes the admin the creator of what a former member left behind.
// Missing when there is no such thing in his workspace.
func (s *Service) TakeOver(ctx context.Context, actor capability.Actor, id string) error {
	me, err := subjectOf(actor)
	if err != nil {
		return err
	}
	return s.changeLeft(ctx, actor, actor.Workspace, id, change{
		action: "capability.take_over",
		write: func(ctx context.Context, tx pgx.Tx, h *holding) (any, error) {
			former := h.access.CreatedBy
			h.access.CreatedBy = actor.Subject
			err := queries.SetCreator(ctx, tx, db.SetCreatorParams{
				CreatedBy: me, Maintainers: h.Maintainers, Audiences: h.access.Audiences(), Pk: h.Pk,
			})
			return map[string]any{"from": former}, err
		},
	})
}

// changeLeft is change for what a former member left behind.
func (s *Service) changeLeft(ctx context.Context, actor capability.Actor, source, id string, c change) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := queries.LockLeftCapability(ctx, tx, db.LockLeftCapabilityParams{Source: source, ID: id})
		if err != nil {
			return missing(err)
		}
		h := hold(db.LockCapabilityRow(row))
		if err := capability.MayTakeOver(actor, h.access, true); err != nil {
			return err
		}
		return c.apply(ctx, tx, actor, h)
	})
}

// Left is something whose creator is no member of the workspace any more.
type Left struct {
	ID       string
	Kind     capability.Kind
	Reach    capability.Reach
	Creator  string // who left it
	Adopters int    // workspaces that adopted or copied it
}

// LeftBehind lists what former members left in the actor's workspace. Denied
// unless he is an admin.
func (s *Service) LeftBehind(ctx context.Context, actor capability.Actor) ([]Left, error) {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return nil, err
	}
	rows, err := queries.LeftBehind(ctx, s.db, actor.Workspace)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list what was left: %w", err))
	}
	out := make([]Left, len(rows))
	for i, r := range rows {
		out[i] = Left{ID: r.ID, Kind: capability.Kind(r.Kind), Reach: capability.Reach(r.Reach), Creator: r.Creator, Adopters: int(r.Adopters)}
	}
	return out, nil
}

// Unlisted is a capability that no list shows, since no version of it is live.
type Unlisted struct {
	ID       string
	Kind     capability.Kind
	Name     string // of its greatest version, as all of these
	Version  string
	Reach    capability.Reach
	Adopters int
	// State is Withdrawn or Blocked, and BlockedReason why it was blocked.
	State         State
	BlockedReason string
}

// Unlisted lists what the actor's workspace published, he may read and no list
// shows: the first 200 by id.
func (s *Service) Unlisted(ctx context.Context, actor capability.Actor) ([]Unlisted, error) {
	rows, err := queries.Unlisted(ctx, s.db, db.UnlistedParams{Source: actor.Workspace, Audiences: actor.Viewer().Audiences()})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list what is not listed: %w", err))
	}
	out := make([]Unlisted, len(rows))
	for i, r := range rows {
		out[i] = Unlisted{
			ID: r.ID, Kind: capability.Kind(r.Kind), Name: r.Name, Version: r.Version, Reach: capability.Reach(r.Reach),
			Adopters: int(r.Adopters), State: Withdrawn, BlockedReason: r.BlockedReason,
		}
		if r.Blocked {
			out[i].State = Blocked
		}
	}
	return out, nil
}
