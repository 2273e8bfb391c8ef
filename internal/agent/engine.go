package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/agent/model"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// run is one turn as the goroutine knows that works on it. All that it needs
// to go on stands in the ledger: another server can take it up from there.
type run struct {
	s     *Service
	one   *turn
	actor capability.Actor
	mode  capability.PermissionMode
	// binding holds snap, or what snap was narrowed from, until the turn's work
	// here has ended.
	binding *registry.Binding
	snap    *registry.Snapshot
	// delta is what differs from the conversation's last turn.
	delta registry.Delta
	// thinker is the model, nil in direct mode.
	thinker *thinker
	// surface is what the turn has loaded; system and tools are made from it when
	// the turn begins and stay.
	surface *surface
	system  string
	tools   []model.Tool
	// pictures are those of the turn's long results; forget halves what the model
	// is given of the conversation, once for each time that it was too much.
	pictures pictures
	forget   int
	// lines is the conversation's ledger as far as it was read.
	lines []line
	seq   int64
}

// release gives back what the turn holds in memory.
func (r *run) release() {
	r.thinker.release()
	r.binding.Release()
}

// work drives the turn and writes how it ended. A turn is no request: a panic
// that ends one would end the server, with everybody's turns.
func (s *Service) work(ctx context.Context, r *run) {
	defer r.release()
	parked, err := func() (parked bool, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.ErrorContext(ctx, "agent: panic in a turn", "turn", r.one.id, "panic", p, "stack", string(debug.Stack()))
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return r.drive(ctx)
	}()
	if parked {
		return
	}
	if err := r.conclude(ctx, err); err != nil {
		s.log.ErrorContext(ctx, "agent: end of turn not written", "turn", r.one.id, "error", err)
	}
}

// drive takes the turn from where its ledger stands to its end, or to where it
// waits for its member: then it is parked and nothing of it stays in memory.
func (r *run) drive(ctx context.Context) (parked bool, err error) {
	if err := r.refresh(ctx); err != nil {
		return false, err
	}
	if err := r.opening(ctx); err != nil {
		return false, err
	}
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err := r.refresh(ctx); err != nil {
			return false, err
		}
		p := progressOf(r.one.id, r.lines)
		r.surface.promote(p.loads)
		if len(p.lost) > 0 {
			return false, errLost
		}
		switch p.next(r.thinker != nil) {
		case nextEnd:
			r.s.turnEndHooks(ctx, r.snap, r.actor, r.one.conversation, r.one.id, lastText(p))
			return false, nil
		case nextCalls:
			waits, err := r.calls(ctx, p)
			if err == nil && len(waits) > 0 && ctx.Err() == nil {
				parked, err = r.park(ctx, waits)
			}
			if parked || err != nil {
				return parked, err
			}
		case nextThink:
			if err := r.think(ctx, p); err != nil {
				return false, err
			}
		}
	}
}

// errLost says that a call of the turn has started and nobody knows how it
// ended. It is not repeated.
var errLost = fault.New(fault.Unavailable, "interrupted", "The server stopped while this was running. Whether it had an effect is not known.").
	Do("Look at what it works on before you run it again.")

func lastText(p progress) string {
	if p.last == nil {
		return ""
	}
	return p.last.Text
}

// opening shows a message to the hooks before anything is done about it. What
// the member runs by hand is no message for a model.
func (r *run) opening(ctx context.Context) error {
	p := progressOf(r.one.id, r.lines)
	if p.message == nil || p.steps > 0 || len(p.pending) < len(p.message.Calls) || len(p.message.Calls) > 0 && r.thinker == nil {
		return nil
	}
	if r.said(EntryHookOutcome) || r.said(EntryToolResult) {
		return nil // they were asked before the turn was parked
	}
	if _, err := r.s.sessionHooks(ctx, r.snap, r.actor, r.one.conversation, r.one.id); err != nil {
		return err
	}
	_, err := r.s.promptHooks(ctx, r.snap, r.actor, r.one.conversation, r.one.id, promptOf(*p.message))
	return err
}

func (r *run) said(kind EntryKind) bool {
	for _, l := range r.lines {
		if l.Turn == r.one.id && l.Kind == kind {
			return true
		}
	}
	return false
}

// equip decides what the turn has loaded. It depends on the message and the
// snapshot alone, so that a turn that goes on elsewhere has the same.
func (r *run) equip(on capability.Surface, message Message) {
	r.surface = &surface{on: on, Surface: r.snap.Surface(on, promptOf(message), registry.SurfaceOptions{})}
	r.surface.promote(refTools(message.Refs))
	if r.thinker != nil {
		r.system, r.tools = systemPrompt(r.snap, r.surface), toolsOf(r.snap, r.surface)
	}
}

// refresh reads what was added to the ledger since.
func (r *run) refresh(ctx context.Context) error {
	for {
		rows, err := queries.LedgerAfter(ctx, r.s.db, db.LedgerAfterParams{Conversation: r.one.conversation, After: r.seq, Count: pageOfLog})
		if err != nil {
			return err
		}
		for _, row := range rows {
			l, err := readLine(Entry{Seq: row.Seq, At: row.At, Turn: row.Turn, Kind: EntryKind(row.Kind), Call: row.Call, Payload: row.Payload})
			if err != nil {
				return err
			}
			r.lines, r.seq = append(r.lines, l), row.Seq
		}
		if len(rows) < pageOfLog {
			return nil
		}
	}
}

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
