package agent

import (
	"context"
	"fmt"
	"runtime/debug"

	"capstore/db"
	"capstore/internal/agent/model"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// run is one turn as the goroutine knows that works on it. All that it needs
// to go on stands in the ledger: another server can take it up from there.
type run struct {
	s     *Service
	one   *turn
	actor capability.Actor
	mode  capability.PermissionMode
	// binding holds snap, or what snap was narrowed from, until the turn's work
	// here has ended.
	binding *registry.Binding
	snap    *registry.Snapshot
	// delta is what differs from the conversation's last turn.
	delta registry.Delta
	// thinker is the model, nil in direct mode.
	thinker *thinker
	// surface is what the turn has loaded; system and tools are made from it when
	// the turn begins and stay.
	surface *surface
	system  string
	tools   []model.Tool
	// pictures are those of the turn's long results; forget halves what the model
	// is given of the conversation, once for each time that it was too much.
	pictures pictures
	forget   int
	// lines is the conversation's ledger as far as it was read.
	lines []line
	seq   int64
}

// release gives back what the turn holds in memory.
func (r *run) release() {
	r.thinker.release()
	r.binding.Release()
}

// work drives the turn and writes how it ended.
func (s *Service) work(ctx context.Context, r *run) {
	defer r.release()
	parked := false
	err := r.shielded(ctx, func() (err error) {
		parked, err = r.drive(ctx)
		return err
	})
	if parked {
		return
	}
	if err := r.conclude(ctx, err); err != nil {
		s.log.ErrorContext(ctx, "agent: end of turn not written", "turn", r.one.id, "error", err)
	}
}

// shielded turns a panic into an error. A turn is no request: one that panics
// would end the server, with everybody's turns.
func (r *run) shielded(ctx context.Context, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.s.log.ErrorContext(ctx, "agent: panic in a turn", "turn", r.one.id, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}

// drive takes the turn from where its ledger stands to its end, or to where it
// waits for its member: then it is parked and nothing of it stays in memory.
func (r *run) drive(ctx context.Context) (parked bool, err error) {
	if err := r.refresh(ctx); err != nil {
		return false, err
	}
	if err := r.opening(ctx); err != nil {
		return false, err
	}
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if err := r.refresh(ctx); err != nil {
			return false, err
		}
		p := progressOf(r.one.id, r.lines)
		r.surface.promote(p.loads)
		if len(p.lost) > 0 {
			return false, errLost
		}
		switch p.next(r.thinker != nil) {
		case nextEnd:
			r.s.turnEndHooks(ctx, r.snap, r.actor, r.one.conversation, r.one.id, lastText(p))
			return false, nil
		case nextCalls:
			waits, err := r.calls(ctx, p)
			if err == nil && len(waits) > 0 && ctx.Err() == nil {
				parked, err = r.park(ctx, waits)
			}
			if parked || err != nil {
				return parked, err
			}
		case nextThink:
			if err := r.think(ctx, p); err != nil {
				return false, err
			}
		}
	}
}

// errLost says that a call of the turn has started and nobody knows how it
// ended. It is not repeated.
var errLost = fault.New(fault.Unavailable, "interrupted", "The server stopped while this was running. Whether it had an effect is not known.").
	Do("Look at what it works on before you run it again.")

func lastText(p progress) string {
	if p.last == nil {
		return ""
	}
	return p.last.Text
}

// opening shows a message to the hooks before anything is done about it. What
// the member runs by hand is no message for a model.
func (r *run) opening(ctx context.Context) error {
	p := progressOf(r.one.id, r.lines)
	if p.message == nil || p.steps > 0 || len(p.pending) < len(p.message.Calls) || len(p.message.Calls) > 0 && r.thinker == nil {
		return nil
	}
	if r.said(EntryHookOutcome) || r.said(EntryToolResult) {
		return nil // they were asked before the turn was parked
	}
	if _, err := r.s.sessionHooks(ctx, r.snap, r.actor, r.one.conversation, r.one.id); err != nil {
		return err
	}
	_, err := r.s.promptHooks(ctx, r.snap, r.actor, r.one.conversation, r.one.id, promptOf(*p.message))
	return err
}

func (r *run) said(kind EntryKind) bool {
	for _, l := range r.lines {
		if l.Turn == r.one.id && l.Kind == kind {
			return true
		}
	}
	return false
}

// equip decides what the turn has loaded. It depends on the message and the
// snapshot alone, so that a turn that goes on elsewhere has the same.
func (r *run) equip(on capability.Surface, message Message) {
	r.surface = &surface{on: on, Surface: r.snap.Surface(on, promptOf(message), registry.SurfaceOptions{})}
	r.surface.promote(refTools(message.Refs))
	if r.thinker != nil {
		r.system, r.tools = systemPrompt(r.snap, r.surface), toolsOf(r.snap, r.surface)
	}
}

// refresh reads what was added to the ledger since.
func (r *run) refresh(ctx context.Context) error {
	for {
		rows, err := queries.LedgerAfter(ctx, r.s.db, db.LedgerAfterParams{Conversation: r.one.conversation, After: r.seq, Count: pageOfLog})
		if err != nil {
			return err
		}
		for _, row := range rows {
			l, err := readLine(Entry{Seq: row.Seq, At: row.At, Turn: row.Turn, Kind: EntryKind(row.Kind), Call: row.Call, Payload: row.Payload})
			if err != nil {
				return err
			}
			r.lines, r.seq = append(r.lines, l), row.Seq
		}
		if len(rows) < pageOfLog {
			return nil
		}
	}
}
