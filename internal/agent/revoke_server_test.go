package agent_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/identity"
	"capstore/internal/lifecycle"
	"capstore/internal/netguard"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// never is a poll that no test lives to see.
const never = time.Hour

// serverOptions are how a server hears of what others commit.
type serverOptions struct {
	poll time.Duration // of the change feed; never leaves hints alone
	// mute loses the hint of everything that this server commits.
	mute bool
	// blind leaves the feed away: it hears of nothing.
	blind bool
}

// server is a whole server over the world's database: a pool of connections,
// services, feed, registry and agent of its own, and the world's people.
type server struct {
	*world
	reg    *registry.Registry
	feed   *pg.Feed
	people *identity.Service
}

func (w *world) server(t testing.TB, o serverOptions) *server {
	t.Helper()
	out := &server{world: &world{sec: w.sec, admin: w.admin, member: w.member, viewer: w.viewer, other: w.other}}
	out.db = w.open(t, o.mute)
	log := slog.New(slog.DiscardHandler)
	rules := capability.Rules{AllowLoopbackHTTP: true}
	guard, err := netguard.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	runner, err := sandbox.NewRunner(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out.people = identity.New(out.db)
	out.store = catalog.New(out.db, catalog.Options{Rules: rules})
	out.ws = workspace.New(out.db, out.store, workspace.Options{Rules: rules, Guard: guard})
	background := []lifecycle.Service{}
	if !o.blind {
		out.feed = pg.NewFeed(out.db, pg.FeedConfig{Poll: o.poll, Log: log})
		listening := out.feed.Listening.Listen()
		background = append(background, out.feed)
		defer func() { <-listening }()
	}
	out.reg = registry.New(registry.Parts{DB: out.db, Workspace: out.ws, Feed: out.feed, Builtins: agent.Builtins(control{}), Options: registry.Options{Tick: never, Log: log}})
	out.agent = agent.New(agent.Parts{
		DB: out.db, Catalog: out.store, Workspace: out.ws, Secrets: w.sec, Sandbox: runner, Registry: out.reg,
		Guard: guard, Rules: rules, Feed: out.feed, Log: log, Control: control{},
	})
	group := lifecycle.NewGroup(append(background, out.reg, out.agent)...)
	if err := group.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(group.Stop)
	<-group.Started()
	return out
}

// open is another pool of connections to the world's database. A mute one
// calls a function of the same name in the place of the one that notifies.
func (w *world) open(t testing.TB, mute bool) *pg.DB {
	t.Helper()
	url := w.db.Config().ConnString()
	if mute {
		w.exec(t, `CREATE OR REPLACE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT'`)
		join := "?"
		if strings.Contains(url, "?") {
			join = "&"
		}
		url += join + "search_path=public,pg_catalog"
	}
	db, err := pg.Open(t.Context(), pg.Config{URL: url, ApplicationName: "capstore-test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// A mute server's commits reach another one by its poll alone.
func TestAMuteServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mute, deaf, quick := w.server(t, serverOptions{poll: never, mute: true}), w.server(t, serverOptions{poll: never}), w.server(t, serverOptions{poll: 5 * time.Millisecond})
	heard, late := quick.feed.Subscribe(), deaf.feed.Subscribe()
	defer heard.Close()
	defer late.Close()
	mute.skill(t, w.member, "plan", "# Plan")
	<-heard.Wake()
	select {
	case <-late.Wake():
		t.Error("the hint was not lost")
	default:
	}
	deaf.skill(t, w.member, "draft", "# Draft")
	<-late.Wake()
}
