package agent_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// TestWhatATurnSaw reconstructs a past turn after the world has moved on, for
// its member, for an admin and for somebody else.
func TestWhatATurnSaw(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.code(t, w.member, "echo", echo, nil)
	s := modeltest.New(t, modeltest.Say("Hello."))
	w.think(t, workspace.ProviderOpenAI, s)
	bound, err := w.agent.Bind(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	turn := w.say(t, w.member, agent.Ask{Text: "hi"})[0].Turn

	off := false
	if _, err := w.ws.SetSwitch(t.Context(), w.member, capability.CapabilityKey("acme", "echo"), &off); err != nil {
		t.Fatal(err)
	}
	if now, err := w.agent.Bind(t.Context(), w.member); err != nil || now.Epoch == bound.Epoch {
		t.Fatalf("the world did not move: %v", err)
	}
	seen, err := w.agent.Seen(t.Context(), w.member, turn)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Epoch != bound.Epoch || seen.Digest != bound.Digest || seen.Model != "thinker" || seen.State != agent.TurnDone || seen.Requests != 1 || !seen.Own {
		t.Errorf("%+v", seen)
	}
	if diff := cmp.Diff(bound.Manifest().Entries, seen.Entries); diff != "" {
		t.Error("another manifest:", diff)
	}
	if i := slices.IndexFunc(seen.Entries, func(l registry.Listed) bool { return l.ID == "echo" }); i < 0 || seen.Entries[i].Digest != v.Digest {
		t.Errorf("no echo of digest %s", v.Digest)
	}
	if seen.Surface == nil {
		t.Fatal("what was loaded is not kept")
	}
	offered := s.Requests()[0].ToolNames()
	for _, name := range seen.Surface.Loaded {
		if !slices.Contains(offered, name) {
			t.Errorf("%s is recorded as loaded, and was not offered", name)
		}
	}
	if !slices.Contains(seen.Surface.Loaded, "code__echo") {
		t.Errorf("loaded are %v", seen.Surface.Loaded)
	}

	others, err := w.agent.Seen(t.Context(), w.admin, turn)
	if err != nil {
		t.Fatal(err)
	}
	if others.Own || others.Conversation != uuid.Nil || others.Surface != nil || others.Digest != seen.Digest {
		t.Errorf("an admin is told %+v", others)
	}
	for _, actor := range []capability.Actor{w.viewer, w.other, {}} {
		if _, err := w.agent.Seen(t.Context(), actor, turn); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s is told: %v", actor.Subject, err)
		}
	}
	epochs, err := w.agent.Epochs(t.Context(), w.member, "", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := w.agent.BoundTo(t.Context(), w.admin, w.member.Subject, epochs)
	if err != nil {
		t.Fatal(err)
	}
	if got := turns[bound.Epoch]; got.Total != 1 || got.Turns[0].Turn != turn || got.Turns[0].Conversation != uuid.Nil || len(turns) != 1 {
		t.Errorf("bound: %+v", turns)
	}
}
