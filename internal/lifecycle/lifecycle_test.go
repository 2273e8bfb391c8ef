package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/lifecycle"
	"capstore/internal/lifecycle/lifecycletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loop is a service that waits for its end and writes down what happens.
type loop struct {
	lifecycle.Base
	name string
	log  *journal
	fail error
	Pass lifecycle.Signal[string]
}

type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (l *loop) Start(ctx context.Context) error {
	if l.fail != nil {
		return l.fail
	}
	return l.Run(ctx, func(ctx context.Context, ready func()) {
		l.log.add("start " + l.name)
		l.Pass.Send(l.name)
		ready()
		<-ctx.Done()
		l.log.add("stop " + l.name)
	})
}

func TestBaseConforms(t *testing.T) {
	t.Parallel()
	lifecycletest.Conforms(t, func(*testing.T) lifecycle.Service { return &loop{} })
}

func TestGroupConforms(t *testing.T) {
	t.Parallel()
	lifecycletest.Conforms(t, func(*testing.T) lifecycle.Service {
		return lifecycle.NewGroup(&loop{}, lifecycle.NewGroup(&loop{}, &loop{}))
	})
}

func TestGroupStartsInOrder(t *testing.T) {
	t.Parallel()
	log := &journal{}
	g := lifecycle.NewGroup(&loop{name: "a", log: log}, &loop{name: "b", log: log}, &loop{name: "c", log: log})
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.Stop()
	if got, want := log.lines[:3], []string{"start a", "start b", "start c"}; !slices.Equal(got, want) {
		t.Errorf("started %q, want %q", got, want)
	}
	if n := len(log.lines); n != 6 {
		t.Errorf("%d events, want every service stopped: %q", n, log.lines)
	}
}

func TestGroupUndoesAFailedStart(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	log := &journal{}
	g := lifecycle.NewGroup(&loop{name: "a", log: log}, &loop{fail: boom}, &loop{name: "c", log: log})
	if err := g.Start(t.Context()); !errors.Is(err, boom) {
		t.Fatalf("Start = %v, want the service's error", err)
	}
	g.Stop()
	if want := []string{"start a", "stop a"}; !slices.Equal(log.lines, want) {
		t.Errorf("events %q, want %q", log.lines, want)
	}
}

func TestAServiceThatEndsAtOnceCountsAsStarted(t *testing.T) {
	t.Parallel()
	var b brief
	started := b.Started()
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	lifecycletest.Wait(t, started)
}

type brief struct{ lifecycle.Base }

func (b *brief) Start(ctx context.Context) error {
	return b.Run(ctx, func(context.Context, func()) {})
}

func TestSignal(t *testing.T) {
	t.Parallel()
	l := &loop{name: "x"}
	l.Pass.Send("nobody listens")
	passed := l.Pass.Listen()
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lifecycletest.Wait(t, passed); got != "x" {
		t.Errorf("signal %q", got)
	}
	l.Stop()
}

func TestSignalNeverBlocksTheLoop(t *testing.T) {
	t.Parallel()
	var s lifecycle.Signal[int]
	s.Listen()
	for i := range 1000 {
		s.Send(i)
	}
}
