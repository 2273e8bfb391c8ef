package web

import (
	"net/http"
	"net/url"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/workspace"
	"capstore/views"
)

func (s *Site) stampPage(c *Ctx) error {
	return s.showStamp(c, http.StatusOK, nil, nil)
}

// showStamp shows what would be frozen, and under which numbers it can be.
func (s *Site) showStamp(c *Ctx, status int, sent url.Values, problem error) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	v := views.StampForm{
		Workspace: c.Who.Workspace, ID: skill.ID, Name: skill.Name, Form: show(c.Locale, sent, problem), Revision: skill.Revision, Reason: c.skillReason(),
	}
	if skill.Stamp != nil {
		changes, err := s.Workspace.SkillDiff(c.R.Context(), c.Actor(), skill.ID, skill.Stamp.Version, "")
		if err != nil {
			return err
		}
		v.Newest, v.Next, v.Changes = skill.Stamp.Version, bumpsOf(skill.Stamp.Version), c.changes(changes.Changes, "part.")
	}
	return c.Render(status, views.StampPage(c.skillSubpage(c.T("skills.stamp"), c.skillCrumb(skill)), v))
}

// stampSkill freezes the text that the form was opened at.
func (s *Site) stampSkill(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	revision, err := revisionIn(form)
	if err != nil {
		return err
	}
	in := workspace.StampInput{Bump: form.Get("bump"), Note: form.Get("note"), IfRevision: revision}
	if in.Bump == "" || in.Bump == "exact" {
		in.Bump, in.Version = "", form.Get("version")
	}
	skill, err := s.Workspace.StampSkill(c.R.Context(), c.Actor(), c.R.PathValue("id"), in)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) {
		return s.showStamp(c, httpd.Status(err), form, err)
	}
	if err != nil {
		return err
	}
	return c.Done(views.SkillPath(c.Who.Workspace, skill.ID), c.T("skills.stamped", "name", skill.Name, "version", skill.Stamp.Version))
}

func (s *Site) publishSkillPage(c *Ctx) error {
	return s.showSkillPublication(c, http.StatusOK, nil, nil)
}

func (s *Site) showSkillPublication(c *Ctx, status int, sent url.Values, problem error) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	v := views.SkillPublication{
		Workspace: c.Who.Workspace, WorkspaceName: c.Who.WorkspaceName, ID: skill.ID, Name: skill.Name, Form: show(c.Locale, sent, problem),
		Unstamped: skill.Unstamped(), Targets: c.otherWorkspaces(), Reason: c.whyNotWrite(),
		PublicReason: c.refusal(capability.MayPublishPublic(c.Actor(), s.Catalog.Policy())),
	}
	if skill.Stamp != nil {
		v.Stamp = skill.Stamp.Version
	}
	switch _, err := s.Catalog.Get(c.R.Context(), c.Actor(), c.Who.Workspace, skill.ID); {
	case err == nil:
		v.Existing = true
	case !fault.Is(err, fault.NotFound):
		return err
	}
	return c.Render(status, views.PublishSkillPage(c.skillSubpage(c.T("skills.publish"), c.skillCrumb(skill)), v))
}

// publishSkill takes the newest stamp to the store under its number.
func (s *Site) publishSkill(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	in := workspace.PublishInput{Visibility: capability.Reach(form.Get("visibility")), Tags: words(form.Get("tags"), ",\n")}
	if in.Visibility == capability.ReachSubset {
		in.SharedWith = form["sharedWith"]
	}
	out, err := s.Workspace.PublishToStore(c.R.Context(), c.Actor(), c.R.PathValue("id"), in)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) {
		return s.showSkillPublication(c, httpd.Status(err), form, err)
	}
	if err != nil {
		return err
	}
	key := "skills.published"
	if out.NoChanges {
		key = "skills.published_before"
	}
	text := c.T(key, "name", out.Version.Name, "version", out.Version.Version)
	return c.Done(views.CapabilityPath(c.Who.Workspace, out.Version.Source, out.Version.ID), text)
}
