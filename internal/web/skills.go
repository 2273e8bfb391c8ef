package web

import (
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

// skillsPage is the workspace's library with the member's own drafts, each
// skill with its switch.
func (s *Site) skillsPage(c *Ctx) error {
	list, err := s.Workspace.Skills(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	carried, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	v := views.Skills{Workspace: c.Who.Workspace, Reason: c.skillReason()}
	for _, skill := range list {
		row, ok := carried.Find(skill.Key())
		if !ok {
			continue // deleted between the two reads
		}
		one := c.skillRow(carried, row, skill, views.SkillsPath(c.Who.Workspace))
		if skill.Draft {
			v.Drafts = append(v.Drafts, one)
		} else {
			v.Shared = append(v.Shared, one)
		}
	}
	p := c.Page(c.T("settings.skills"), views.NavSettings)
	return c.Show(http.StatusOK, views.SkillsPage(p, v), withNotice(p.Flash, views.SkillsList(v)))
}

// skillReason says why the reader cannot write skills and who can; "" when he
// can.
func (c *Ctx) skillReason() string {
	if capability.May(c.Actor(), capability.ActSkills, capability.Fresh) != nil {
		return c.T("skills.viewer_reason")
	}
	return ""
}

func (c *Ctx) skillRow(carried workspace.Carried, row workspace.Row, skill workspace.Skill, next string) views.SkillRow {
	out := views.SkillRow{ToolRow: c.toolRow(carried, row, next), ID: skill.ID, SkillState: views.SkillState{
		Unstamped: skill.Unstamped(), Draft: skill.Draft, By: skill.By.Name, Updated: skill.UpdatedAt,
	}}
	if skill.Stamp != nil {
		out.Stamp = skill.Stamp.Version
	}
	if o := skill.Origin; o != nil {
		out.Origin = &views.SkillOrigin{
			Source: o.Source, ID: o.ID, Version: o.Version,
			Href: views.CapabilityTabPath(c.Who.Workspace, o.Source, o.ID, views.DetailLens{Version: o.Version}),
		}
	}
	return out
}
