package agent

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Conversation is a member's own: nobody else reads it.
type Conversation struct {
	ID        uuid.UUID
	Title     string
	LastSeq   int64
	CreatedAt time.Time
	UpdatedAt time.Time
	Model     string                    // its own choice, "" follows the member
	Mode      capability.PermissionMode // its own permission mode, "" follows the workspace
	Epoch     int64                     // that its last turn bound, 0 before the first
}

const (
	maxTitle   = 120
	maxMessage = 64 << 10
	pageOfList = 50
	pageOfLog  = 500
)

// subjectOf reads the actor's subject; whoever has none, or stands outside
// the workspace, has no conversations.
func subjectOf(actor capability.Actor) (uuid.UUID, error) {
	id, err := uuid.Parse(actor.Subject)
	if err != nil || actor.Workspace == "" || actor.Role == "" {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

// NewConversation starts an empty conversation of the actor.
func (s *Service) NewConversation(ctx context.Context, actor capability.Actor) (Conversation, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Conversation{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Conversation{}, err
	}
	row, err := queries.InsertConversation(ctx, s.db, db.InsertConversationParams{ID: id, Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return Conversation{}, pg.Fault(err)
	}
	return Conversation{ID: id, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}, nil
}

// Conversation returns one of the actor's own, else fault.Missing.
func (s *Service) Conversation(ctx context.Context, actor capability.Actor, id uuid.UUID) (Conversation, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Conversation{}, err
	}
	row, err := queries.ConversationOf(ctx, s.db, db.ConversationOfParams{ID: id, Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return Conversation{}, pg.Fault(err)
	}
	return conversationOf(db.ConversationsOfRow(row)), nil
}

func conversationOf(row db.ConversationsOfRow) Conversation {
	return Conversation{
		ID: row.ID, Title: row.Title, LastSeq: row.LastSeq, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		Model: row.Model, Mode: capability.PermissionMode(row.Mode), Epoch: row.Epoch,
	}
}

// Conversations lists the actor's newest conversations in the workspace.
func (s *Service) Conversations(ctx context.Context, actor capability.Actor) ([]Conversation, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.ConversationsOf(ctx, s.db, db.ConversationsOfParams{Workspace: actor.Workspace, Subject: subject, Count: pageOfList})
	if err != nil {
		return nil, pg.Fault(err)
	}
	out := make([]Conversation, len(rows))
	for i, row := range rows {
		out[i] = conversationOf(row)
	}
	return out, nil
}

// Ledger returns the entries after the given number, oldest first, at most
// 500; of a conversation that is not the actor's it returns none.
func (s *Service) Ledger(ctx context.Context, actor capability.Actor, id uuid.UUID, after int64) ([]Entry, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.LedgerOf(ctx, s.db, db.LedgerOfParams{
		ID: id, Workspace: actor.Workspace, Subject: subject, After: after, Count: pageOfLog,
	})
	if err != nil {
		return nil, pg.Fault(err)
	}
	out := make([]Entry, len(rows))
	for i, row := range rows {
		out[i] = entryOf(row)
	}
	return out, nil
}

func entryOf(row db.LedgerOfRow) Entry {
	return Entry{Seq: row.Seq, At: row.At, Turn: row.Turn, Kind: EntryKind(row.Kind), Call: row.Call, Payload: row.Payload}
}

// DeleteConversation removes one of the actor's own with its ledger, and stops
// what runs in it. The audit keeps that calls were made; the texts are gone.
func (s *Service) DeleteConversation(ctx context.Context, actor capability.Actor, id uuid.UUID) error {
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	if err := s.StopTurn(ctx, actor, id); err != nil {
		return err
	}
	key := db.ConversationOfParams{ID: id, Workspace: actor.Workspace, Subject: subject}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := queries.EndCallsOf(ctx, tx, db.EndCallsOfParams(key)); err != nil {
			return err
		}
		if err := queries.DeleteLedgerOf(ctx, tx, db.DeleteLedgerOfParams(key)); err != nil {
			return err
		}
		if err := queries.DeleteArtifactsOf(ctx, tx, db.DeleteArtifactsOfParams(key)); err != nil {
			return err
		}
		if err := queries.DeleteTurnsOf(ctx, tx, db.DeleteTurnsOfParams(key)); err != nil {
			return err
		}
		n, err := queries.DeleteConversation(ctx, tx, db.DeleteConversationParams(key))
		if err == nil && n == 0 {
			return fault.Missing()
		}
		return err
	})
}

// Choose sets which model the actor's conversation thinks with and which
// permission mode it has; "" follows the member and the workspace. The mode can
// only be stricter than the workspace's: a looser one changes nothing. The next
// turn takes both. It returns fault.Missing for another's conversation.
func (s *Service) Choose(ctx context.Context, actor capability.Actor, id uuid.UUID, model string, mode capability.PermissionMode) error {
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	if mode != "" && !slices.Contains(capability.PermissionModes, mode) {
		return fieldFault("/mode", "unknown", "There is no such permission mode.")
	}
	n, err := queries.ChooseForConversation(ctx, s.db, db.ChooseForConversationParams{
		ID: id, Workspace: actor.Workspace, Subject: subject, Model: model, Mode: string(mode),
	})
	if err == nil && n == 0 {
		return fault.Missing()
	}
	return pg.Fault(err)
}

// ReadArtifact returns a stored result of the actor's own conversation.
func (s *Service) ReadArtifact(ctx context.Context, actor capability.Actor, conversation, artifact uuid.UUID) (mediaType string, content []byte, err error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return "", nil, err
	}
	row, err := queries.ArtifactOf(ctx, s.db, db.ArtifactOfParams{
		Artifact: artifact, Conversation: conversation, Workspace: actor.Workspace, Subject: subject,
	})
	if err != nil {
		return "", nil, pg.Fault(err)
	}
	return row.MediaType, row.Content, nil
}

// titleOf makes a conversation's title from its first message.
func titleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line, _, _ = strings.Cut(line, " {") // a tool's arguments are no title
	if utf8.RuneCountInString(line) <= maxTitle {
		return line
	}
	return string([]rune(line)[:maxTitle-1]) + "…"
}
