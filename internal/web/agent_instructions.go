package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

func (s *Site) instructionsPage(c *Ctx) error {
	return s.showInstructions(c, http.StatusOK, nil, nil)
}

// showInstructions shows the form as it was sent, with what was wrong; both
// nil when it was not.
func (s *Site) showInstructions(c *Ctx, status int, sent url.Values, problem error) error {
	now, err := s.Workspace.Config(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	v := views.AgentForm{
		Workspace: c.Who.Workspace, Form: show(c.Locale, sent, problem), Version: now.Version,
		Mode: string(now.Config.PermissionMode), Instructions: now.Config.Instructions, Reason: c.agentReason(),
	}
	if capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}) != nil {
		v.ModeReason = c.T("agent.mode_reason")
	}
	if fault.HasCode(problem, "stale_config") {
		typed := now.Config
		typed.Instructions, typed.PermissionMode = lineFeeds(sent.Get("instructions")), chosenMode(sent, now.Config.PermissionMode)
		v.Stale = c.configChanges(now.Config, typed)
	}
	p := c.agentSubpage(c.T("agent.behaviour"))
	p.Editor = true
	return c.Render(status, views.InstructionsPage(p, v))
}

// agentSubpage is the frame of a page below the agent's.
func (c *Ctx) agentSubpage(title string) views.Page {
	p := c.Page(title, views.NavSettings)
	p.Crumbs = []ui.Crumb{{Label: c.T("settings.agent"), Href: views.AgentPath(c.Who.Workspace)}, {Label: title}}
	return p
}

// lineFeeds undoes the CRLF that browsers send for every line break.
func lineFeeds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// chosenMode is the mode that was picked. A browser sends none of the choices
// that the reader may not make.
func chosenMode(form url.Values, now capability.PermissionMode) capability.PermissionMode {
	if mode := form.Get("permissionMode"); mode != "" {
		return capability.PermissionMode(mode)
	}
	return now
}

func (s *Site) setInstructions(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	version, err := strconv.Atoi(form.Get("version"))
	if err != nil {
		return fault.New(fault.Malformed, "bad_form", "The form could not be read.").Because(err)
	}
	saved, err := s.Workspace.Change(c.R.Context(), c.Actor(), version, form.Get("note"), func(config *capability.AgentConfig) error {
		config.Instructions = lineFeeds(form.Get("instructions"))
		config.PermissionMode = chosenMode(form, config.PermissionMode)
		return nil
	})
	if fault.HasCode(err, "stale_config") {
		return s.showInstructions(c, http.StatusConflict, form, err)
	}
	if status, again := shownAgain(err); again {
		return s.showInstructions(c, status, form, err)
	}
	if err != nil {
		return err
	}
	return c.Done(views.AgentPath(c.Who.Workspace), c.savedText(version, saved))
}

// savedText says under which number the settings are stored, or that nothing
// was different.
func (c *Ctx) savedText(before int, saved workspace.ConfigVersion) string {
	if saved.Version == before {
		return c.T("agent.unchanged")
	}
	return c.T("agent.saved", "version", saved.Version)
}
