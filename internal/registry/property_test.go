package registry_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// pair is two servers over one database, and what was seen of each member's
// world so far.
type pair struct {
	*house
	servers   [2]*registry.Registry
	published []catalog.VersionInfo
	seen      map[string][]*registry.Snapshot // by subject, each epoch once
}

func newPair(t *testing.T) *pair {
	h := newHouse(t)
	p := &pair{house: h, servers: [2]*registry.Registry{h.reg, h.server(registry.Options{})}, seen: map[string][]*registry.Snapshot{}}
	add := func(by capability.Actor, reach capability.Reach, name string, spec capability.Spec) {
		p.published = append(p.published, h.publish(t, by, reach, fmt.Sprintf("thing-%d", len(p.published)), content(name, spec)))
	}
	needy := code("web")
	needy.RequiredSecrets = []capability.RequiredSecret{{Name: "KEY"}}
	add(h.boss, capability.ReachPublic, "Alpha", code())
	add(h.boss, capability.ReachPublic, "Box", server("box", "open", "shut"))
	add(h.admin, capability.ReachWorkspace, "Needy", needy)
	add(h.admin, capability.ReachWorkspace, "Beta", code("live-data"))
	add(h.member, capability.ReachPrivate, "alpha", code())
	add(h.admin, capability.ReachWorkspace, "Guard", &capability.HookSpec{
		Event: capability.EventBeforeTool, Language: capability.Python, Code: "print('{}')", FailureMode: capability.FailClosed,
	})
	return p
}

// change does one random thing that may or may not move a world.
func (p *pair) change(t *testing.T, rt *rapid.T) {
	v := rapid.SampledFrom(p.published).Draw(rt, "thing")
	actor := rapid.SampledFrom([]capability.Actor{p.member, p.viewer}).Draw(rt, "actor")
	allow := func(err error, codes ...string) {
		if err != nil && !slices.Contains(codes, fault.From(err).Code) {
			t.Fatalf("%s: %v", v.Name, err)
		}
	}
	switch rapid.IntRange(0, 9).Draw(rt, "change") {
	case 0:
		_, err := p.ws.Adopt(t.Context(), p.admin, workspace.AdoptInput{
			Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest, SecretBindings: map[string]string{},
		})
		allow(err, "reach_too_narrow", "name_taken", "not_found", "version_blocked")
	case 1:
		_, err := p.ws.Unadopt(t.Context(), p.admin, v.Source, v.ID)
		allow(err, "not_found", "not_adopted")
	case 2:
		var on *bool
		if rapid.Bool().Draw(rt, "choose") {
			is := rapid.Bool().Draw(rt, "on")
			on = &is
		}
		_, err := p.ws.SetSwitch(t.Context(), actor, keyOf(v), on)
		allow(err, "not_found", "required_here")
	case 3:
		_, err := p.ws.CreateSkill(t.Context(), p.member, workspace.SkillInput{
			Name: rapid.SampledFrom([]string{"Plan", "Draft"}).Draw(rt, "skill"), Description: "How.",
			Spec: &capability.SkillSpec{Instructions: "Do."}, Draft: rapid.Bool().Draw(rt, "draft"),
		})
		allow(err, "name_taken")
	case 4:
		p.exec(t, `UPDATE capability_versions SET blocked_at = CASE WHEN blocked_at IS NULL THEN now() END WHERE name = $1`, v.Name)
	case 5:
		p.exec(t, `UPDATE capabilities SET reach = CASE reach WHEN 'public' THEN 'workspace' ELSE 'public' END WHERE source = 'globex' AND id = $1`, v.ID)
	case 6:
		_, err := p.ws.Change(t.Context(), p.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
			c.PermissionMode = rapid.SampledFrom([]capability.PermissionMode{"ask", "auto", "plan"}).Draw(rt, "mode")
			return nil
		})
		allow(err)
	case 7:
		p.observe(t, rt, actor)
	case 8:
		p.exec(t, `DELETE FROM skills WHERE workspace = 'acme' AND NOT draft`)
	case 9: // a hint that gets through, or a tick: on one server only
		mustPass(t, rapid.SampledFrom(p.servers[:]).Draw(rt, "server"))
	}
}

// observe lets one of the servers learn something of an MCP server.
func (p *pair) observe(t *testing.T, rt *rapid.T, actor capability.Actor) {
	r := rapid.SampledFrom(p.servers[:]).Draw(rt, "server")
	e, ok := look(t, r, actor).Find(keyOf(p.published[1]))
	if !ok {
		return
	}
	var seen registry.Observation
	switch rapid.IntRange(0, 2).Draw(rt, "answer") {
	case 0:
		seen.TroubleCode, seen.Trouble = "server_unreachable", rapid.String().Filter(noNUL).Draw(rt, "words")
	case 1:
		seen.Known, seen.Tools = true, []registry.ObservedTool{{Name: "open", Schema: []byte(`{"type":"object"}`)}}
	}
	if err := r.Observe(t.Context(), actor, e.Row, seen); err != nil {
		t.Fatal(err)
	}
}

func noNUL(s string) bool { return !slices.Contains([]byte(s), 0) }

