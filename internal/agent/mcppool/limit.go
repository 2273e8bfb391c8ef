package mcppool

import (
	"context"
	"time"

	"capstore/internal/fault"
)

// limit bounds one call: by silence, which progress resets, by its whole time,
// which nothing does, and by the life of its session.
type limit struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer
	total  *time.Timer
	unhook func() bool
	pause  time.Duration
}

func newLimit(ctx, session context.Context, idle, total time.Duration) *limit {
	l := &limit{pause: idle}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.idle = time.AfterFunc(idle, func() { l.cancel(timedOut("was silent for", idle)) })
	l.total = time.AfterFunc(total, func() { l.cancel(timedOut("took longer than", total)) })
	l.unhook = context.AfterFunc(session, func() { l.cancel(disconnected(nil)) })
	return l
}

func (l *limit) reset() { l.idle.Reset(l.pause) }

func (l *limit) stop() {
	l.idle.Stop()
	l.total.Stop()
	l.unhook()
	l.cancel(nil)
}

func timedOut(what string, d time.Duration) error {
	return fault.New(fault.Unavailable, "timed_out", "The server %s %s, so the call was given up. It may still be at work.", what, d).
		Do("Look whether it was done before you try again.")
}

func disconnected(cause error) error {
	return fault.New(fault.Unavailable, "disconnected", "The connection to the server ended during the call. It may or may not have been carried out.").
		Do("Look whether it was done before you try again.").Because(cause)
}
