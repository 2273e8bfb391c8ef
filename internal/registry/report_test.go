package registry_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

func find(t *testing.T, r registry.Report, name string) registry.Reported {
	t.Helper()
	i := slices.IndexFunc(r.Entries, func(e registry.Reported) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("the report lacks %s", name)
	}
	return r.Entries[i]
}

// Everything that the model, the doctor and the page are told is in the one
// report, each entry with its reason.
func TestReport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 20)
	part, err := h.store.Publish(t.Context(), h.admin, catalog.Publication{
		Name: "part", Description: "A part.", Spec: capability.EncodeSpec(code()), Visibility: capability.ReachWorkspace,
		Provenance: json.RawMessage(`{"format":"plugin","plugin":"toolbox"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.adopt(t, h.admin, part.Version)
	needy := code()
	needy.RequiredSecrets = []capability.RequiredSecret{{Name: "KEY"}}
	h.adopted(t, "needy", needy)
	blocked := h.adopted(t, "blocked", code())
	if err := h.store.Block(t.Context(), h.admin, blocked.Source, blocked.ID, blocked.Version, "It leaks."); err != nil {
		t.Fatal(err)
	}
	box := h.adopted(t, "box", server("box", "open"))
	e, _ := look(t, h.reg, h.member).Find(keyOf(box))
	if err := h.reg.Observe(t.Context(), h.member, e.Row, registry.Observation{TroubleCode: "server_unreachable", Trouble: "No answer."}); err != nil {
		t.Fatal(err)
	}
	if err := h.reg.CountMisread(t.Context(), "acme", "code__mailer"); err != nil {
		t.Fatal(err)
	}
	r, err := h.reg.Report(t.Context(), h.member, capability.SurfaceWeb)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, r, "part"); got.Origin != registry.OriginPlugin || got.Declaration.Plugin != "toolbox" {
		t.Errorf("a part of a plugin is %s of %q", got.Origin, got.Declaration.Plugin)
	}
	for name, want := range map[string]struct {
		standing   registry.Standing
		resolution registry.Resolution
		reason     string
		loading    registry.Loading
	}{
		"forecast":         {registry.Usable, registry.Available, "on_adopted", registry.Loaded},
		"needy":            {registry.NeedsSetup, registry.Available, "needs_setup", registry.NotHere},
		"blocked":          {registry.Held, registry.Retired, "blocked", registry.NotHere},
		"box":              {registry.Failing, registry.Available, "server_unreachable", registry.Unlearnt},
		registry.FindTools: {registry.Usable, registry.Available, "on_builtin", registry.Loaded},
	} {
		got := find(t, r, name)
		if got.Standing != want.standing || got.Resolution != want.resolution || got.Reason != want.reason || got.Tools[0].Loading != want.loading {
			t.Errorf("%s: %s, %s, %s, %s", name, got.Standing, got.Resolution, got.Reason, got.Tools[0].Loading)
		}
	}
	if got := find(t, r, "blocked").Detail; got != "It leaks." {
		t.Errorf("why it was blocked: %q", got)
	}
	if len(r.Epochs) == 0 || r.Epochs[0].Epoch != r.Epoch || len(r.Misreads) != 1 || r.Misreads[0].Count != 1 || r.Loop.Worlds != 1 {
		t.Errorf("epochs %d, misreads %+v, loop %+v", len(r.Epochs), r.Misreads, r.Loop)
	}
	want := "What cannot be used as it is:\n- mcp box: did not answer the last time (server_unreachable); a call tries again\n" +
		"- tool blocked: held (blocked)\n- tool needy: needs_setup (needs_setup), missing KEY\n"
	if got := r.Standing(registry.Delta{}); got != want {
		t.Errorf("the model is told:\n%s", got)
	}
	raw, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(raw), `"resolution":"retired"`) {
		t.Errorf("%v", err)
	}
}

// An admin sees what another member's agent has as that member's turns bind
// it, and of what is private to him no more than how much there is.
func TestVeiledReport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mine := h.publish(t, h.member, capability.ReachPrivate, "diary", content("diary", code()))
	h.set(t, h.member, keyOf(mine), true)
	look(t, h.reg, h.member)
	h.set(t, h.member, keyOf(mine), false)
	h.set(t, h.member, keyOf(mine), true)
	own, err := h.reg.Report(t.Context(), h.member, capability.SurfaceWeb)
	if err != nil {
		t.Fatal(err)
	}
	find(t, own, "diary")
	seen := own.Veiled()
	raw, err := json.Marshal(seen)
	if err != nil || strings.Contains(string(raw), "diary") || seen.Private[registry.EntryTool] != 1 {
		t.Errorf("%v: %v, %s", err, seen.Private, raw)
	}
	if seen.Epoch != own.Epoch || seen.Digest != own.Digest || len(seen.Entries) != len(own.Entries)-1 {
		t.Error("otherwise it is another report")
	}
}

// What is missing is told to whom it is missing, and as it is now, although it
// makes no difference to a turn.
func TestMissingIsEachOnesOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	needy := code()
	needy.RequiredSecrets = []capability.RequiredSecret{{Name: "ONE"}, {Name: "TWO"}}
	v := h.publish(t, h.admin, capability.ReachWorkspace, "needy", content("needy", needy))
	_, err := h.ws.Adopt(t.Context(), h.admin, workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, SecretBindings: map[string]string{"ONE": "ONE", "TWO": "TWO"},
	})
	if err != nil {
		t.Fatal(err)
	}
	missing := func(actor capability.Actor) string {
		t.Helper()
		r, err := h.reg.Report(t.Context(), actor, capability.SurfaceWeb)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(find(t, r, "needy").Missing, " ")
	}
	first := look(t, h.reg, h.member)
	give := func(actor capability.Actor, name string) {
		h.exec(t, `INSERT INTO secrets (workspace, subject, name, ciphertext, created_by) VALUES ('acme', $1, $2, '', $1)`, actor.Subject, name)
	}
	if got := missing(h.member); got != "ONE TWO" {
		t.Errorf("missing %q", got)
	}
	give(h.member, "ONE")
	give(h.viewer, "TWO")
	if one, two := missing(h.member), missing(h.viewer); one != "TWO" || two != "ONE" {
		t.Errorf("missing %q and %q", one, two)
	}
	if now := look(t, h.reg, h.member); now.Epoch != first.Epoch {
		t.Errorf("half of what is missing moved the world to epoch %d", now.Epoch)
	}
}
