package workspace_test

import (
	"testing"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// A turn reads the skill that it bound after an edit and after its deletion,
// and the next one reads what there is by then.
func TestSkillBodiesOutliveTheirSkills(t *testing.T) {
	t.Parallel()
	b := setup(t)
	skill, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Plan", "First."))
	wantCode(t, err, "")
	bound := b.row(t, b.viewer, skill.Key())
	read := func(row workspace.Row) string {
		t.Helper()
		c, err := b.ws.Content(t.Context(), b.viewer, row)
		wantCode(t, err, "")
		return c.Spec.(*capability.SkillSpec).Instructions
	}
	_, err = b.ws.UpdateSkill(t.Context(), b.member, skill.ID, 0, skillInput("Plan", "Second."))
	wantCode(t, err, "")
	next := b.row(t, b.viewer, skill.Key())
	if read(bound) != "First." || read(next) != "Second." {
		t.Fatalf("the former row reads %q, the present one %q", read(bound), read(next))
	}
	wantCode(t, b.ws.DeleteSkill(t.Context(), b.member, skill.ID, 0), "")
	if read(bound) != "First." || read(next) != "Second." {
		t.Fatal("the deletion took the bodies along")
	}
	b.exec(t, `DELETE FROM skill_bodies`)
	_, err = b.ws.Content(t.Context(), b.viewer, bound)
	wantCode(t, err, "not_found")
}
