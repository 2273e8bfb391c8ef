package agent

import (
	"context"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// pageOfChat is about how many entries a page of a conversation shows.
const pageOfChat = 120

// LedgerBefore returns the entries of the actor's conversation before a number,
// or its newest for 0, from the beginning of a turn on. Of a conversation that
// is not his there are none.
func (s *Service) LedgerBefore(ctx context.Context, actor capability.Actor, id uuid.UUID, before int64) ([]Entry, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.LedgerBefore(ctx, s.db, db.LedgerBeforeParams{
		ID: id, Workspace: actor.Workspace, Subject: subject, Before: before, Count: pageOfChat,
	})
	if err != nil {
		return nil, pg.Fault(err)
	}
	out := make([]Entry, len(rows))
	for i, row := range rows {
		out[i] = entryOf(db.LedgerOfRow(row))
	}
	return out, nil
}

// Rename gives the actor's conversation another title, cut to 120 characters;
// fault.Missing when it is not his.
func (s *Service) Rename(ctx context.Context, actor capability.Actor, id uuid.UUID, title string) error {
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	if title = titleOf(title); title == "" {
		return fieldFault("/title", "required", "A conversation has a title of one character or more.")
	}
	n, err := queries.RenameConversation(ctx, s.db, db.RenameConversationParams{
		ID: id, Workspace: actor.Workspace, Subject: subject, Title: title,
	})
	if err == nil && n == 0 {
		err = fault.Missing()
	}
	return pg.Fault(err)
}
