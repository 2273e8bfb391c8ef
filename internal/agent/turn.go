package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"capstore/internal/fault"
	"capstore/internal/lifecycle"
)

// turns holds what this server works on now. That a conversation has one turn
// at a time is the database's business, for there may be other servers.
type turns struct {
	lifecycle.Base
	mu      sync.Mutex
	ctx     context.Context // of the service's run; nil outside it
	running map[uuid.UUID]*turn
	wg      sync.WaitGroup
}

// turn is one that this server works on, or a try of a draft, which belongs to
// no conversation and stands in no database.
type turn struct {
	id           uuid.UUID
	conversation uuid.UUID
	ctx          context.Context
	cancel       context.CancelCauseFunc
	done         chan struct{}
	// live says that its row stands in the database and wants a heartbeat.
	live bool
}

var (
	// errStopped is why a turn's context ends when its member pressed stop.
	errStopped = errors.New("stopped by the member")
	// errTurnOver says that the turn was ended elsewhere: this server was
	// silent for too long, or the conversation is gone. Nothing is written.
	errTurnOver = errors.New("the turn was ended elsewhere")
)

// maxTurn bounds a turn's wall time, without what it waits for its member.
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
		s.live.open()
		if err := s.pool.Start(ctx); err != nil {
			s.log.ErrorContext(ctx, "agent: no way out to MCP servers", "error", err)
		}
		defer s.pool.Stop()
		var loops sync.WaitGroup
		loops.Go(func() { s.heartbeats(ctx) })
		loops.Go(func() { s.revokeLoop(ctx) })
		ready()
		s.sweepLoop(ctx)
		loops.Wait()
		t.mu.Lock()
		t.ctx = nil
		t.mu.Unlock()
		t.wg.Wait()
		s.live.close()
	})
}

// open makes room for a turn whose row is about to be written. Either launch
// or drop follows.
func (t *turns) open(id, conversation uuid.UUID) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil {
		return nil, fault.New(fault.Unavailable, "stopping", "The server is stopping.").Do("Try again in a moment.")
	}
	one := &turn{id: id, conversation: conversation, done: make(chan struct{})}
	one.ctx, one.cancel = context.WithCancelCause(t.ctx)
	t.running[id] = one
	t.wg.Add(1)
	return one, nil
}

// launch runs work as the turn.
func (t *turns) launch(one *turn, work func(ctx context.Context)) {
	t.mu.Lock()
	one.live = one.conversation != uuid.Nil
	t.mu.Unlock()
	go func() {
		defer t.drop(one)
		ctx, limit := context.WithTimeout(one.ctx, maxTurn)
		defer limit()
		work(ctx)
	}()
}

// drop forgets a turn that has ended, is parked, or never began.
func (t *turns) drop(one *turn) {
	t.mu.Lock()
	if t.running[one.id] == one { // it may have been parked and taken up again by now
		delete(t.running, one.id)
	}
	t.mu.Unlock()
	one.cancel(nil)
	close(one.done)
	t.wg.Done()
}

// find returns the conversation's turn of this server, nil for none.
func (t *turns) find(conversation uuid.UUID) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.running {
		if one.conversation == conversation && one.live {
			return one
		}
	}
	return nil
}

// list returns the turns whose rows this server keeps alive.
func (t *turns) list() []*turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*turn, 0, len(t.running))
	for _, one := range t.running {
		if one.live {
			list = append(list, one)
		}
	}
	return list
}

// Running reports whether this server works on a turn of the conversation.
// Turn tells of turns anywhere.
func (s *Service) Running(conversation uuid.UUID) bool { return s.turns.find(conversation) != nil }
