package registry_test

import (
	"syscall"
	"testing"
	"time"

	"capstore/internal/capability"
	"capstore/internal/pg"
	"capstore/internal/registry"
)

// seed publishes n code tools in the workspace and adopts them, by plain SQL.
func (h *house) seed(t testing.TB, slug string, by capability.Actor, n int) {
	t.Helper()
	canonical, err := content("Many", code("web")).Canonical()
	if err != nil {
		t.Fatal(err)
	}
	h.exec(t, `INSERT INTO capabilities (source, id, kind, reach, created_by, latest_version)
		SELECT $3, 'many-' || i, 'code', 'workspace', $1, '1.0.0' FROM generate_series(1, $2) i`, by.Subject, n, slug)
	h.exec(t, `INSERT INTO capability_versions (capability_pk, version, sort_key, kind, name, description, content, digest, created_by)
		SELECT pk, '1.0.0', '', 'code', id, 'Does it.', $1, 'sha256:' || pk, created_by FROM capabilities WHERE source = $2`, string(canonical), slug)
	h.exec(t, `UPDATE capabilities c SET latest_pk = v.pk FROM capability_versions v WHERE v.capability_pk = c.pk AND c.source = $1`, slug)
	h.exec(t, `INSERT INTO adoptions (workspace, capability_pk, version_pk, channel, name_fold, adoption)
		SELECT $1, v.capability_pk, v.pk, 'tool', v.name,
			json_build_object('source', $1::text, 'id', v.name, 'version', '1.0.0', 'toolClasses', json_build_object(v.name, 'read'))
		FROM capability_versions v JOIN capabilities c ON c.pk = v.capability_pk WHERE c.source = $1`, slug)
	h.exec(t, `ANALYZE`)
}

