package registry_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/identity"
	"capstore/internal/lifecycle"
	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lifecycletest.Conforms(t, func(t *testing.T) lifecycle.Service {
		feed := pg.NewFeed(h.db, pg.FeedConfig{})
		return registry.New(registry.Parts{DB: h.db, Workspace: h.ws, Feed: feed, Options: registry.Options{Log: slog.New(slog.DiscardHandler)}})
	})
}

// hinted starts a server that is told of changes and has no tick worth the name.
func hinted(t *testing.T, h *house) *registry.Registry {
	t.Helper()
	feed := pg.NewFeed(h.db, pg.FeedConfig{Poll: time.Hour, Log: slog.New(slog.DiscardHandler)})
	listening := feed.Listening.Listen()
	r := registry.New(registry.Parts{DB: h.db, Workspace: h.ws, Feed: feed, Options: registry.Options{
		Tick: time.Hour, Debounce: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}})
	group := lifecycle.NewGroup(feed, r)
	if err := group.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(group.Stop)
	lifecycletest.Wait(t, listening)
	return r
}

// Every fact that a world rests on reaches the servers that hold it, whoever
// writes it: nobody binds, and the world moves.
func TestEveryWriterIsHeard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	secrets, err := secret.Open(t.Context(), h.db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "key")})
	if err != nil {
		t.Fatal(err)
	}
	people := identity.New(h.db)
	foreign := h.publish(t, h.boss, capability.ReachPublic, "foreign", content("foreign", code()))
	h.adopt(t, h.admin, foreign)
	spare := h.publish(t, h.boss, capability.ReachPublic, "spare", content("spare", code()))
	needy := code()
	needy.RequiredSecrets = []capability.RequiredSecret{{Name: "KEY"}}
	v := h.publish(t, h.admin, capability.ReachWorkspace, "needy", content("needy", needy))
	_, err = h.ws.Adopt(t.Context(), h.admin, workspace.AdoptInput{Source: v.Source, ID: v.ID, Version: v.Version, SecretBindings: map[string]string{"KEY": "KEY"}})
	if err != nil {
		t.Fatal(err)
	}
	box := h.adopted(t, "box", server("box", "open"))
	skill := h.skill(t, h.admin, "Plan", "Plan.")

	r := hinted(t, h)
	held := bind(t, r, h.member)
	moved, end, err := r.Subscribe(registry.KeyOf(h.member))
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	other := bind(t, r, h.boss)
	within, public := capability.ReachWorkspace, capability.ReachPublic
	steps := []struct {
		name string
		do   func() error
	}{
		{"a switch", func() error {
			off := false
			_, err := h.ws.SetSwitch(t.Context(), h.member, keyOf(foreign), &off)
			return err
		}},
		{"a switch cleared", func() error { _, err := h.ws.SetSwitch(t.Context(), h.member, keyOf(foreign), nil); return err }},
		{"an adoption", func() error {
			_, err := h.ws.Adopt(t.Context(), h.admin, workspace.AdoptInput{Source: spare.Source, ID: spare.ID, Version: spare.Version, ConsentDigest: spare.Digest})
			return err
		}},
		{"its end", func() error { _, err := h.ws.Unadopt(t.Context(), h.admin, spare.Source, spare.ID); return err }},
		{"a version blocked elsewhere", func() error {
			return h.store.Block(t.Context(), h.boss, foreign.Source, foreign.ID, foreign.Version, "leaks")
		}},
		{"and unblocked", func() error { return h.store.Unblock(t.Context(), h.boss, foreign.Source, foreign.ID, foreign.Version) }},
		{"reach withdrawn", func() error {
			return h.store.Update(t.Context(), h.boss, foreign.Source, foreign.ID, catalog.Patch{Reach: &within})
		}},
		{"reach given back", func() error {
			return h.store.Update(t.Context(), h.boss, foreign.Source, foreign.ID, catalog.Patch{Reach: &public})
		}},
		{"a tombstone", func() error { return h.store.Delete(t.Context(), h.boss, foreign.Source, foreign.ID) }},
		{"a secret", func() error {
			_, err := secrets.Set(t.Context(), h.admin, secret.NewSecret{Name: "KEY", Value: secret.NewValue("long enough a value")})
			return err
		}},
		{"the secret removed", func() error { return secrets.Delete(t.Context(), h.admin, "KEY", false) }},
		{"a secret of his own", func() error {
			_, err := secrets.Set(t.Context(), h.member, secret.NewSecret{Name: "KEY", Value: secret.NewValue("long enough a value"), Personal: true})
			return err
		}},
		{"a skill edited", func() error {
			_, err := h.ws.UpdateSkill(t.Context(), h.admin, skill.ID, 0, workspace.SkillInput{Name: "Plan", Description: "How.", Spec: &capability.SkillSpec{Instructions: "Otherwise."}})
			return err
		}},
		{"a skill deleted", func() error { return h.ws.DeleteSkill(t.Context(), h.admin, skill.ID, 0) }},
		{"a policy", func() error {
			_, err := h.ws.Change(t.Context(), h.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
				c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "code__needy"}}
				return nil
			})
			return err
		}},
		{"a server observed", func() error {
			e, _ := held.Find(keyOf(box))
			return h.reg.Observe(t.Context(), h.member, e.Row, registry.Observation{TroubleCode: "server_unreachable"})
		}},
		{"the membership ended", func() error { return people.RemoveMember(t.Context(), h.admin, h.member.Subject) }},
	}
	before := other.Epoch
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		select {
		case <-moved:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: nobody was told", step.name)
		}
	}
	if held.Epoch != 1 {
		t.Errorf("the snapshot of a running turn is now of epoch %d", held.Epoch)
	}
	if now := r.Current(registry.KeyOf(h.boss)); now == nil || now.Epoch != before { // what was his to publish was never on
		t.Errorf("the other workspace's world stands at %+v", now)
	}
	if r.Current(registry.KeyOf(h.member)) != nil {
		t.Error("the world of somebody who left is still kept")
	}
}

