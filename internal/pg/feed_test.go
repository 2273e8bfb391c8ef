package pg_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"capstore/internal/lifecycle"
	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

// never is a poll that no test lives to see.
const never = time.Hour

type feedBundle struct {
	db        *pg.DB
	feed      *pg.Feed
	listening <-chan struct{}
}

func startFeed(t *testing.T, cfg pg.FeedConfig) feedBundle {
	t.Helper()
	db := pgtest.New(t)
	b := feedBundle{db: db, feed: pg.NewFeed(db, cfg)}
	b.listening = b.feed.Listening.Listen()
	return b
}

func (b feedBundle) start(t *testing.T) {
	t.Helper()
	if err := b.feed.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.feed.Stop)
	lifecycletest.Wait(t, b.feed.Started())
}

func (b feedBundle) append(t *testing.T, changes ...pg.Change) {
	t.Helper()
	err := b.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error { return pg.Append(ctx, tx, changes...) })
	if err != nil {
		t.Fatal(err)
	}
}

// collect takes news until all wanted changes came, and returns them in order.
func collect(t *testing.T, s *pg.Subscription, want int) []pg.Change {
	t.Helper()
	got := map[pg.Change]bool{}
	for len(got) < want {
		lifecycletest.Wait(t, s.Wake())
		for _, c := range s.Take().Changes {
			got[c] = true
		}
	}
	var list []pg.Change
	for c := range got {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b pg.Change) int { return strings.Compare(a.Key, b.Key) })
	return list
}