// crowd makes n members in workspaces of a hundred and binds each world.
func (h *house) crowd(t testing.TB, r *registry.Registry, n int) {
	t.Helper()
	h.exec(t, `INSERT INTO workspaces (slug, name) SELECT 'crowd-' || i, 'Crowd' FROM generate_series(1, $1) i`, (n+99)/100)
	h.exec(t, `INSERT INTO users (id, email, name) SELECT gen_random_uuid(), 'crowd-' || i || '@example.com', 'Someone' FROM generate_series(1, $1) i`, n)
	h.exec(t, `INSERT INTO memberships (workspace, subject, role)
		SELECT 'crowd-' || (1 + (row_number() OVER ()) % $1), id, 'member' FROM users WHERE email LIKE 'crowd-%'`, (n+99)/100)
	rows, err := h.db.Query(t.Context(), `SELECT workspace, subject::text FROM memberships WHERE workspace LIKE 'crowd-%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var people []capability.Actor
	for rows.Next() {
		actor := capability.Actor{Role: capability.RoleMember}
		if err := rows.Scan(&actor.Workspace, &actor.Subject); err != nil {
			t.Fatal(err)
		}
		people = append(people, actor)
	}
	rows.Close()
	for _, actor := range people {
		look(t, r, actor)
	}
	h.exec(t, `UPDATE worlds SET updated_at = updated_at - interval '1 hour'`) // they are quiet, not new
	h.exec(t, `VACUUM ANALYZE`)
}

// listening is a server that has a feed, read by hand through its passes.
func (h *house) listening(t testing.TB) *registry.Registry {
	t.Helper()
	r := registry.New(registry.Parts{DB: h.db, Workspace: h.ws, Feed: pg.NewFeed(h.db, pg.FeedConfig{})})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-r.Started()
	t.Cleanup(r.Stop)
	return r
}

// A pass over worlds in which nothing happened is one statement, however many
// they are; the feed's own reading is the other one of a tick.
func TestQuietPassIsOneStatement(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.listening(t)
	h.crowd(t, r, 50)
	mustPass(t, r)
	ctx, counter := pg.Counted(t.Context())
	if err := r.Pass(ctx); err != nil {
		t.Fatal(err)
	}
	if n := counter.Count(); n != 1 {
		t.Errorf("%d statements: %q", n, counter.Statements())
	}
	bound, counted := pg.Counted(t.Context())
	look(t, r, h.member)
	b, err := r.Bind(bound, h.member, capability.SurfaceWeb)
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	if n := counted.Count(); n > 3 {
		t.Errorf("binding a quiet world is %d statements: %q", n, counted.Statements())
	}
}

// BenchmarkSurface admits a thousand entries and lays them out for a message.
func BenchmarkSurface(b *testing.B) {
	h := newHouse(b)
	h.seed(b, "acme", h.admin, 1000)
	carried, err := h.ws.Carried(b.Context(), h.member)
	if err != nil {
		b.Fatal(err)
	}
	set := registry.Build(carried)
	b.Run("admitted anew", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set.Readmit()
			if s := set.Surface(capability.SurfaceWeb, "search the web for it", registry.SurfaceOptions{}); len(s.Reading()) != 1 {
				b.Fatal(s.Reading())
			}
		}
	})
	b.Run("admitted before", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set.Surface(capability.SurfaceWeb, "search the web for it", registry.SurfaceOptions{})
		}
	})
}

// BenchmarkPass is a pass over 10,000 worlds in use: in which nothing happened,
// and in which a workspace with a thousand entries changed for one member.
func BenchmarkPass(b *testing.B) {
	h := newHouse(b)
	h.seed(b, "acme", h.admin, 1000)
	r := h.listening(b)
	h.crowd(b, r, 10_000)
	held := bind(b, r, h.member)
	mustPass(b, r)
	b.Run("quiet", func(b *testing.B) {
		defer processor(b)()
		for b.Loop() {
			mustPass(b, r)
		}
	})
	key, ahead := keyOfFirst(b, held.Snapshot), h.server(registry.Options{})
	b.Run("one changed", func(b *testing.B) {
		on, taken := true, time.Duration(0)
		for b.Loop() {
			b.StopTimer()
			on = !on
			h.set(b, h.member, key, on)
			look(b, ahead, h.member)
			before := spent(b)
			b.StartTimer()
			mustPass(b, r)
			taken += spent(b) - before
		}
		b.ReportMetric(float64(taken)/1e6/float64(b.N), "cpu-ms/op")
		if r.Current(registry.KeyOf(h.member)).Epoch != look(b, ahead, h.member).Epoch {
			b.Fatal("the change was not found")
		}
	})
}

func keyOfFirst(t testing.TB, s *registry.Snapshot) capability.Key {
	t.Helper()
	for _, e := range s.Entries {
		if e.Row.Source != "" {
			return e.Row.Key
		}
	}
	t.Fatal("nothing of the store is carried")
	return ""
}

// BenchmarkBind binds a world of a thousand entries: in which nothing happened,
// and in which one was switched.
func BenchmarkBind(b *testing.B) {
	h := newHouse(b)
	h.seed(b, "acme", h.admin, 1000)
	key := keyOfFirst(b, look(b, h.reg, h.member))
	b.Run("quiet", func(b *testing.B) {
		defer processor(b)()
		for b.Loop() {
			look(b, h.reg, h.member)
		}
	})
	b.Run("changed", func(b *testing.B) {
		on, taken := true, time.Duration(0)
		for b.Loop() {
			b.StopTimer()
			on = !on
			h.set(b, h.member, key, on)
			before := spent(b)
			b.StartTimer()
			look(b, h.reg, h.member)
			taken += spent(b) - before
		}
		b.ReportMetric(float64(taken)/1e6/float64(b.N), "cpu-ms/op")
	})
}

// processor reports the processor time of this process for one operation,
// which a busy machine changes less than the clock.
func processor(b *testing.B) func() {
	b.Helper()
	began := spent(b)
	return func() { b.ReportMetric(float64(spent(b)-began)/1e6/float64(b.N), "cpu-ms/op") }
}

// spent is the processor time of this process so far.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
