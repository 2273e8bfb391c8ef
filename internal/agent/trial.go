package agent

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

const (
	// maxTrials is how many tries of one member run at once.
	maxTrials = 4
	// trialKept is how long the result of a try that nobody fetched is kept.
	trialKept = 10 * time.Minute
)

// trials are the tries that somebody watches, in this server's memory alone:
// nothing of a try is kept.
type trials struct {
	mu  sync.Mutex
	all map[uuid.UUID]*trial
}

type trial struct {
	owner   capability.Actor
	live    *sandbox.Live
	missing []string
	done    <-chan struct{}
	cancel  context.CancelCauseFunc

	// Set before done closes.
	result TryResult
	err    error
	ended  time.Time
}

// Trial is what is known of a try while it runs, and what came of it.
type Trial struct {
	ID             uuid.UUID
	Stdout, Stderr string // printed so far, masked
	MissingSecrets []string
	Done           <-chan struct{}
	// Result and Err are there once Done is closed.
	Result TryResult
	Err    error
}

// Ended reports whether the try is over.
func (t Trial) Ended() bool {
	select {
	case <-t.Done:
		return true
	default:
		return false
	}
}

// StartTry begins a try that is watched with WatchTry and ended with StopTry,
// and returns its id. What Try refuses before running is refused here. More
// than a few at once are a Limited fault.
func (s *Service) StartTry(ctx context.Context, actor capability.Actor, in TryInput) (uuid.UUID, error) {
	r, err := s.prepare(ctx, actor, in)
	if err != nil {
		return uuid.Nil, err
	}
	values := make([]string, 0, len(r.values))
	for _, v := range r.values {
		values = append(values, v.Reveal())
	}
	r.live = sandbox.NewLive(values)
	one := &trial{owner: actor, live: r.live, missing: r.missing}
	s.trials.mu.Lock()
	defer s.trials.mu.Unlock()
	if err := s.trials.room(actor); err != nil {
		return uuid.Nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, err
	}
	work, err := s.turns.open(id, uuid.Nil)
	if err != nil {
		return uuid.Nil, err
	}
	one.done, one.cancel = work.done, work.cancel
	s.turns.launch(work, func(ctx context.Context) {
		one.result, one.err = s.try(ctx, r)
		one.ended = time.Now()
	})
	s.trials.all[id] = one
	return id, nil
}

// room forgets what was left behind and refuses one too many.
func (t *trials) room(actor capability.Actor) error {
	if t.all == nil {
		t.all = map[uuid.UUID]*trial{}
	}
	running := 0
	for id, one := range t.all {
		select {
		case <-one.done:
			if time.Since(one.ended) > trialKept {
				delete(t.all, id)
			}
		default:
			if one.owner.Subject == actor.Subject {
				running++
			}
		}
	}
	if running >= maxTrials {
		return fault.New(fault.Limited, "too_many_tries", "You have %d tries running already.", running).Do("Wait for one to end, or stop it.")
	}
	return nil
}

func (t *trials) of(actor capability.Actor, id uuid.UUID) (*trial, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[id]
	if one == nil || one.owner.Subject != actor.Subject || one.owner.Workspace != actor.Workspace {
		return nil, fault.Missing()
	}
	return one, nil
}

// WatchTry returns what is known of the actor's own try. One that is somebody
// else's, that is over for a while, or that another server ran is missing.
func (s *Service) WatchTry(actor capability.Actor, id uuid.UUID) (Trial, error) {
	one, err := s.trials.of(actor, id)
	if err != nil {
		return Trial{}, err
	}
	out := Trial{ID: id, MissingSecrets: one.missing, Done: one.done}
	out.Stdout, out.Stderr = one.live.Text()
	if out.Ended() {
		out.Result, out.Err = one.result, one.err
	}
	return out, nil
}

// StopTry ends the actor's own try and waits until nothing of it is left. One
// that has ended is no fault.
func (s *Service) StopTry(ctx context.Context, actor capability.Actor, id uuid.UUID) error {
	one, err := s.trials.of(actor, id)
	if err != nil {
		return err
	}
	one.cancel(errStopped)
	select {
	case <-one.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
