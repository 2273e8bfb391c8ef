package agent

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// TurnState says where a turn stands.
type TurnState string

const (
	TurnRunning     TurnState = "running"
	TurnWaiting     TurnState = "waiting" // for its member's word
	TurnDone        TurnState = "done"
	TurnStopped     TurnState = "stopped"
	TurnFailed      TurnState = "failed"
	TurnInterrupted TurnState = "interrupted" // its server went away
)

// Open reports whether the turn has not ended.
func (s TurnState) Open() bool { return s == TurnRunning || s == TurnWaiting }

// TurnStatus is where a conversation's newest turn stands, on whatever server.
type TurnStatus struct {
	Turn      uuid.UUID
	State     TurnState // "" before the first turn
	Model     string    // the registered name, "" in direct mode
	Epoch     int64
	Mode      capability.PermissionMode
	StartedAt time.Time
	EndedAt   *time.Time
}

// Event is one thing that happened in a conversation. One field is set.
type Event struct {
	Entry   *Entry
	Partial *Partial    // replaces the one before it
	Turn    *TurnStatus // the newest turn, where its state differs from the one told before
}

const (
	// followEvery is how often a follower looks at the database by itself while
	// a turn is open: what another server writes shows after that at the latest.
	followEvery = 300 * time.Millisecond
	// idleEvery is the same while none is.
	idleEvery = 2 * time.Second
)

// Turn returns where the newest turn of the actor's conversation stands; the
// zero status before its first, and of a conversation that is not his.
func (s *Service) Turn(ctx context.Context, actor capability.Actor, conversation uuid.UUID) (TurnStatus, error) {
	row, err := s.lastTurn(ctx, actor, conversation)
	if err != nil {
		return TurnStatus{}, err
	}
	return statusOf(row), nil
}

func statusOf(row db.LastTurnRow) TurnStatus {
	return TurnStatus{
		Turn: row.Turn, State: TurnState(row.State), Model: row.Model, Epoch: row.Epoch,
		Mode: capability.PermissionMode(row.Mode), StartedAt: row.StartedAt, EndedAt: row.EndedAt,
	}
}

func (s *Service) lastTurn(ctx context.Context, actor capability.Actor, conversation uuid.UUID) (db.LastTurnRow, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return db.LastTurnRow{}, err
	}
	row, err := queries.LastTurn(ctx, s.db, db.LastTurnParams{
		Conversation: conversation, Workspace: actor.Workspace, Subject: subject, Stale: staleAfter,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return db.LastTurnRow{}, nil
	}
	return row, pg.Fault(err)
}

// Follow tells what happens in the actor's conversation, beginning with the
// entries after the given number, wherever its turns run. It may be left and
// taken up again at any entry without losing or doubling one. It goes on
// between turns and ends when ctx does, when the server stops, and with an
// error: fault.Missing for a conversation that is not his or was deleted.
func (s *Service) Follow(ctx context.Context, actor capability.Actor, conversation uuid.UUID, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{s: s, actor: actor, conversation: conversation, after: after, writes: -1}
		wake, end := s.live.follow(conversation)
		defer end()
		if err := f.follow(ctx, wake, func(e Event) bool { return yield(e, nil) }); err != nil && ctx.Err() == nil {
			yield(Event{}, err)
		}
	}
}

// follower is one reader of a conversation, and what he was told already.
type follower struct {
	s            *Service
	actor        capability.Actor
	conversation uuid.UUID
	after        int64 // of the newest entry told
	answered     int64 // of the newest answer told
	writes       int
	told         TurnStatus
	partial      Partial
	remote       *Partial // as the database has it, of a turn on another server
}

func (f *follower) follow(ctx context.Context, wake <-chan struct{}, tell func(Event) bool) error {
	if _, err := f.s.Conversation(ctx, f.actor, f.conversation); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := true
	for {
		writes, partial := f.s.live.look(f.conversation)
		if due || writes != f.writes {
			f.writes = writes
			if more, err := f.catchUp(ctx, tell); err != nil || !more {
				return err
			}
			timer.Reset(f.pause())
			_, partial = f.s.live.look(f.conversation)
		}
		if partial == nil {
			partial = f.remote
		}
		if !f.tellPartial(partial, tell) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			due = true
		case _, open := <-wake:
			if !open {
				return nil
			}
			due = false
		}
	}
}

func (f *follower) pause() time.Duration {
	if f.told.State.Open() {
		return followEvery
	}
	return idleEvery
}

// catchUp tells the entries that are new, then the turn's state. It returns
// false when the reader has left.
func (f *follower) catchUp(ctx context.Context, tell func(Event) bool) (bool, error) {
	row, err := f.s.lastTurn(ctx, f.actor, f.conversation)
	if err != nil {
		return false, err
	}
	if row.Turn == uuid.Nil || row.LastSeq > f.after {
		if more, err := f.entries(ctx, tell); err != nil || !more {
			return false, err
		}
	}
	f.remote = nil
	if row.Partial != "" && row.Server != f.s.server {
		f.remote = &Partial{Turn: row.Turn, Text: row.Partial, After: row.LastSeq}
	}
	if status := statusOf(row); status.Turn != f.told.Turn || status.State != f.told.State {
		f.told = status
		return tell(Event{Turn: &status}), nil
	}
	return true, nil
}

func (f *follower) entries(ctx context.Context, tell func(Event) bool) (bool, error) {
	for {
		entries, err := f.s.Ledger(ctx, f.actor, f.conversation, f.after)
		if err != nil {
			return false, err
		}
		for _, e := range entries {
			f.after = e.Seq
			if e.Kind == EntryModelOutput {
				f.answered = e.Seq
			}
			if !tell(Event{Entry: &e}) {
				return false, nil
			}
		}
		if len(entries) < pageOfLog {
			return true, f.still(ctx, len(entries))
		}
	}
}

// still returns fault.Missing for a conversation that was deleted meanwhile.
func (f *follower) still(ctx context.Context, entries int) error {
	if entries > 0 {
		return nil
	}
	_, err := f.s.Conversation(ctx, f.actor, f.conversation)
	return err
}

// tellPartial tells what was said since the last time. What an answer has
// taken the place of is not told any more.
func (f *follower) tellPartial(p *Partial, tell func(Event) bool) bool {
	if p == nil || p.After < f.answered {
		return true
	}
	if p.Turn == f.partial.Turn && p.After == f.partial.After && len(p.Text) <= len(f.partial.Text) &&
		len(p.Thinking) <= len(f.partial.Thinking) && len(p.Calls) <= len(f.partial.Calls) {
		return true
	}
	f.partial = *p
	return tell(Event{Partial: p})
}
