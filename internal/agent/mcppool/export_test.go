package mcppool

import (
	"context"
	"io"
)

// Reap runs what the pool's loop does now and then.
func (p *Pool) Reap() { p.reap() }

// NewLimit is for tests of its clock.
var NewLimit = newLimit

// Context, Reset and Stop open a limit to tests.
func (l *limit) Context() context.Context { return l.ctx }

func (l *limit) Reset() { l.reset() }

func (l *limit) Stop() { l.stop() }

// Tapped gives what the SDK reads of a stream of events, and the raw result
// that was kept.
func Tapped(src io.Reader, limit int64) (string, string, error) {
	x := &exchange{}
	out, err := io.ReadAll(newEventTap(io.NopCloser(src), limit, x))
	return string(out), string(x.read().result), err
}
