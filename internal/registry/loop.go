package registry

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"capstore/db"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// topics are what a world rests on.
var topics = []string{
	catalog.TopicCapability, catalog.TopicRevoked, workspace.TopicAgent, workspace.TopicOverlay, workspace.TopicSkill,
	secret.Topic, identity.TopicMembers, identity.TopicWorkspace, TopicObservation,
}

const (
	// atOnce is how many worlds a pass reads at the same time.
	atOnce = 4
	// maxOwed bounds the changes that a pass could not work off and keeps for
	// the next one; beyond it the next one looks at everything.
	maxOwed    = 10_000
	sweepEvery = time.Hour
	// lookBack is far beyond what a publication takes.
	lookBack = 5 * time.Minute
)

// loop is what the passes of one process share.
type loop struct {
	pass  sync.Mutex // one pass at a time; the four below belong to it
	owed  pg.News
	sub   *pg.Subscription // nil without a feed, and while the loop does not run
	swept time.Time
	ahead time.Time // when other servers' publications were looked for

	mu     sync.Mutex
	health Health
}

// Health is how the loop is doing.
type Health struct {
	Passes       int64     `json:"passes"`
	LastPass     time.Time `json:"lastPass,omitzero"`
	LastSuccess  time.Time `json:"lastSuccess,omitzero"`
	LastError    string    `json:"lastError,omitempty"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	// Worlds are in use here; Snapshots are held by them and by Holders turns.
	Worlds    int   `json:"worlds"`
	Snapshots int64 `json:"snapshots"`
	Holders   int64 `json:"holders"`
}

// Health tells how the loop of this process is doing.
func (r *Registry) Health() Health {
	r.loop.mu.Lock()
	h := r.loop.health
	r.loop.mu.Unlock()
	r.mu.Lock()
	h.Worlds = r.count
	r.mu.Unlock()
	h.Snapshots, h.Holders = r.live.Load(), r.holders.Load()
	return h
}

// Start begins to keep the worlds that are in use current.
func (r *Registry) Start(ctx context.Context) error { return r.Run(ctx, r.work) }

func (r *Registry) work(ctx context.Context, ready func()) {
	tick := time.NewTicker(r.opts.Tick)
	defer tick.Stop()
	var hint <-chan struct{}
	if r.feed != nil {
		sub := r.feed.Subscribe(topics...)
		defer sub.Close()
		r.follow(sub)
		defer r.follow(nil)
		hint = sub.Wake()
	}
	var due <-chan time.Time // of a hint's pass
	ready()
	_ = r.Pass(ctx) // so that its health is known from the beginning
	for {
		select {
		case <-ctx.Done():
			return
		case <-hint:
			if due == nil {
				due = time.After(r.opts.Debounce)
			}
			continue
		case <-due:
		case <-tick.C:
		}
		due = nil
		_ = r.Pass(ctx) // it stands in the health, and the next one tries again
	}
}

// follow reads changes from the subscription from now on. What the worlds in
// use were told before is not known, so all of them are looked at.
func (r *Registry) follow(sub *pg.Subscription) {
	r.loop.pass.Lock()
	defer r.loop.pass.Unlock()
	r.loop.sub, r.loop.owed = sub, pg.News{All: true}
}

// Pass looks at every world that may have changed since the last pass, and
// publishes those that did. It is what the loop does at each tick and hint.
func (r *Registry) Pass(ctx context.Context) error {
	r.loop.pass.Lock()
	defer r.loop.pass.Unlock()
	err := r.reconcile(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := r.opts.Now()
	r.loop.mu.Lock()
	h := &r.loop.health
	h.Passes++
	h.LastPass = now
	if err == nil {
		h.LastSuccess, h.LastError, h.FailingSince = now, "", time.Time{}
	} else {
		if h.FailingSince.IsZero() {
			h.FailingSince = now
		}
		h.LastError = fault.From(err).Message
	}
	r.loop.mu.Unlock()
	if err != nil {
		r.opts.Log.WarnContext(ctx, "registry: a pass failed", "error", err)
	}
	r.Passes.Send(err)
	return err
}

func (r *Registry) reconcile(ctx context.Context) error {
	if err := r.mark(ctx); err != nil {
		return err
	}
	r.dropIdle()
	return errors.Join(r.readStale(ctx), r.sweep(ctx)) // one world that cannot be read keeps nothing else up
}

// mark finds the worlds that something changed for: what the feed tells, and
// where another server is ahead. A quiet pass costs this one statement.
func (r *Registry) mark(ctx context.Context) error {
	r.gather()
	touched, err := r.carrying(ctx, r.loop.owed)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.touch(r.loop.owed, touched)
	for of := range r.outdated {
		if w := r.worlds[of.Workspace][of.Subject]; w != nil {
			w.stale = true
		}
	}
	r.mu.Unlock()
	r.loop.owed = pg.News{}
	began := r.opts.Now()
	moved, err := queries.MovedWorlds(ctx, r.db, r.sinceAhead(began).Seconds())
	if err != nil {
		return pg.Fault(err)
	}
	r.loop.ahead = began
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range moved {
		if w := r.worlds[m.Workspace][m.Subject.String()]; w != nil && w.current != nil && w.current.Epoch != m.Epoch {
			w.stale = true
		}
	}
	return nil
}

// sinceAhead is how far back other servers' publications are looked for: to
// the last time and some minutes beyond, since a publication bears the time at
// which it began.
func (r *Registry) sinceAhead(now time.Time) time.Duration {
	if r.loop.ahead.IsZero() {
		return lookBack
	}
	return now.Sub(r.loop.ahead) + lookBack
}

// gather adds what the feed has told since to what is still owed.
func (r *Registry) gather() {
	if r.loop.sub == nil {
		r.loop.owed.All = true
		return
	}
	news := r.loop.sub.Take()
	owed := &r.loop.owed
	owed.All = owed.All || news.All || len(owed.Changes)+len(news.Changes) > maxOwed
	if owed.Changes = append(owed.Changes, news.Changes...); owed.All {
		owed.Changes = nil
	}
}

// carrying returns the workspaces that carry a capability which changed.
func (r *Registry) carrying(ctx context.Context, news pg.News) ([]string, error) {
	var sources, ids, out []string
	for _, c := range news.Changes {
		if c.Topic != catalog.TopicCapability && c.Topic != catalog.TopicRevoked {
			continue
		}
		if source, id, ok := strings.Cut(c.Key, "/"); ok {
			sources, ids, out = append(sources, source), append(ids, id), append(out, source)
		}
	}
	if len(sources) == 0 {
		return nil, nil
	}
	adopters, err := queries.WorkspacesCarrying(ctx, r.db, db.WorkspacesCarryingParams{Sources: sources, Ids: ids})
	return append(out, adopters...), pg.Fault(err)
}

// touch marks the worlds that the news concerns; the registry's lock is held.
func (r *Registry) touch(news pg.News, carrying []string) {
	all := func(of map[string]*world) {
		for _, w := range of {
			w.stale = true
		}
	}
	if news.All {
		for _, of := range r.worlds {
			all(of)
		}
	}
	for _, workspace := range carrying {
		all(r.worlds[workspace])
	}
	for _, c := range news.Changes {
		switch {
		case c.Topic == catalog.TopicCapability || c.Topic == catalog.TopicRevoked:
		case c.Key != "" && aboutOne(c.Topic):
			if w := r.worlds[c.Workspace][c.Key]; w != nil {
				w.stale = true
			}
		default:
			all(r.worlds[c.Workspace])
		}
	}
}

// aboutOne reports whether the key of a topic's changes is a subject.
func aboutOne(topic string) bool {
	switch topic {
	case workspace.TopicOverlay, secret.Topic, identity.TopicMembers, TopicObservation:
		return true
	}
	return false
}

// dropIdle forgets the worlds that nobody has used for a while.
func (r *Registry) dropIdle() {
	before := r.opts.Now().Add(-r.opts.Idle)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.worlds {
		for _, w := range of {
			if w.users == 0 && w.used.Before(before) {
				r.drop(w)
			}
		}
	}
}

// readStale reads the marked worlds anew, a few at the same time. One that
// cannot be read stays marked.
func (r *Registry) readStale(ctx context.Context) error {
	var stale []*world
	r.mu.Lock()
	for _, of := range r.worlds {
		for _, w := range of {
			if w.stale {
				w.users++
				stale = append(stale, w)
			}
		}
	}
	r.mu.Unlock()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, w := range stale {
		group.Go(func() error { return r.renew(ctx, w) })
	}
	return group.Wait()
}

func (r *Registry) renew(ctx context.Context, w *world) error {
	snap, err := r.refresh(ctx, w)
	r.mu.Lock()
	defer r.mu.Unlock()
	w.users-- // a pass is no use: it does not keep the world from idling
	switch {
	case err == nil:
		r.release(snap)
	case fault.Is(err, fault.Revoked):
		w.tell() // he is no member any more, as whoever follows will find
		r.drop(w)
		return nil
	default:
		w.stale = true
	}
	return err
}

// sweep drops, once in a while, the epochs and the skills' bodies that nothing
// refers to any more.
func (r *Registry) sweep(ctx context.Context) error {
	now := r.opts.Now()
	if now.Sub(r.loop.swept) < sweepEvery {
		return nil
	}
	if err := r.Prune(ctx, graceTime); err != nil {
		return err
	}
	r.loop.swept = now
	return nil
}
