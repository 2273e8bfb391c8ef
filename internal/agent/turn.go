package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/lifecycle"
)

// turns holds what runs now. One conversation has one turn at a time.
type turns struct {
	lifecycle.Base
	mu      sync.Mutex
	ctx     context.Context // of the service's run; nil outside it
	running map[uuid.UUID]*turn
	wg      sync.WaitGroup
}

type turn struct {
	id     uuid.UUID
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// errStopped is why a turn's context ends when its member pressed stop.
var errStopped = errors.New("stopped by the member")

// maxTurn bounds a turn's wall time.
const maxTurn = 15 * time.Minute

// Start lets turns begin, until ctx ends or Stop is called.
func (s *Service) Start(ctx context.Context) error { return s.turns.start(ctx, s) }

// Started is closed when turns may begin.
func (s *Service) Started() <-chan struct{} { return s.turns.Started() }

// Stop cancels every turn and waits until each has written its end.
func (s *Service) Stop() { s.turns.Stop() }

func (t *turns) start(ctx context.Context, s *Service) error {
	return t.Run(ctx, func(ctx context.Context, ready func()) {
		t.mu.Lock()
		t.ctx, t.running = ctx, map[uuid.UUID]*turn{}
		t.mu.Unlock()
		if err := s.pool.Start(ctx); err != nil {
			s.log.ErrorContext(ctx, "agent: no way out to MCP servers", "error", err)
		}
		defer s.pool.Stop()
		ready()
		s.sweepLoop(ctx)
		t.mu.Lock()
		t.ctx = nil
		t.mu.Unlock()
		t.wg.Wait()
	})
}

// begin runs work as the conversation's turn and returns its id and a channel
// that closes when it has ended. A second turn at the same time is a conflict.
func (t *turns) begin(conversation uuid.UUID, work func(ctx context.Context, turn uuid.UUID)) (uuid.UUID, <-chan struct{}, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil {
		return uuid.Nil, nil, fault.New(fault.Unavailable, "stopping", "The server is stopping.").Do("Try again in a moment.")
	}
	if _, busy := t.running[conversation]; busy {
		return uuid.Nil, nil, fault.New(fault.Conflict, "turn_running", "This conversation is still working on the last message.").
			Do("Wait for it, or stop it.")
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	ctx, limit := context.WithTimeout(ctx, maxTurn)
	one := &turn{id: id, cancel: cancel, done: make(chan struct{})}
	t.running[conversation] = one
	t.wg.Go(func() {
		defer close(one.done)
		defer t.end(conversation)
		defer cancel(nil)
		defer limit()
		work(ctx, id)
	})
	return id, one.done, nil
}

func (t *turns) end(conversation uuid.UUID) {
	t.mu.Lock()
	delete(t.running, conversation)
	t.mu.Unlock()
}

func (t *turns) find(conversation uuid.UUID) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[conversation]
}

// Running reports whether the actor's conversation works on a turn in this
// server.
func (s *Service) Running(conversation uuid.UUID) bool { return s.turns.find(conversation) != nil }

// StopTurn cancels the running turn of the actor's conversation and waits
// until its end stands in the ledger. Nothing running is no fault.
func (s *Service) StopTurn(ctx context.Context, actor capability.Actor, conversation uuid.UUID) error {
	if _, err := s.Conversation(ctx, actor, conversation); err != nil {
		return err
	}
	one := s.turns.find(conversation)
	if one == nil {
		return nil
	}
	one.cancel(errStopped)
	select {
	case <-one.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note appends an entry outside a call, even when the turn was stopped.
func (s *Service) note(ctx context.Context, conversation, turn uuid.UUID, kind EntryKind, payload any) error {
	return s.db.Tx(context.WithoutCancel(ctx), func(ctx context.Context, tx pgx.Tx) error {
		_, err := write(ctx, tx, conversation, turn, kind, nil, payload)
		return err
	})
}
