package registry_test

import (
	"fmt"
	"sync"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// A world that moves with every round, on two servers, with turns that hold
// old epochs for a while: what is kept stays as little as what is held.
func TestSoakEpochs(t *testing.T) {
	h := newHouse(t)
	for i := range 20 {
		h.adopted(t, fmt.Sprintf("tool-%02d", i), code())
	}
	skill := h.skill(t, h.admin, "Plan", "Plan.")
	servers := []*registry.Registry{h.reg, h.server(registry.Options{})}
	people := []capability.Actor{h.member, h.viewer, h.admin}
	var held []*registry.Binding
	round := func(i int) {
		spec := &capability.SkillSpec{Instructions: fmt.Sprint("Round ", i, ".")}
		if _, err := h.ws.UpdateSkill(t.Context(), h.admin, skill.ID, 0, workspace.SkillInput{Name: "Plan", Description: "How.", Spec: spec}); err != nil {
			t.Fatal(err)
		}
		b, err := servers[i%2].Bind(t.Context(), people[i%3], capability.SurfaceWeb)
		if err != nil {
			t.Fatal(err)
		}
		b.Surface(capability.SurfaceWeb, "hello", registry.SurfaceOptions{})
		if held = append(held, b); len(held) > 8 {
			held[0].Release()
			held = held[1:]
		}
		if i%50 != 0 {
			return
		}
		for _, r := range servers {
			mustPass(t, r)
			if got := r.Health(); got.Snapshots > got.Holders+int64(got.Worlds) {
				t.Fatalf("round %d: %d snapshots for %d holders and %d worlds", i, got.Snapshots, got.Holders, got.Worlds)
			}
			if err := r.Prune(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	const warm = 100
	for i := range warm {
		round(i)
	}
	start := lifecycletest.Heap()
	n := lifecycletest.Rounds(200)
	for i := range n {
		round(warm + i)
	}
	for _, b := range held {
		b.Release()
	}
	held = nil
	mustPass(t, servers[0])
	mustPass(t, servers[1])
	end := lifecycletest.Heap()
	t.Logf("%d epochs: a heap of %d bytes before, %d after", n, start, end)
	if end > start+start/10 {
		t.Errorf("the heap grew from %d to %d bytes in %d rounds", start, end, n)
	}
	if got := servers[0].Health(); got.Holders != 0 || got.Snapshots > int64(got.Worlds) || servers[0].Sets() > 2*got.Worlds {
		t.Errorf("%+v, %d sets", got, servers[0].Sets())
	}
	var epochs, bodies int
	if err := h.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM epochs), (SELECT count(*) FROM skill_bodies)`).Scan(&epochs, &bodies); err != nil {
		t.Fatal(err)
	}
	if epochs > 3*80 || bodies > 3*80 {
		t.Errorf("%d epochs and %d bodies are kept", epochs, bodies)
	}
}

// Many at once bind and let go while the world moves under them.
func TestBindingUnderChange(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	servers := []*registry.Registry{h.reg, h.server(registry.Options{})}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			last := int64(0)
			for range 15 {
				b, err := servers[i%2].Bind(t.Context(), h.member, capability.SurfaceWeb)
				if err != nil {
					t.Error(err)
					return
				}
				if b.Epoch < last {
					t.Errorf("epoch %d after %d", b.Epoch, last)
				}
				last = b.Epoch
				b.Release()
				b.Release()
			}
		})
	}
	for i := range 10 {
		h.set(t, h.member, keyOf(v), i%2 == 0)
		mustPass(t, servers[i%2])
	}
	wg.Wait()
	for _, r := range servers {
		if got := r.Health(); got.Holders != 0 || got.Snapshots != int64(got.Worlds) {
			t.Errorf("%+v", got)
		}
	}
}
