package registry_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// Two servers that find the same change at once agree on its epoch, and none
// is skipped.
func TestTwoServersPublishOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, two := h.server(registry.Options{}), h.server(registry.Options{})
	if a, b := look(t, one, h.member), look(t, two, h.member); a.Epoch != 1 || b.Epoch != 1 || a.Digest != b.Digest {
		t.Fatalf("epochs %d and %d, digests %s and %s", a.Epoch, b.Epoch, a.Digest, b.Digest)
	}
	for i := range int64(5) {
		h.adopted(t, "tool-"+string('a'+rune(i)), code())
		got := make([]*registry.Snapshot, 8)
		var wg sync.WaitGroup
		for j := range got {
			wg.Go(func() {
				b, err := []*registry.Registry{one, two}[j%2].Bind(t.Context(), h.member, capability.SurfaceWeb)
				if err != nil {
					t.Error(err)
					return
				}
				defer b.Release()
				got[j] = b.Snapshot
			})
		}
		wg.Wait()
		for _, s := range got {
			if s == nil || s.Epoch != i+2 || s.Digest != got[0].Digest {
				t.Fatalf("round %d: %+v", i, s)
			}
		}
	}
}

// A world that goes back to what it was gets a new number, and one that stays
// what it is keeps its own, whatever is read again, idles or starts anew.
func TestEpochsOnlyGrow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	first := look(t, h.reg, h.member)
	h.set(t, h.member, keyOf(v), false)
	second := look(t, h.reg, h.member)
	h.set(t, h.member, keyOf(v), true)
	third := look(t, h.server(registry.Options{}), h.member)
	if diff := cmp.Diff([]int64{1, 2, 3}, []int64{first.Epoch, second.Epoch, third.Epoch}); diff != "" {
		t.Fatal(diff)
	}
	if first.Digest == second.Digest {
		t.Error("switching a tool off left the digest as it was")
	}
	if look(t, h.reg, h.member).Epoch != 3 {
		t.Error("another server's epoch was not taken over")
	}
}

// Nothing that a turn cannot see moves the world.
func TestQuietWorld(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	before := look(t, h.reg, h.member)
	h.publish(t, h.admin, capability.ReachWorkspace, "unadopted", content("unadopted", code())) // off for everybody
	h.publish(t, h.admin, "", v.ID, content("weather", code("web")))                            // an update that nobody pinned
	h.set(t, h.viewer, keyOf(v), false)                                                         // somebody else's switch
	h.adopt(t, h.admin, v)                                                                      // the same again
	mustPass(t, h.reg)
	after := look(t, h.reg, h.member)
	if after.Epoch != before.Epoch || after.Digest != before.Digest {
		t.Fatalf("epoch %d became %d", before.Epoch, after.Epoch)
	}
	if _, ok := after.Find("capability:acme/unadopted"); !ok {
		t.Error("what is off is not listed")
	}
}

func TestBindIsForMembers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if look(t, h.reg, h.member).Epoch != 1 {
		t.Fatal("no first epoch")
	}
	stranger := h.boss
	stranger.Workspace = "acme"
	for name, actor := range map[string]capability.Actor{
		"of another workspace": stranger, "no subject": {Workspace: "acme", Role: capability.RoleAdmin},
	} {
		if _, err := h.reg.Bind(t.Context(), actor, capability.SurfaceWeb); !fault.Is(err, fault.Revoked) && !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.exec(t, `DELETE FROM memberships WHERE subject = $1`, h.member.Subject)
	if _, err := h.reg.Bind(t.Context(), h.member, capability.SurfaceWeb); !fault.Is(err, fault.Revoked) {
		t.Errorf("after he left: %v", err)
	}
	mustPass(t, h.reg)
	if n := h.reg.Health().Worlds; n != 0 {
		t.Errorf("%d worlds are kept of somebody who left", n)
	}
}