// However the world changes, and whatever each server was told of it: both
// hold the same, under the same number; the number moved exactly when the
// world did; list, snapshot and report agree; and every epoch is known again
// from its manifest.
func TestServersAgree(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			p.change(t, rt)
		}
		for _, actor := range []capability.Actor{p.member, p.viewer} {
			first := rapid.IntRange(0, 1).Draw(rt, "first")
			one := look(t, p.servers[first], actor)
			two := look(t, p.servers[1-first], actor)
			if one.Epoch != two.Epoch || one.Digest != two.Digest {
				rt.Fatalf("epochs %d and %d, digests %s and %s", one.Epoch, two.Epoch, one.Digest, two.Digest)
			}
			if diff := cmp.Diff(one.Manifest(), two.Manifest()); diff != "" {
				rt.Fatalf("manifests differ:\n%s", diff)
			}
			p.checkOrder(t, rt, actor, two)
			p.checkList(t, rt, actor, one)
		}
	})
	p.checkManifests(t)
}

func (p *pair) checkOrder(t *testing.T, rt *rapid.T, actor capability.Actor, now *registry.Snapshot) {
	t.Helper()
	seen := p.seen[actor.Subject]
	if len(seen) == 0 {
		p.seen[actor.Subject] = append(seen, now)
		return
	}
	last := seen[len(seen)-1]
	moved := cmp.Diff(last.Manifest(), now.Manifest()) != ""
	switch {
	case moved != (last.Digest != now.Digest):
		rt.Fatalf("the world moved: %v, its digest otherwise", moved)
	case !moved && now.Epoch != last.Epoch && !p.passed(t, actor, last, now):
		rt.Fatalf("epoch %d became %d in a world that stayed as it was", last.Epoch, now.Epoch)
	case moved && now.Epoch <= last.Epoch:
		rt.Fatalf("epoch %d after %d", now.Epoch, last.Epoch)
	}
	if now.Epoch != last.Epoch {
		p.seen[actor.Subject] = append(seen, now)
	}
}

// passed reports whether the world went somewhere else and back between the
// two: each epoch between them differs from the one before it.
func (p *pair) passed(t *testing.T, actor capability.Actor, from, to *registry.Snapshot) bool {
	t.Helper()
	before := from.Manifest()
	for n := from.Epoch + 1; n <= to.Epoch; n++ {
		m, err := p.reg.Manifest(t.Context(), registry.KeyOf(actor), n)
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(before, m) {
			return false
		}
		before = m
	}
	return true
}

// checkList compares the snapshot and the report with what the member carries.
func (p *pair) checkList(t *testing.T, rt *rapid.T, actor capability.Actor, snap *registry.Snapshot) {
	t.Helper()
	carried, err := p.ws.Carried(t.Context(), actor)
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.reg.Report(t.Context(), actor, capability.SurfaceWeb)
	if err != nil {
		t.Fatal(err)
	}
	reported := map[capability.Key]registry.Reported{}
	for _, e := range report.Entries {
		reported[e.Key] = e
	}
	if report.Epoch != snap.Epoch || report.Digest != snap.Digest || len(report.Entries) != len(snap.Entries) {
		rt.Fatalf("the report is of epoch %d, the snapshot of %d", report.Epoch, snap.Epoch)
	}
	for _, row := range carried.Rows {
		e, ok := snap.Find(row.Key)
		r := reported[row.Key]
		if !ok || e.Standing.Callable() != row.Enabled || r.Standing != e.Standing || r.Reason != e.Reason() {
			rt.Fatalf("%s: listed %v (%s), in the snapshot %s, reported %s", row.Key, row.Enabled, row.Reason, e.Standing, r.Standing)
		}
		for _, f := range row.Functions {
			_, _, callable := snap.Tool(f.Name)
			if callable != row.Enabled && !p.elsewhere(carried, row.Key, f.Name) {
				rt.Fatalf("%s: enabled %v, callable %v", f.Name, row.Enabled, callable)
			}
		}
	}
}

// elsewhere reports whether another enabled row has the function, or the
// server's own word replaces its author's.
func (p *pair) elsewhere(c workspace.Carried, key capability.Key, name string) bool {
	if key == keyOf(p.published[1]) {
		return true
	}
	for _, row := range c.Rows {
		if row.Key != key && row.Enabled && slices.ContainsFunc(row.Functions, func(f workspace.Function) bool { return f.Name == name }) {
			return true
		}
	}
	return false
}

func (p *pair) checkManifests(t *testing.T) {
	t.Helper()
	for _, actor := range []capability.Actor{p.member, p.viewer} {
		for _, snap := range p.seen[actor.Subject] {
			m, err := p.reg.Manifest(t.Context(), registry.KeyOf(actor), snap.Epoch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(snap.Manifest(), m); diff != "" {
				t.Fatalf("epoch %d is known otherwise:\n%s", snap.Epoch, diff)
			}
		}
		if len(p.seen[actor.Subject]) < 3 {
			t.Errorf("only %d epochs", len(p.seen[actor.Subject]))
		}
	}
}
