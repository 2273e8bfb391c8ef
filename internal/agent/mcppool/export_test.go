package mcppool

import "context"

// Reap runs what the pool's loop does now and then.
func (p *Pool) Reap() { p.reap() }

// NewLimit is for tests of its clock.
var NewLimit = newLimit

// Context, Reset and Stop open a limit to tests.
func (l *limit) Context() context.Context { return l.ctx }

func (l *limit) Reset() { l.reset() }

func (l *limit) Stop() { l.stop() }
