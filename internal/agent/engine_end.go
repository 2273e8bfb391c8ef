package agent

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
)

// conclude writes how the turn ended.
func (r *run) conclude(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	limit, limited := errors.AsType[*limitReached](err)
	switch {
	case errors.Is(err, errTurnOver) || errors.Is(cause, errTurnOver):
		return nil
	case errors.Is(cause, errStopped):
		return r.end(ctx, TurnStopped, EntryStop, stopped())
	case errors.Is(cause, context.DeadlineExceeded):
		limit, limited = timeLimit(), true
	case ctx.Err() != nil:
		return r.end(ctx, TurnInterrupted, EntryError, interruption())
	case err == nil:
		return r.end(ctx, TurnDone, "", nil)
	}
	if limited {
		return r.end(ctx, TurnDone, EntryError, &Failure{Code: limit.code, Message: limit.message, Action: limit.action})
	}
	if fault.Is(err, fault.Internal) {
		r.s.log.ErrorContext(ctx, "agent: turn failed", "turn", r.one.id, "error", err)
	}
	f := failure(err)
	return r.end(ctx, TurnFailed, EntryError, &f)
}

func interruption() *Failure {
	return &Failure{Code: "interrupted", Message: "The server stopped while it worked on this.",
		Action: "Nothing is repeated by itself. Ask again to go on from here."}
}

// end writes the state and the turn's last entry, in one transaction, and
// waits for a database that is away. A turn that was ended elsewhere stays as
// it is.
func (r *run) end(ctx context.Context, state TurnState, kind EntryKind, last *Failure) error {
	return r.s.insist(ctx, func(ctx context.Context) error {
		return r.s.commit(ctx, r.one.conversation, func(ctx context.Context, tx pgx.Tx) error {
			ended, err := queries.EndTurn(ctx, tx, db.EndTurnParams{State: string(state), Turn: r.one.id, Server: r.s.server})
			if err != nil || ended == 0 {
				return err
			}
			return r.s.settleTurn(ctx, tx, r.one.conversation, r.one.id, stopOf(state), kind, last)
		})
	})
}

// stopOf is how an answer ended that was cut off by the turn's end.
func stopOf(state TurnState) string {
	if state == TurnStopped {
		return "stopped"
	}
	return "died"
}

// settleTurn leaves nothing open in a turn that has just ended: what was said
// becomes an answer, questions to the member are withdrawn, the last entry is
// written.
func (s *Service) settleTurn(ctx context.Context, tx pgx.Tx, conversation, turn uuid.UUID, stop string, kind EntryKind, last *Failure) error {
	text, err := queries.TakePartial(ctx, tx, turn)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if text != "" {
		row, err := queries.TurnByID(ctx, tx, turn)
		if err != nil {
			return err
		}
		if _, err := write(ctx, tx, conversation, turn, EntryModelOutput, nil, ModelOutput{Model: row.Model, Text: text, Stop: stop}); err != nil {
			return err
		}
	}
	asked, err := queries.WithdrawApprovalsOf(ctx, tx, turn)
	if err != nil {
		return err
	}
	for _, a := range asked {
		if _, err := write(ctx, tx, conversation, turn, EntryApprovalAnswered, nil, ApprovalAnswered{
			Approval: a.ID, Ref: a.Ref, Tool: a.Tool, Answer: "withdrawn",
		}); err != nil {
			return err
		}
	}
	if last == nil {
		return nil
	}
	_, err = write(ctx, tx, conversation, turn, kind, nil, last)
	return err
}

// commit is a transaction that writes to the conversation's ledger: those who
// follow it here look at once.
func (s *Service) commit(ctx context.Context, conversation uuid.UUID, fn func(ctx context.Context, tx pgx.Tx) error) error {
	err := s.db.Tx(ctx, fn)
	if err == nil {
		s.live.wrote(conversation)
	}
	return err
}

// insistTries is how often what must be written is tried when the database is
// away just then; each try waits for it by itself, too.
const insistTries = 5

// insist writes even when the turn was stopped in the meantime, and waits for a
// database that is away: what has happened must not look as if nobody knew.
func (s *Service) insist(ctx context.Context, do func(ctx context.Context) error) error {
	ctx = context.WithoutCancel(ctx)
	for try := 1; ; try++ {
		err := do(ctx)
		if err == nil || try == insistTries || !fault.Is(err, fault.Unavailable) {
			return err
		}
		<-time.After(time.Duration(try) * time.Second)
	}
}

// note appends an entry outside a call, even when the turn was stopped.
func (s *Service) note(ctx context.Context, conversation, turn uuid.UUID, kind EntryKind, payload any) error {
	return s.commit(context.WithoutCancel(ctx), conversation, func(ctx context.Context, tx pgx.Tx) error {
		_, err := write(ctx, tx, conversation, turn, kind, nil, payload)
		return err
	})
}