// Without any hint the next tick finds what changed, and where another server
// is ahead.
func TestLostHintsCostOneTick(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	feed := pg.NewFeed(h.db, pg.FeedConfig{Log: slog.New(slog.DiscardHandler)}) // never started
	deaf := registry.New(registry.Parts{DB: h.db, Workspace: h.ws, Feed: feed, Options: registry.Options{Tick: time.Hour, Log: slog.New(slog.DiscardHandler)}})
	passes := deaf.Passes.Listen()
	if err := deaf.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer deaf.Stop()
	<-deaf.Started()
	bind(t, deaf, h.member)
	mustPass(t, deaf)
	lifecycletest.Wait(t, passes)
	h.set(t, h.member, keyOf(v), false)
	ahead := look(t, h.server(registry.Options{}), h.member) // another server was asked
	mustPass(t, deaf)
	if now := deaf.Current(registry.KeyOf(h.member)); now.Epoch != 2 || now.Digest != ahead.Digest {
		t.Errorf("after a tick it stands at %d, the other at %d", now.Epoch, ahead.Epoch)
	}
}

// A pass that fails says since when, and the next one makes up for it.
func TestLoopHealth(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	var now atomic.Int64
	r := h.server(registry.Options{Now: func() time.Time { return time.Unix(now.Add(1), 0) }})
	bind(t, r, h.member)
	mustPass(t, r)
	good := r.Health()
	if good.Passes != 1 || good.LastSuccess.IsZero() || good.LastPass != good.LastSuccess || good.Worlds != 1 || good.Snapshots != 1 || good.Holders != 1 {
		t.Errorf("%+v", good)
	}
	h.exec(t, `ALTER TABLE worlds RENAME TO away`)
	h.set(t, h.member, keyOf(v), false)
	for range 2 {
		if err := r.Pass(t.Context()); err == nil {
			t.Fatal("a pass without its table succeeded")
		}
	}
	bad := r.Health()
	if bad.LastSuccess != good.LastSuccess || bad.LastError == "" || !bad.FailingSince.After(good.LastPass) || !bad.LastPass.After(bad.FailingSince) {
		t.Errorf("%+v", bad)
	}
	h.exec(t, `ALTER TABLE away RENAME TO worlds`)
	mustPass(t, r)
	if again := r.Health(); again.LastError != "" || !again.FailingSince.IsZero() || again.Passes != 4 {
		t.Errorf("%+v", again)
	}
	if r.Current(registry.KeyOf(h.member)).Epoch != 2 {
		t.Error("the change of the meantime was not made up for")
	}
}

