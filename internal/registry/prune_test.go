package registry_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// turnAt writes down a turn that ran at the epoch.
func (h *house) turnAt(t *testing.T, actor capability.Actor, epoch int64) {
	t.Helper()
	conversation := uuid.Must(uuid.NewV7())
	h.exec(t, `INSERT INTO conversations (id, workspace, subject) VALUES ($1, $2, $3)`, conversation, actor.Workspace, actor.Subject)
	h.exec(t, `INSERT INTO turns (turn, conversation, workspace, subject, surface, epoch, digest, mode, model, state, server)
		VALUES ($1, $2, $3, $4, 'web', $5, '', 'ask', '', 'done', $1)`, uuid.Must(uuid.NewV7()), conversation, actor.Workspace, actor.Subject, epoch)
}

// An epoch, and the skills that it admitted, are kept as long as a turn refers
// to it; what nothing refers to goes, save for the newest ones.
func TestPruneKeepsWhatTurnsSaw(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	skill := h.skill(t, h.admin, "Plan", "Version 0.")
	rows := map[int64]workspace.Row{}
	const epochs = 30
	for i := range int64(epochs) {
		snap := look(t, h.reg, h.member)
		e, _ := snap.Skill("Plan")
		if rows[snap.Epoch] = e.Row; snap.Epoch != i+1 {
			t.Fatalf("epoch %d in round %d", snap.Epoch, i)
		}
		_, err := h.ws.UpdateSkill(t.Context(), h.admin, skill.ID, 0, workspace.SkillInput{
			Name: "Plan", Description: "How.", Spec: &capability.SkillSpec{Instructions: fmt.Sprintf("Version %d.", i+1)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	h.turnAt(t, h.member, 3)
	if err := h.reg.Prune(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	kept, err := h.reg.Epochs(t.Context(), registry.KeyOf(h.member), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, e := range kept {
		got = append(got, e.Epoch)
	}
	want := []int64{}
	for n := int64(epochs); n > 10; n-- {
		want = append(want, n)
	}
	if diff := cmp.Diff(append(want, 3), got); diff != "" {
		t.Errorf("kept epochs (-want +got):\n%s", diff)
	}
	for n, row := range rows {
		_, err := h.ws.Content(t.Context(), h.member, row)
		if readable := err == nil; readable != (n == 3 || n > 10) {
			t.Errorf("the body of epoch %d: %v", n, err)
		}
	}
	if page, err := h.reg.Epochs(t.Context(), registry.KeyOf(h.member), 12, 2); err != nil || len(page) != 2 || page[0].Epoch != 11 || page[1].Epoch != 3 {
		t.Errorf("the page before 12: %+v, %v", page, err)
	}
	if m, err := h.reg.Manifest(t.Context(), registry.KeyOf(h.member), 3); err != nil || len(m.Entries) == 0 {
		t.Errorf("the manifest of a turn is gone: %v", err)
	}
}

// What was superseded only just now waits for the turn that may just have
// bound it.
func TestPruneWaits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	for i := range 25 {
		h.set(t, h.member, keyOf(v), i%2 == 0)
		look(t, h.reg, h.member)
	}
	mustPass(t, h.reg)
	kept, err := h.reg.Epochs(t.Context(), registry.KeyOf(h.member), 0, 100)
	if err != nil || len(kept) < 25 {
		t.Errorf("%d epochs are left: %v", len(kept), err)
	}
}

// What a conversation is told is the difference to the epoch that it last ran
// at, in one step however many there were.
func TestSince(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	weather := h.adopted(t, "weather", code())
	news := h.adopted(t, "news", code())
	first := look(t, h.reg, h.member)
	for _, on := range []bool{false, true, false} {
		h.set(t, h.member, keyOf(weather), on)
		look(t, h.reg, h.member)
	}
	h.adopted(t, "later", code())
	h.adopt(t, h.admin, h.publish(t, h.admin, "", news.ID, content("news", code("web"))))
	now := look(t, h.reg, h.member)
	got, err := h.reg.Since(t.Context(), h.member, first.Epoch, now)
	if err != nil {
		t.Fatal(err)
	}
	want := registry.Delta{
		From: first.Epoch, To: now.Epoch,
		Added:   []registry.Change{{Kind: registry.EntryTool, Name: "later", Key: "capability:acme/later", Version: "1.0.0", Standing: registry.Usable, Reason: "on_adopted"}},
		Removed: []registry.Change{{Kind: registry.EntryTool, Name: "weather", Key: keyOf(weather), Version: "1.0.0", Standing: registry.Off, Reason: "off_you"}},
		Changed: []registry.Change{{Kind: registry.EntryTool, Name: "news", Key: keyOf(news), Version: "1.0.1", Standing: registry.Usable, Reason: "on_adopted", What: []string{"version"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := got.String(); text != "+ tool later 1.0.0 (on_adopted)\n- tool weather 1.0.0 (off_you)\n~ tool news 1.0.1 (version)\n" {
		t.Errorf("the model is told:\n%s", text)
	}
	if same, err := h.reg.Since(t.Context(), h.member, now.Epoch, now); err != nil || !same.Empty() || same.String() != "" {
		t.Errorf("nothing differs from itself: %+v, %v", same, err)
	}
}

// What was learnt of a server goes with the last who carries it, and with its
// member.
func TestPruneForgetsServers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	kept, left := h.adopted(t, "kept", server("kept", "open")), h.adopted(t, "left", server("left", "open"))
	for _, actor := range []capability.Actor{h.member, h.viewer} {
		for _, v := range []catalog.VersionInfo{kept, left} {
			e, _ := look(t, h.reg, actor).Find(keyOf(v))
			if err := h.reg.Observe(t.Context(), actor, e.Row, registry.Observation{Known: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := h.ws.Unadopt(t.Context(), h.admin, left.Source, left.ID); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `DELETE FROM memberships WHERE subject = $1`, h.viewer.Subject)
	if err := h.reg.Prune(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	rows, err := h.db.Query(t.Context(), `SELECT subject || ' ' || key FROM observations`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if diff := cmp.Diff([]string{h.member.Subject + " " + string(keyOf(kept))}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}
