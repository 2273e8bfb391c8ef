// Package lifecycle is the contract of every background loop: started once,
// stopped by anyone and as often as they like, and waited for.
package lifecycle

import (
	"context"
	"errors"
	"sync"
)

// Service is something that runs in the background.
type Service interface {
	// Start begins the work and returns without waiting for it. The work ends
	// when ctx does or when Stop is called. A second Start returns ErrStarted
	// while the service runs, and a Start after the end begins anew.
	Start(ctx context.Context) error
	// Started is closed once the service does its work, or has ended without
	// getting there, so that a waiter is never left behind.
	Started() <-chan struct{}
	// Stop ends the work and returns when it has ended. It may be called at
	// any time: before Start, twice, or from several goroutines.
	Stop()
}

// ErrStarted is what Start returns for a service that runs already.
var ErrStarted = errors.New("lifecycle: started already")

// Base implements Service around one function. Embed it and call Run from
// Start. The zero value is ready.
type Base struct {
	mu      sync.Mutex
	started chan struct{} // of the present or the coming run
	cancel  context.CancelFunc
	done    chan struct{} // of the present run; nil when there is none
}

// Run starts fn in a goroutine of its own. fn calls ready once it works and
// returns when its context ends.
func (b *Base) Run(ctx context.Context, fn func(ctx context.Context, ready func())) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil {
		return ErrStarted
	}
	started := b.startedLocked()
	ready := sync.OnceFunc(func() { close(started) })
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	b.cancel, b.done = cancel, done
	go func() {
		defer b.ended(done)
		defer cancel()
		defer ready()
		fn(ctx, ready)
	}()
	return nil
}

// ended makes way for the next run before those who wait for this one go on.
func (b *Base) ended(done chan struct{}) {
	b.mu.Lock()
	b.done, b.cancel, b.started = nil, nil, nil
	b.mu.Unlock()
	close(done)
}

// Started is closed when the run works or has ended. Asked for before Start,
// it tells of the coming run.
func (b *Base) Started() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.startedLocked()
}

func (b *Base) startedLocked() chan struct{} {
	if b.started == nil {
		b.started = make(chan struct{})
	}
	return b.started
}

// Stop ends the run, if there is one, and waits until it has ended.
func (b *Base) Stop() {
	b.mu.Lock()
	cancel, done := b.cancel, b.done
	b.mu.Unlock()
	if done == nil {
		return
	}
	cancel()
	<-done
}