func TestFeedDeliversByNotification(t *testing.T) {
	t.Parallel()
	b := startFeed(t, pg.FeedConfig{Poll: never})
	b.append(t, pg.Change{Workspace: "w", Topic: "agent", Key: "before"})
	b.start(t)
	agents, all := b.feed.Subscribe("agent"), b.feed.Subscribe()
	lifecycletest.Wait(t, b.listening)
	a, s := pg.Change{Workspace: "w", Topic: "agent", Key: "1"}, pg.Change{Topic: "skill", Key: "2"}
	b.append(t, a, s, a)
	if diff := cmp.Diff([]pg.Change{a}, collect(t, agents, 1)); diff != "" {
		t.Errorf("one topic (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]pg.Change{a, s}, collect(t, all, 2)); diff != "" {
		t.Errorf("all topics (-want +got):\n%s", diff)
	}
}

func TestFeedDeliversByPollAlone(t *testing.T) {
	t.Parallel()
	b := startFeed(t, pg.FeedConfig{Poll: 10 * time.Millisecond})
	b.start(t)
	s := b.feed.Subscribe()
	lifecycletest.Wait(t, b.listening)
	// Inserted without a notification, as if that had been lost.
	if _, err := b.db.Exec(t.Context(), insertChange); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pg.Change{{Workspace: "w", Topic: "t"}}, collect(t, s, 1)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFeedSaysNothingOfWhatRolledBack(t *testing.T) {
	t.Parallel()
	b := startFeed(t, pg.FeedConfig{Poll: never})
	b.start(t)
	s := b.feed.Subscribe()
	_ = b.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		if err := pg.Append(ctx, tx, pg.Change{Topic: "gone"}); err != nil {
			t.Error(err)
		}
		return context.Canceled
	})
	kept := pg.Change{Topic: "kept"}
	b.append(t, kept)
	if diff := cmp.Diff([]pg.Change{kept}, collect(t, s, 1)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Numbers are given out in another order than transactions commit: here the
// lower one comes last, across the start of the feed or after it.
func TestFeedFindsWhatCommitsLate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"begun before the feed", "begun after the feed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startFeed(t, pg.FeedConfig{Poll: never})
			late, err := b.db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer late.Rollback(context.WithoutCancel(t.Context()))
			first, second := pg.Change{Topic: "t", Key: "1"}, pg.Change{Topic: "t", Key: "2"}
			inTx := func() {
				if err := pg.Append(t.Context(), late, first); err != nil {
					t.Fatal(err)
				}
			}
			var s *pg.Subscription
			if name == "begun before the feed" {
				inTx()
				b.append(t, second)
				b.start(t)
				s = b.feed.Subscribe()
			} else {
				b.start(t)
				s = b.feed.Subscribe()
				inTx()
				b.append(t, second)
				collect(t, s, 1)
			}
			if err := late.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]pg.Change{first}, collect(t, s, 1)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFeedSurvivesItsConnections(t *testing.T) {
	t.Parallel()
	b := startFeed(t, pg.FeedConfig{Poll: never})
	b.start(t)
	s := b.feed.Subscribe()
	for i := range 3 {
		lifecycletest.Wait(t, b.listening)
		c := pg.Change{Topic: "t", Key: string(rune('a' + i))}
		b.append(t, c)
		if diff := cmp.Diff([]pg.Change{c}, collect(t, s, 1)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		_, err := b.db.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and application_name like '%-feed'`)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestFeedAfterALongSilenceSaysLookAtEverything(t *testing.T) {
	t.Parallel()
	clock := make(chan time.Time, 3)
	start := time.Now()
	for _, at := range []time.Duration{0, time.Second, 13 * time.Hour} {
		clock <- start.Add(at)
	}
	b := startFeed(t, pg.FeedConfig{Poll: never, Now: func() time.Time {
		select {
		case at := <-clock:
			return at
		default:
			return start.Add(13 * time.Hour)
		}
	}})
	reads := b.feed.Reads.Listen()
	b.start(t)
	s := b.feed.Subscribe()
	lifecycletest.Wait(t, reads) // the listener's first hint
	b.append(t, pg.Change{Topic: "t"})
	lifecycletest.Wait(t, s.Wake())
	if news := s.Take(); !news.All {
		t.Errorf("news %+v, want All", news)
	}
}

func TestFeedPrunesOldChanges(t *testing.T) {
	t.Parallel()
	b := startFeed(t, pg.FeedConfig{Poll: 10 * time.Millisecond})
	if _, err := b.db.Exec(t.Context(), `insert into changes (at, workspace, topic) values
		(now() - interval '25 hours', '', 'old'), (now(), '', 'new')`); err != nil {
		t.Fatal(err)
	}
	reads := b.feed.Reads.Listen()
	b.start(t)
	lifecycletest.Wait(t, reads)
	lifecycletest.Wait(t, reads) // the first may be the listener's hint, the second follows a tick
	if n := countChanges(t, b.db); n != 1 {
		t.Errorf("%d rows left, want the new one", n)
	}
}

func TestASlowSubscriberIsToldToLookAtEverything(t *testing.T) {
	t.Parallel()
	b := startFeed(t, pg.FeedConfig{Poll: never})
	reads := b.feed.Reads.Listen()
	b.start(t)
	slow, closed := b.feed.Subscribe(), b.feed.Subscribe()
	closed.Close()
	closed.Close()
	lifecycletest.Wait(t, reads)
	if _, err := b.db.Exec(t.Context(), `insert into changes (workspace, topic, key) select '', 't', g from generate_series(1, 10001) g`); err != nil {
		t.Fatal(err)
	}
	b.append(t, pg.Change{Topic: "t", Key: "1"})
	lifecycletest.Wait(t, slow.Wake())
	if news := slow.Take(); !news.All || len(news.Changes) != 0 {
		t.Errorf("All %v with %d changes, want All alone", news.All, len(news.Changes))
	}
	if news := closed.Take(); news.All || len(news.Changes) != 0 {
		t.Errorf("a closed subscription got %+v", news)
	}
}

func TestFeedConforms(t *testing.T) {
	t.Parallel()
	lifecycletest.Conforms(t, func(t *testing.T) lifecycle.Service {
		return pg.NewFeed(pgtest.New(t), pg.FeedConfig{Poll: never})
	})
}
