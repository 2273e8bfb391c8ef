package workspace

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// SetSwitch records the actor's own choice for one row of what he carries, and
// returns the row as it then is. Nil follows the workspace again, by deleting
// the choice. Switching on what is merely published here pins its latest
// version; switching it on again keeps the pin. A key that his agent has no
// row for is missing; switching off a hook that the workspace requires is
// denied.
func (s *Service) SetSwitch(ctx context.Context, actor capability.Actor, key capability.Key, on *bool) (Row, error) {
	if err := capability.May(actor, capability.ActOwn, capability.Fresh); err != nil {
		return Row{}, err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return Row{}, err
	}
	var out Row
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		// Held by every check of a running call: once this commits, no call
		// starts that did not see the switch.
		who := db.TouchOverlayParams{Workspace: actor.Workspace, Subject: subject}
		if _, err := queries.TouchOverlay(ctx, tx, who); err != nil {
			return fmt.Errorf("lock overlay: %w", err)
		}
		row, err := s.rowIn(ctx, tx, actor, key)
		if err != nil {
			return err
		}
		if err := writeSwitch(ctx, tx, who, row, on); err != nil {
			return err
		}
		err = record(ctx, tx, actor, pg.Change{Topic: TopicOverlay, Key: actor.Subject}, pg.Entry{
			Action: "overlay.set", Target: string(key), Detail: map[string]any{"enabled": on},
		})
		if err != nil {
			return err
		}
		out, err = s.rowIn(ctx, tx, actor, key)
		return err
	})
	return out, err
}

// rowIn finds the row as the transaction sees it; a missing fault for none.
func (s *Service) rowIn(ctx context.Context, h db.DBTX, actor capability.Actor, key capability.Key) (Row, error) {
	w, err := s.readWorld(ctx, h, actor)
	if err != nil {
		return Row{}, err
	}
	c, err := s.assemble(w)
	if err != nil {
		return Row{}, err
	}
	row, ok := c.Find(key)
	if !ok {
		return Row{}, fault.Missing()
	}
	return row, nil
}

func writeSwitch(ctx context.Context, tx pgx.Tx, who db.TouchOverlayParams, row Row, on *bool) error {
	if on == nil {
		err := queries.DeleteOverlay(ctx, tx, db.DeleteOverlayParams{Workspace: who.Workspace, Subject: who.Subject, Key: string(row.Key)})
		if err != nil {
			return fmt.Errorf("clear switch: %w", err)
		}
		return nil
	}
	if row.Required && !*on {
		return fault.Deny("required_here", "The workspace requires this hook of everyone, so it cannot be switched off.",
			"Ask an admin of this workspace to end its adoption.")
	}
	put := db.PutOverlayParams{Workspace: who.Workspace, Subject: who.Subject, Key: string(row.Key), Enabled: *on}
	if *on && row.versionPK != 0 && row.Origin != capability.OriginAdopted {
		put.VersionPk = &row.versionPK
	}
	if err := queries.PutOverlay(ctx, tx, put); err != nil {
		return fmt.Errorf("set switch: %w", err)
	}
	return nil
}
