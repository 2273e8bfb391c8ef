package pg

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/internal/lifecycle"
)

const (
	// kept is how long changes stay in the table. A feed that could not read
	// for half of that tells its subscribers to look at everything.
	kept = 24 * time.Hour
	// gapPatience is how long a missing number is looked for again. Numbers
	// are given out before commit, so a lower one may appear after a higher;
	// one that stays away was rolled back. The statement and idle time-outs
	// of the pool keep transactions well below this.
	gapPatience = 10 * time.Minute
	// lookBack is how many numbers before the end a starting feed watches.
	lookBack   = 1000
	pruneEvery = time.Hour
)

// FeedConfig holds what tests put in place of the real thing. The zero value
// is right for production.
type FeedConfig struct {
	// Poll is how often the table is read without a notification; 0 means 15 s.
	Poll time.Duration
	// Now is the clock by which gaps and long silences are measured; nil
	// means time.Now.
	Now func() time.Time
	// Log gets what went wrong; nil means slog.Default.
	Log *slog.Logger
}

// Feed tells subscribers in this process what transactions of any process
// appended. Notifications make it prompt, and reading the table makes it
// complete: a lost notification delays a change by one poll.
type Feed struct {
	lifecycle.Base
	db   *DB
	cfg  FeedConfig
	hint chan struct{}

	mu   sync.Mutex
	subs map[*Subscription]struct{}

	// Below belongs to the reading goroutine alone.
	cursor int64               // highest number seen
	gaps   map[int64]time.Time // numbers below it that were missing, since when
	read   time.Time           // of the last successful read
	pruned time.Time

	// Reads reports each successful read's number of changes, to tests.
	Reads lifecycle.Signal[int]
	// Listening reports each time that notifications are being received.
	Listening lifecycle.Signal[struct{}]
}

// NewFeed returns a feed over db; Start it to receive anything.
func NewFeed(db *DB, cfg FeedConfig) *Feed {
	cfg.Poll = cmp.Or(cfg.Poll, 15*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Feed{db: db, cfg: cfg, hint: make(chan struct{}, 1), subs: map[*Subscription]struct{}{}}
}

// Subscribe returns a subscription to the topics, or to all without any. It
// begins with what is appended from now on.
func (f *Feed) Subscribe(topics ...string) *Subscription {
	s := &Subscription{topics: topics, wake: make(chan struct{}, 1)}
	s.close = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subs, s)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs[s] = struct{}{}
	return s
}

// Start begins to read. The feed counts as started once it knows where the
// table ends; while the database is away it keeps trying.
func (f *Feed) Start(ctx context.Context) error { return f.Run(ctx, f.loop) }

func (f *Feed) loop(ctx context.Context, ready func()) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(f.cfg.Poll)
	defer tick.Stop()
	if !f.begin(ctx, tick.C) {
		return
	}
	// After the beginning is known: the listener's first hint then covers
	// whatever is appended between the two.
	wg.Go(func() { f.listen(ctx) })
	ready()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.hint:
		case <-tick.C:
			f.prune(ctx)
		}
		f.catchUp(ctx)
	}
}

// begin finds the end of the table, trying until ctx ends.
func (f *Feed) begin(ctx context.Context, tick <-chan time.Time) bool {
	for {
		err := f.readEnd(ctx)
		if err == nil {
			f.deliver(nil, true) // subscribers of an earlier run missed what lies between
			return true
		}
		if ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "change feed: cannot read", "err", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick:
		}
	}
}

// readEnd sets the cursor to the newest change. The numbers missing shortly
// before it may belong to transactions that have yet to commit.
func (f *Feed) readEnd(ctx context.Context) error {
	rows, err := f.db.Query(ctx, `select id from changes where id > (select max(id) from changes) - $1 order by id`, lookBack)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	f.read, f.gaps, f.cursor = f.cfg.Now(), map[int64]time.Time{}, 0
	if len(ids) > 0 {
		f.cursor = max(0, ids[len(ids)-1]-lookBack)
	}
	f.note(ids, f.read)
	return nil
}

// catchUp reads what is new and what had been missing, and delivers it.
func (f *Feed) catchUp(ctx context.Context) {
	now := f.cfg.Now()
	changes, err := f.readNew(ctx, now)
	if err != nil {
		if ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "change feed: cannot read", "err", err)
		}
		return
	}
	silent := now.Sub(f.read) > kept/2
	f.read = now
	if len(changes) > 0 || silent {
		f.deliver(changes, silent)
	}
	f.Reads.Send(len(changes))
}

func (f *Feed) readNew(ctx context.Context, now time.Time) ([]Change, error) {
	missing := make([]int64, 0, len(f.gaps))
	for id, since := range f.gaps {
		if now.Sub(since) > gapPatience {
			delete(f.gaps, id)
			continue
		}
		missing = append(missing, id)
	}
	rows, err := f.db.Query(ctx, `
		select id, workspace, topic, key from changes where id > $1
		union all
		select id, workspace, topic, key from changes where id = any($2)
		order by id`, f.cursor, missing)
	if err != nil {
		return nil, err
	}
	var changes []Change
	var id int64
	var c Change
	cursor, found := f.cursor, []int64(nil)
	_, err = pgx.ForEachRow(rows, []any{&id, &c.Workspace, &c.Topic, &c.Key}, func() error {
		changes, found = append(changes, c), append(found, id)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read changes after %d: %w", cursor, err)
	}
	f.note(found, now)
	return changes, nil
}

// note moves the cursor over the ascending numbers and keeps what they skip.
func (f *Feed) note(found []int64, now time.Time) {
	for _, id := range found {
		if id <= f.cursor {
			delete(f.gaps, id)
			continue
		}
		for missing := f.cursor + 1; missing < id && len(f.gaps) < most; missing++ {
			f.gaps[missing] = now
		}
		f.cursor = id
	}
}

func (f *Feed) deliver(changes []Change, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		s.deliver(changes, all)
	}
}

func (f *Feed) prune(ctx context.Context) {
	now := f.cfg.Now()
	if now.Sub(f.pruned) < pruneEvery {
		return
	}
	_, err := f.db.Exec(ctx, `delete from changes where at < now() - $1::interval`, kept)
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "change feed: cannot prune", "err", err)
		return
	}
	f.pruned = now
}