// Whoever follows a world is told of its first move too, though nobody has
// bound it here before.
func TestFollowingAnUnboundWorld(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	moved, end, err := h.reg.Subscribe(registry.KeyOf(h.member))
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	h.set(t, h.member, keyOf(v), false)
	mustPass(t, h.reg)
	lifecycletest.Wait(t, moved)
	mustPass(t, h.reg)
	select {
	case <-moved:
		t.Error("told of a move that was none")
	default:
	}
	end()
	end()
	if _, _, err := h.reg.Subscribe(registry.Key{Workspace: "acme"}); err == nil {
		t.Error("a world of nobody can be followed")
	}
}

// One world that cannot be read is reported, and keeps no other one back.
func TestDamagedWorld(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	foreign := h.publish(t, h.boss, capability.ReachPublic, "mine", content("mine", code()))
	h.adopt(t, h.boss, foreign)
	bind(t, h.reg, h.member)
	bind(t, h.reg, h.boss)
	h.exec(t, `UPDATE adoptions SET adoption = '"damaged"' WHERE workspace = 'acme'`)
	h.set(t, h.boss, keyOf(foreign), false)
	if err := h.reg.Pass(t.Context()); err == nil || h.reg.Health().LastError == "" {
		t.Errorf("a damaged world passes: %v", err)
	}
	if now := h.reg.Current(registry.KeyOf(h.boss)); now.Epoch != 2 {
		t.Errorf("the sound world stands at %d", now.Epoch)
	}
	h.adopt(t, h.admin, h.publish(t, h.admin, "", v.ID, content("weather", code("web"))))
	mustPass(t, h.reg)
	if now := h.reg.Current(registry.KeyOf(h.member)); now.Epoch != 2 {
		t.Errorf("the mended world stands at %d", now.Epoch)
	}
}

// A world that nobody uses is dropped, and comes back under its number.
func TestIdleWorldsAreDropped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	var now atomic.Int64
	r := h.server(registry.Options{Now: func() time.Time { return time.Unix(now.Load(), 0) }})
	held := bind(t, r, h.member)
	look(t, r, h.viewer)
	mustPass(t, r)
	h.set(t, h.viewer, keyOf(v), false)
	mustPass(t, r)
	now.Add(int64(time.Hour / time.Second))
	mustPass(t, r)
	if got := r.Health(); got.Worlds != 1 || got.Snapshots != 1 {
		t.Errorf("%d worlds and %d snapshots, want the one that is held", got.Worlds, got.Snapshots)
	}
	if again := look(t, r, h.viewer); again.Epoch != 2 {
		t.Errorf("it came back at epoch %d", again.Epoch)
	}
	held.Release()
	held.Release()
	now.Add(int64(time.Hour / time.Second))
	mustPass(t, r)
	if got := r.Health(); got.Worlds != 0 || got.Snapshots != 0 || got.Holders != 0 {
		t.Errorf("%+v", got)
	}
}

// The database is away: binding says so, and nothing is made up.
func TestBindWithoutDatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	look(t, h.reg, h.member)
	h.db.Close()
	if _, err := h.reg.Bind(t.Context(), h.member, capability.SurfaceWeb); err == nil || errors.Is(err, t.Context().Err()) {
		t.Errorf("bound without a database: %v", err)
	}
	if n := h.reg.Health().Holders; n != 0 {
		t.Errorf("%d holders of nothing", n)
	}
}
