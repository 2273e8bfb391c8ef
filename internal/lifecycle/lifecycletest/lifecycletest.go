// Package lifecycletest holds every service to the contract of lifecycle.
package lifecycletest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"capstore/internal/lifecycle"
)

// patience is how long a step may take before the test gives up on it. It is
// no measure of anything; a working service needs milliseconds.
const patience = 20 * time.Second

// Wait fails the test when ch brings nothing, and returns what it brought.
func Wait[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

// Conforms runs the contract against services that make returns, under
// contention, so it is worth most with the race detector.
func Conforms(t *testing.T, make func(t *testing.T) lifecycle.Service) {
	t.Helper()
	t.Run("stopped unstarted", func(t *testing.T) {
		t.Parallel()
		make(t).Stop()
	})
	t.Run("started, stopped twice, started again", func(t *testing.T) {
		t.Parallel()
		s := make(t)
		for range 3 {
			start(t, s)
			if err := s.Start(t.Context()); !errors.Is(err, lifecycle.ErrStarted) {
				t.Errorf("second Start = %v, want ErrStarted", err)
			}
			s.Stop()
			s.Stop()
		}
	})
	t.Run("ended by its context", func(t *testing.T) {
		t.Parallel()
		s := make(t)
		ctx, cancel := context.WithCancel(t.Context())
		started := s.Started()
		if err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
		Wait(t, started)
		cancel()
		s.Stop()
	})
	t.Run("stress", func(t *testing.T) {
		t.Parallel()
		stress(t, make(t))
	})
}

func start(t *testing.T, s lifecycle.Service) {
	t.Helper()
	started := s.Started()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	Wait(t, started)
}

// stress starts and stops the service from many goroutines at once. What is
// asserted is that everybody gets through and the service ends stopped.
func stress(t *testing.T, s lifecycle.Service) {
	t.Helper()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				started := s.Started()
				if err := s.Start(t.Context()); err == nil {
					Wait(t, started)
				} else if !errors.Is(err, lifecycle.ErrStarted) && !errors.Is(err, context.Canceled) {
					t.Errorf("Start = %v", err)
				}
				s.Stop()
			}
		})
	}
	wg.Wait()
	s.Stop()
	start(t, s)
	s.Stop()
}
