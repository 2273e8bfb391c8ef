package workspace_test

import (
	"sync"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

func skillInput(name, text string) workspace.SkillInput {
	return workspace.SkillInput{Name: name, Description: "How to " + name + ".", Spec: &capability.SkillSpec{Instructions: text}}
}

func draftInput(name, text string) workspace.SkillInput {
	in := skillInput(name, text)
	in.Draft = true
	return in
}

func TestSkillFromDraftToLibrary(t *testing.T) {
	t.Parallel()
	b := setup(t)
	draft, err := b.ws.CreateSkill(t.Context(), b.member, draftInput("Write well", "Short."))
	wantCode(t, err, "")
	if draft.ID != "write-well" || !draft.Draft || draft.Stamp != nil || draft.Revision != 1 || draft.By.Name != "Ben" {
		t.Errorf("draft %+v", draft)
	}
	for _, actor := range []capability.Actor{b.admin, b.viewer, b.other} {
		_, err = b.ws.Skill(t.Context(), actor, draft.ID)
		wantCode(t, err, "not_found")
		list, err := b.ws.Skills(t.Context(), actor)
		if err != nil || len(list) != 0 {
			t.Errorf("%s lists %v, %v", actor.Role, list, err)
		}
		_, err = b.ws.Stamps(t.Context(), actor, draft.ID)
		wantCode(t, err, "not_found")
		_, err = b.ws.ShareSkill(t.Context(), actor, draft.ID)
		wantCode(t, err, "not_found")
		wantCode(t, b.ws.DeleteSkill(t.Context(), actor, draft.ID, 0), "not_found")
	}
	shared, err := b.ws.ShareSkill(t.Context(), b.member, draft.ID)
	wantCode(t, err, "")
	if shared.Draft || !shared.UpdatedAt.Equal(draft.UpdatedAt) {
		t.Errorf("shared %+v", shared)
	}
	if got, err := b.ws.Skill(t.Context(), b.viewer, draft.ID); err != nil || got.Content.Digest() != draft.Digest {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = b.ws.Skill(t.Context(), b.other, draft.ID)
	wantCode(t, err, "not_found")
}

func TestSkillRevisions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Skill", "One."))
	wantCode(t, err, "")
	s, err = b.ws.UpdateSkill(t.Context(), b.admin, s.ID, 1, skillInput("Skill", "Two."))
	wantCode(t, err, "")
	if s.Revision != 2 {
		t.Errorf("revision %d", s.Revision)
	}
	_, err = b.ws.UpdateSkill(t.Context(), b.member, s.ID, 1, skillInput("Skill", "Three."))
	if f := wantCode(t, err, "stale_revision"); f.Detail["revision"] != int64(2) {
		t.Errorf("detail %v", f.Detail)
	}
	same, err := b.ws.UpdateSkill(t.Context(), b.member, s.ID, 2, skillInput("Skill", "Two."))
	wantCode(t, err, "")
	if same.Revision != 2 || !same.UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("an edit that edits nothing made revision %d", same.Revision)
	}
	_, err = b.ws.UpdateSkill(t.Context(), b.viewer, s.ID, 2, skillInput("Skill", "Four."))
	wantCode(t, err, "role_too_low")
	bad := skillInput("", "")
	bad.Description = "x\u202ey"
	_, err = b.ws.UpdateSkill(t.Context(), b.member, s.ID, 2, bad)
	wantField(t, err, "/name", "required")
	wantField(t, err, "/description", "not_plain_text")
}

func TestEditsLeaveTheOriginalTextBehind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := skillInput("Skill", "Body.\n")
	in.Spec.Raw = "---\nname: skill\ndescription: How to Skill.\n---\nBody.\n"
	s, err := b.ws.CreateSkill(t.Context(), b.member, in)
	wantCode(t, err, "")
	raw := func(s workspace.Skill) string { return s.Content.Spec.(*capability.SkillSpec).Raw }
	if raw(s) != in.Spec.Raw {
		t.Errorf("raw %q", raw(s))
	}
	beside := skillInput("Skill", "Body.\n")
	beside.Spec.Raw, beside.Spec.Files = in.Spec.Raw, []capability.File{{Path: "a.txt", Content: "a"}}
	s, err = b.ws.UpdateSkill(t.Context(), b.member, s.ID, 0, beside)
	wantCode(t, err, "")
	if raw(s) != in.Spec.Raw || s.Revision != 2 {
		t.Errorf("a file beside it made raw %q at revision %d", raw(s), s.Revision)
	}
	edited := skillInput("Skill", "Other body.\n")
	edited.Spec.Raw = in.Spec.Raw
	s, err = b.ws.UpdateSkill(t.Context(), b.member, s.ID, 0, edited)
	wantCode(t, err, "")
	if raw(s) != "" {
		t.Errorf("raw %q still claims to be the text", raw(s))
	}
}

func TestSkillNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Write well", "A."))
	wantCode(t, err, "")
	_, err = b.ws.CreateSkill(t.Context(), b.admin, skillInput("write WELL", "B."))
	wantField(t, err, "/name", "name_taken")
	draft, err := b.ws.CreateSkill(t.Context(), b.admin, draftInput("Write Well", "C."))
	wantCode(t, err, "")
	if draft.ID == "write-well" {
		t.Errorf("two skills with the id %s", draft.ID)
	}
	_, err = b.ws.ShareSkill(t.Context(), b.admin, draft.ID)
	wantCode(t, err, "name_taken")
	// Another member's draft of the name is none of the creator's business.
	_, err = b.ws.CreateSkill(t.Context(), b.member, draftInput("Write well", "D."))
	wantCode(t, err, "")
	// The draft carries the name for who wrote it, the library's for the rest.
	c, err := b.ws.Carried(t.Context(), b.admin)
	wantCode(t, err, "")
	if r, _ := c.Find(capability.SkillKey("write-well")); r.Reason != capability.Shadowed || r.ShadowedBy != draft.Key() {
		t.Errorf("row %+v", r.Row)
	}
}

func TestManyCreateOneName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.ws.CreateSkill(t.Context(), b.member, skillInput("Race", "Text.")) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantCode(t, err, "name_taken")
	}
	if won != 1 {
		t.Errorf("%d won", won)
	}
}

func TestStamps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Skill", "One."))
	wantCode(t, err, "")
	steps := []struct {
		in   workspace.StampInput
		want string
		code string
	}{
		{in: workspace.StampInput{Note: "first"}, want: "1.0.0"},
		{in: workspace.StampInput{Version: "1.0.0"}, code: "stamp_exists"},
		{in: workspace.StampInput{}, want: "1.0.1"},
		{in: workspace.StampInput{Bump: capability.BumpMinor}, want: "1.1.0"},
		{in: workspace.StampInput{Version: "1.0.5"}, code: "version_not_newer"},
		{in: workspace.StampInput{Version: "v2"}, code: "bad_version"},
		{in: workspace.StampInput{Version: "2.0.0-rc.1"}, want: "2.0.0-rc.1"},
		{in: workspace.StampInput{}, want: "2.0.0"},
		{in: workspace.StampInput{Note: "a\nb"}, code: "invalid"},
		{in: workspace.StampInput{IfRevision: 7}, code: "stale_revision"},
	}
	for _, step := range steps {
		got, err := b.ws.StampSkill(t.Context(), b.member, s.ID, step.in)
		wantCode(t, err, step.code)
		if step.code != "" {
			continue
		}
		if got.Stamp.Version != step.want || !got.UpdatedAt.Equal(s.UpdatedAt) || got.Revision != 1 || got.Unstamped() {
			t.Errorf("%+v gave %+v of %+v", step.in, got.Stamp, got)
		}
	}
	s, err = b.ws.UpdateSkill(t.Context(), b.member, s.ID, 0, skillInput("Skill", "Two."))
	wantCode(t, err, "")
	if !s.Unstamped() {
		t.Error("an edit after the stamp is not told")
	}
	list, err := b.ws.Skills(t.Context(), b.viewer)
	wantCode(t, err, "")
	if len(list) != 1 || list[0].Stamp.Version != "2.0.0" || !list[0].Unstamped() {
		t.Errorf("list %+v", list)
	}
	diff, err := b.ws.SkillDiff(t.Context(), b.viewer, s.ID, "1.0.0", "")
	wantCode(t, err, "")
	if len(diff.Changes) != 1 || diff.Changes[0].Path != "/spec/instructions" {
		t.Errorf("diff %+v", diff)
	}
	_, err = b.ws.SkillDiff(t.Context(), b.viewer, s.ID, "9.0.0", "")
	wantCode(t, err, "not_found")
	_, err = b.ws.StampSkill(t.Context(), b.viewer, s.ID, workspace.StampInput{})
	wantCode(t, err, "role_too_low")
}

func TestStampsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Skill", "One."))
	wantCode(t, err, "")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = b.ws.StampSkill(t.Context(), b.member, s.ID, workspace.StampInput{Version: "3.0.0"})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantCode(t, err, "stamp_exists")
	}
	if won != 1 {
		t.Errorf("%d won", won)
	}
}

func TestTakeFromStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	doc := skillDoc("Write well", "Short.")
	v := b.publish(t, b.boss, public, doc, "2.3.0")
	take := workspace.TakeInput{Source: v.Source, ID: v.ID, Version: v.Version}
	s, err := b.ws.TakeFromStore(t.Context(), b.member, take)
	wantCode(t, err, "")
	if s.Draft || s.Digest != v.Digest || s.Stamp == nil || s.Stamp.Version != "2.3.0" || s.Unstamped() {
		t.Errorf("copy %+v", s)
	}
	if s.Origin == nil || *s.Origin != (workspace.Origin{Source: "globex", ID: "write-well", Version: "2.3.0", Name: "Write well"}) {
		t.Errorf("origin %+v", s.Origin)
	}
	if n := b.adopters(t, v); n != 1 {
		t.Errorf("%d adopters", n)
	}
	_, err = b.ws.TakeFromStore(t.Context(), b.admin, take)
	wantCode(t, err, "already_taken")

	hidden := b.publish(t, b.other, within, skillDoc("Hidden", "Text."), "")
	tool := b.publish(t, b.boss, public, code("Tool", nil), "")
	for _, c := range []struct {
		in   workspace.TakeInput
		code string
	}{
		{workspace.TakeInput{Source: hidden.Source, ID: hidden.ID, Version: hidden.Version}, "not_found"},
		{workspace.TakeInput{Source: "globex", ID: "none", Version: "1.0.0"}, "not_found"},
		{workspace.TakeInput{Source: tool.Source, ID: tool.ID, Version: tool.Version}, "not_a_skill"},
	} {
		_, err = b.ws.TakeFromStore(t.Context(), b.member, c.in)
		wantCode(t, err, c.code)
	}
	wantCode(t, b.ws.DeleteSkill(t.Context(), b.member, s.ID, 0), "")
	if n := b.adopters(t, v); n != 0 {
		t.Errorf("%d adopters after the copy was deleted", n)
	}
	_, err = b.ws.TakeFromStore(t.Context(), b.member, take)
	wantCode(t, err, "")
}

func TestTakingATakenName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Plan", "Ours."))
	wantCode(t, err, "")
	v := b.publish(t, b.boss, public, skillDoc("PLAN", "Theirs."), "")
	take := workspace.TakeInput{Source: v.Source, ID: v.ID, Version: v.Version}
	_, err = b.ws.TakeFromStore(t.Context(), b.member, take)
	wantCode(t, err, "name_taken")
	take.Name = "Plan like globex"
	s, err := b.ws.TakeFromStore(t.Context(), b.member, take)
	wantCode(t, err, "")
	if s.Name != take.Name || s.Origin.Name != "PLAN" || s.Stamp.Version != "1.0.0" {
		t.Errorf("copy %+v", s)
	}
}

func TestPublishToStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Skill", "One."))
	wantCode(t, err, "")
	_, err = b.ws.PublishToStore(t.Context(), b.member, s.ID, workspace.PublishInput{})
	wantCode(t, err, "not_stamped")
	_, err = b.ws.StampSkill(t.Context(), b.member, s.ID, workspace.StampInput{Version: "1.2.0", Note: "ready"})
	wantCode(t, err, "")
	_, err = b.ws.UpdateSkill(t.Context(), b.member, s.ID, 0, skillInput("Skill", "Two."))
	wantCode(t, err, "")
	out, err := b.ws.PublishToStore(t.Context(), b.member, s.ID, workspace.PublishInput{Visibility: within})
	wantCode(t, err, "")
	if v := out.Version; v.ID != "skill" || v.Version != "1.2.0" || v.Digest != s.Digest || v.Note != "ready" || !out.Created {
		t.Errorf("published %+v", out)
	}
	_, err = b.ws.StampSkill(t.Context(), b.member, s.ID, workspace.StampInput{})
	wantCode(t, err, "")
	out, err = b.ws.PublishToStore(t.Context(), b.member, s.ID, workspace.PublishInput{})
	wantCode(t, err, "")
	if out.Version.Version != "1.2.1" || !out.Created {
		t.Errorf("extended %+v", out)
	}
	_, err = b.ws.PublishToStore(t.Context(), b.viewer, s.ID, workspace.PublishInput{})
	wantCode(t, err, "role_too_low")
	_, err = b.ws.PublishToStore(t.Context(), b.boss, s.ID, workspace.PublishInput{})
	wantCode(t, err, "not_found")
}

func TestANewSkillStartsWithoutOldSwitches(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Plan", "One."))
	wantCode(t, err, "")
	b.set(t, b.viewer, s.Key(), false)
	wantCode(t, b.ws.DeleteSkill(t.Context(), b.member, s.ID, 0), "")
	again, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Plan", "Two."))
	wantCode(t, err, "")
	if r := b.row(t, b.viewer, again.Key()); again.ID != s.ID || !r.Enabled {
		t.Errorf("row %+v", r.Row)
	}
}
