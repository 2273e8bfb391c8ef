package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/agent/model"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

const (
	// maxParallel is how many calls of one step run at the same time.
	maxParallel = 8
	// maxSameFailure is how often the same call may fail before it is not made
	// any more.
	maxSameFailure = 5
)

// calls takes the requested calls through the door, side by side, and returns
// when each has ended, was refused, or waits: then waits has its approval.
func (r *run) calls(ctx context.Context, p progress) (waits []uuid.UUID, err error) {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		slots = make(chan struct{}, maxParallel)
	)
	for _, w := range p.pending {
		all.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			callErr := r.shielded(ctx, func() error { return r.call(ctx, w, p.failures[w.what()]) })
			mu.Lock()
			defer mu.Unlock()
			if asked, ok := errors.AsType[*Waiting](callErr); ok {
				waits = append(waits, asked.Approval)
			} else {
				err = errors.Join(err, callErr)
			}
		})
	}
	all.Wait()
	return waits, err
}

func (r *run) call(ctx context.Context, w Requested, failedBefore int) error {
	r.countMisread(ctx, w)
	req := Request{
		Actor: r.actor, Conversation: r.one.conversation, Turn: r.one.id, Name: w.Name, Ref: w.Ref,
		Arguments: w.Arguments, Caller: w.caller(), Mode: r.mode, surface: r.surface,
	}
	if w.Broken != "" {
		cause := jsonx.Check([]byte(w.Broken), maxArguments)
		if cause == nil {
			cause = model.Call{Name: w.Name, Broken: w.Broken}.Fault()
		}
		_, err := r.s.refuse(ctx, req, cause)
		return err
	}
	if failedBefore >= maxSameFailure {
		_, err := r.s.refuse(ctx, req, fault.New(fault.Limited, "repeated_call", "This very call has failed %d times in this turn.", failedBefore).
			Do("Do something else, or tell the member what is in the way."))
		return err
	}
	_, err := r.s.Call(ctx, r.snap, req)
	return err
}

// countMisread counts that the model uses a tool which the reading of the
// message had not foreseen, so that people see whose domains may be wrong.
func (r *run) countMisread(ctx context.Context, w Requested) {
	if w.caller() != CallerModel || !r.surface.misread(w.Name) {
		return
	}
	if err := r.s.registry.CountMisread(ctx, r.actor.Workspace, w.Name); err != nil && ctx.Err() == nil {
		r.s.log.WarnContext(ctx, "agent: misread not counted", "tool", w.Name, "error", err)
	}
}

// handRef begins the reference of what a member runs by hand; a model's has
// the number of its step.
const handRef = "hand/"

func (w Requested) caller() Caller {
	if len(w.Ref) > len(handRef) && w.Ref[:len(handRef)] == handRef {
		return CallerDirect
	}
	return CallerModel
}

// park leaves the turn to its member: it goes on, on any server, when one of
// the approvals is answered. It returns false when one was in the meantime.
func (r *run) park(ctx context.Context, waits []uuid.UUID) (parked bool, err error) {
	err = r.s.commit(ctx, r.one.conversation, func(ctx context.Context, tx pgx.Tx) error {
		// The lock comes first: who answers later finds the turn waiting.
		row, err := queries.LockTurn(ctx, tx, r.one.id)
		if err != nil {
			return err
		}
		if row.State != string(TurnRunning) || row.Server != r.s.server {
			return errTurnOver
		}
		answered, err := queries.AnsweredOf(ctx, tx, waits)
		if err != nil || answered > 0 {
			return err
		}
		parked = true
		return queries.ParkTurn(ctx, tx, r.one.id)
	})
	return parked && err == nil, err
}

// hold makes sure that the turn is still this server's, until the transaction
// ends: nothing starts in one that was stopped or given up elsewhere. A call
// outside a turn has none to be held.
func (s *Service) hold(ctx context.Context, tx pgx.Tx, turn uuid.UUID) error {
	mine, err := queries.HoldTurn(ctx, tx, db.HoldTurnParams{Turn: turn, Server: s.server})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil && !mine {
		return errTurnOver
	}
	return err
}
