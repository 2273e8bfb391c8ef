package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// skillPage is one skill: its text, its files or its stamps.
func (s *Site) skillPage(c *Ctx) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	carried, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	row, ok := carried.Find(skill.Key())
	if !ok {
		return fault.Missing()
	}
	v := views.Skill{
		SkillRow: c.skillRow(carried, row, skill, c.R.URL.RequestURI()), Tab: c.R.URL.Query().Get("tab"), Digest: skill.Digest, ViewerReason: c.skillReason(),
	}
	v.Text = skill.Description
	spec, ok := skill.Content.Spec.(*capability.SkillSpec)
	if !ok {
		return fault.Missing()
	}
	v.Instructions, v.License, v.AllowedTools, v.FileCount = spec.Instructions, spec.License, spec.AllowedTools, len(spec.Files)
	v.LeadTokens, v.TextTokens = capability.TokenEstimate(skill.Name+"\n"+skill.Description), capability.TokenEstimate(spec.Instructions)
	if err := s.skillOrigin(c, &v); err != nil {
		return err
	}
	if err := s.skillTab(c, &v, skill.Content); err != nil {
		return err
	}
	p := c.skillSubpage(skill.Name)
	return c.Show(http.StatusOK, views.SkillPage(p, v), withNotice(p.Flash, views.SkillBody(v)))
}

// skillSubpage is the frame of a page below the library's; way are the steps
// between.
func (c *Ctx) skillSubpage(title string, way ...ui.Crumb) views.Page {
	p := c.Page(title, views.NavSettings)
	p.Crumbs = append(p.Crumbs, ui.Crumb{Label: c.T("settings.skills"), Href: views.SkillsPath(c.Who.Workspace)})
	p.Crumbs = append(append(p.Crumbs, way...), ui.Crumb{Label: title})
	return p
}

// skillTab reads what the tab shows.
func (s *Site) skillTab(c *Ctx, v *views.Skill, content capability.Content) error {
	switch v.Tab {
	case views.TabSkillFiles:
		return c.skillFiles(v, content)
	case views.TabSkillStamps:
		return s.skillStamps(c, v)
	}
	v.Tab = views.TabSkillText
	if raw := rawOf(content); raw != "" {
		v.Notes, v.Repaired = s.documentNotes(c, raw)
	}
	return nil
}

// skillFiles are the skill's document and what lies beside it, to look through.
func (c *Ctx) skillFiles(v *views.Skill, content capability.Content) error {
	ws, err := c.Who.Workspace, error(nil)
	v.Files, err = folder{
		files: filesIn(content),
		href:  func(file string, plain bool) string { return views.SkillFilePath(ws, v.ID, file, plain) },
		raw:   func(file string) string { return views.SkillRawPath(ws, v.ID, file) },
	}.view(c)
	return err
}

// skillFile hands one file of the working copy over.
func (s *Site) skillFile(c *Ctx) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	return c.handOver(filesIn(skill.Content))
}

// shareSkill turns the member's draft into a skill of the workspace.
func (s *Site) shareSkill(c *Ctx) error {
	skill, err := s.Workspace.ShareSkill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	return c.Done(views.SkillPath(c.Who.Workspace, skill.ID), c.T("skills.shared", "name", skill.Name))
}

func (s *Site) deleteSkillPage(c *Ctx) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	stamps, err := s.Workspace.Stamps(c.R.Context(), c.Actor(), skill.ID)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.DeleteSkillPage(c.skillSubpage(c.T("skills.delete"), c.skillCrumb(skill)), views.SkillDeletion{
		Workspace: c.Who.Workspace, ID: skill.ID, Name: skill.Name, Revision: skill.Revision, Stamps: len(stamps), Reason: c.skillReason(),
	}))
}

func (c *Ctx) skillCrumb(skill workspace.Skill) ui.Crumb {
	return ui.Crumb{Label: skill.Name, Href: views.SkillPath(c.Who.Workspace, skill.ID)}
}

// deleteSkill deletes exactly the text that the question was asked about.
func (s *Site) deleteSkill(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	revision, err := revisionIn(form)
	if err != nil {
		return err
	}
	id := c.R.PathValue("id")
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), id)
	if err != nil {
		return err
	}
	if err := s.Workspace.DeleteSkill(c.R.Context(), c.Actor(), id, revision); err != nil {
		return err
	}
	return c.Done(views.SkillsPath(c.Who.Workspace), c.T("skills.deleted", "name", skill.Name))
}

// revisionIn is the revision that a form was opened at.
func revisionIn(form url.Values) (int64, error) {
	revision, err := strconv.ParseInt(form.Get("revision"), 10, 64)
	if err != nil || revision < 1 {
		return 0, fault.New(fault.Malformed, "bad_form", "The form could not be read.").Because(err)
	}
	return revision, nil
}

// skillSpecOf is a copy of the skill's spec; nil where the content is none.
func skillSpecOf(content capability.Content) *capability.SkillSpec {
	spec, ok := content.Spec.(*capability.SkillSpec)
	if !ok {
		return nil
	}
	out := *spec
	out.Files = slices.Clone(spec.Files)
	return &out
}
