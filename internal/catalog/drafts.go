package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

const (
	// MaxDrafts is how many drafts one member keeps in a workspace.
	MaxDrafts = 50
	// MaxDraft bounds one draft, in bytes of its form as JSON.
	MaxDraft = 16 << 20
)

// Draft is what a member writes and has not published. It is his alone, in the
// workspace in which he writes it; no audit tells of it.
type Draft struct {
	ID   uuid.UUID // made by whoever opens the form, so that saving twice is saving once
	Kind capability.Kind
	// Base is the version that it edits; the zero Ref for something new.
	Base capability.Ref
	Name string // as typed, "" for none
	// Form is what was typed, a JSON object. Whoever saves it keeps secrets out.
	Form json.RawMessage
	// Revision is what the saver has seen, 0 while nothing was saved. Another
	// one's since is a conflict, but not one of the same opened form, whose
	// answer may have been lost.
	Revision  int64
	SavedBy   uuid.UUID // the opened form that saves; not read back
	UpdatedAt time.Time
}

// SaveDraft keeps a new draft, or the next state of one, and returns it with
// its new revision. It returns a Conflict with code draft_changed when
// somebody saved it since, NotFound when it is gone, TooLarge over MaxDraft,
// and Limited when the actor has MaxDrafts already.
func (s *Service) SaveDraft(ctx context.Context, actor capability.Actor, d Draft) (Draft, error) {
	if err := capability.May(actor, capability.ActWrite, capability.Fresh); err != nil {
		return Draft{}, err
	}
	if len(d.Form) > MaxDraft {
		return Draft{}, fault.New(fault.TooLarge, "draft_too_large", "A draft holds at most %d MiB.", MaxDraft>>20).Do("Remove a file, or publish it.")
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return Draft{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if d.Revision == 0 {
			made, err := insertDraft(ctx, tx, actor.Workspace, subject, &d)
			if made || err != nil {
				return err
			}
		}
		return updateDraft(ctx, tx, actor.Workspace, subject, &d)
	})
	return d, err
}

// insertDraft makes the draft; false where there is one of its id already.
func insertDraft(ctx context.Context, tx pgx.Tx, workspace string, subject uuid.UUID, d *Draft) (bool, error) {
	if err := queries.LockDrafts(ctx, tx, workspace+"/"+subject.String()); err != nil {
		return false, fmt.Errorf("lock drafts: %w", err)
	}
	n, err := queries.CountDrafts(ctx, tx, db.CountDraftsParams{Workspace: workspace, Subject: subject})
	if err != nil {
		return false, fmt.Errorf("count drafts: %w", err)
	}
	row, err := queries.InsertDraft(ctx, tx, db.InsertDraftParams{
		ID: d.ID, Workspace: workspace, Subject: subject, Kind: string(d.Kind), SavedBy: d.SavedBy,
		BaseSource: d.Base.Source, BaseID: d.Base.ID, BaseVersion: d.Base.Version, Name: d.Name, Form: d.Form,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("insert draft: %w", err)
	}
	if n >= MaxDrafts {
		return false, fault.New(fault.Limited, "too_many_drafts", "You have %d drafts already.", n).Do("Discard one that you do not need.")
	}
	d.Revision, d.UpdatedAt = row.Revision, row.UpdatedAt
	return true, nil
}

func updateDraft(ctx context.Context, tx pgx.Tx, workspace string, subject uuid.UUID, d *Draft) error {
	row, err := queries.UpdateDraft(ctx, tx, db.UpdateDraftParams{
		ID: d.ID, Workspace: workspace, Subject: subject, Kind: string(d.Kind), BaseSource: d.Base.Source, BaseID: d.Base.ID,
		BaseVersion: d.Base.Version, Name: d.Name, Form: d.Form, Revision: d.Revision, SavedBy: d.SavedBy,
	})
	if err == nil {
		d.Revision, d.UpdatedAt = row.Revision, row.UpdatedAt
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("update draft: %w", err)
	}
	now, err := queries.DraftByID(ctx, tx, db.DraftByIDParams{ID: d.ID, Workspace: workspace, Subject: subject})
	if err != nil {
		return missing(err)
	}
	base := capability.Ref{Source: now.BaseSource, ID: now.BaseID}
	if now.Kind != string(d.Kind) || base != (capability.Ref{Source: d.Base.Source, ID: d.Base.ID}) {
		return fault.Missing() // a draft of something else
	}
	return fault.New(fault.Conflict, "draft_changed", "This draft was saved elsewhere since it was opened here.").
		Do("Keep what stands here, or open the draft as it was saved.")
}

// Draft returns the actor's own draft; anybody else's is missing.
func (s *Service) Draft(ctx context.Context, actor capability.Actor, id uuid.UUID) (Draft, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Draft{}, err
	}
	row, err := queries.DraftByID(ctx, s.db, db.DraftByIDParams{ID: id, Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return Draft{}, missing(err)
	}
	return Draft{
		ID: row.ID, Kind: capability.Kind(row.Kind), Name: row.Name, Form: row.Form, Revision: row.Revision, UpdatedAt: row.UpdatedAt,
		Base: capability.Ref{Source: row.BaseSource, ID: row.BaseID, Version: row.BaseVersion},
	}, nil
}

// Drafts lists the actor's own drafts in his workspace, without their forms,
// the last saved first.
func (s *Service) Drafts(ctx context.Context, actor capability.Actor) ([]Draft, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.ListDrafts(ctx, s.db, db.ListDraftsParams{Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	out := make([]Draft, len(rows))
	for i, row := range rows {
		out[i] = Draft{
			ID: row.ID, Kind: capability.Kind(row.Kind), Name: row.Name, Revision: row.Revision, UpdatedAt: row.UpdatedAt,
			Base: capability.Ref{Source: row.BaseSource, ID: row.BaseID, Version: row.BaseVersion},
		}
	}
	return out, nil
}

// DiscardDraft removes the actor's own draft. One that is not there is missing.
func (s *Service) DiscardDraft(ctx context.Context, actor capability.Actor, id uuid.UUID) error {
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	n, err := queries.DeleteDraft(ctx, s.db, db.DeleteDraftParams{ID: id, Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return fmt.Errorf("delete draft: %w", err)
	}
	if n == 0 {
		return fault.Missing()
	}
	return nil
}

// forgetDraft removes the draft that was just published, if there is one.
func forgetDraft(ctx context.Context, tx pgx.Tx, by publisher, d draft) error {
	if d.Draft == uuid.Nil {
		return nil
	}
	subject, err := subjectOf(by.Actor)
	if err != nil {
		return err
	}
	if _, err := queries.DeleteDraft(ctx, tx, db.DeleteDraftParams{ID: d.Draft, Workspace: by.Workspace, Subject: subject}); err != nil {
		return fmt.Errorf("delete draft: %w", err)
	}
	return nil
}
