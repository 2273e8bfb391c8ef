package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/workspace"
)

// errRevoked is why the context of a call ends when what it runs is revoked.
var errRevoked = errors.New("revoked while it ran")

// running holds the calls that this server works on, so that what is revoked
// meanwhile ends where it can be ended. None of them is undone by that: each
// had started before the revocation and stands in the ledger as such.
type running struct {
	mu    sync.Mutex
	calls map[*bound]context.CancelCauseFunc
}

// watched makes the call known, from before it starts until it has ended. The
// context ends when its authority does; done takes the call off again.
func (r *running) watched(ctx context.Context, b *bound) (watched context.Context, done func()) {
	watched, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[*bound]context.CancelCauseFunc{}
	}
	r.calls[b] = cancel
	return watched, func() {
		r.mu.Lock()
		delete(r.calls, b)
		r.mu.Unlock()
		cancel(nil)
	}
}

// touched lists the calls that the news may concern: those of a workspace that
// something changed in, whether as the member's or as the owner's.
func (r *running) touched(news pg.News) map[*bound]context.CancelCauseFunc {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, in := news.All, map[string]bool{}
	for _, c := range news.Changes {
		all = all || c.Workspace == ""
		in[c.Workspace] = true
	}
	out := map[*bound]context.CancelCauseFunc{}
	for b, cancel := range r.calls {
		if all || in[b.Actor.Workspace] || in[b.entry.Row.Source] {
			out[b] = cancel
		}
	}
	return out
}

// revokeLoop asks again for the authority of running calls whenever something
// was committed that may have ended it.
func (s *Service) revokeLoop(ctx context.Context) {
	if s.feed == nil {
		return
	}
	sub := s.feed.Subscribe()
	defer sub.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Wake():
			for b, cancel := range s.running.touched(sub.Take()) {
				s.recheck(ctx, b, cancel)
			}
		}
	}
}

// recheck ends the call if it may not run any more. Where that cannot be found
// out the call goes on: it was allowed when it started.
func (s *Service) recheck(ctx context.Context, b *bound, cancel context.CancelCauseFunc) {
	err := s.authorize(ctx, b)
	if fault.Is(err, fault.Revoked) || fault.Is(err, fault.Denied) {
		s.log.InfoContext(ctx, "agent: a running call was revoked", "turn", b.Turn, "tool", b.Name, "code", fault.From(err).Code)
		cancel(errRevoked)
	}
}

// sinceAsked says why what a member was asked about cannot be named any more:
// a turn that goes on after his answer has only what is left of what it began
// with. It returns the cause itself where nothing was asked.
func (s *Service) sinceAsked(ctx context.Context, req Request, cause error) error {
	if req.Ref == "" || !fault.HasCode(cause, "unknown_tool") && !fault.Is(cause, fault.Denied) {
		return cause
	}
	row, err := queries.ApprovalOfRequest(ctx, s.db, db.ApprovalOfRequestParams{Turn: req.Turn, Ref: req.Ref})
	if err != nil {
		return cause
	}
	asked, err := s.Approval(ctx, req.Actor, row.ID)
	if err != nil {
		return cause
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return s.workspace.Authorize(ctx, tx, req.Actor, workspace.Call{
			Key: asked.Key, Source: asked.Source, ID: asked.Capability, Version: asked.Version, Digest: asked.Digest,
			Tool: asked.Raw, Write: asked.Writes, Egress: asked.Hosts, Arguments: asked.Arguments,
		})
	})
	if fault.Is(err, fault.Revoked) {
		return err
	}
	return outdated(req.Name)
}
