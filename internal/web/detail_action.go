package web

import (
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
	"capstore/views/ui"
)

// primary is the one thing to do with the version looked at, or why it cannot
// be done and who can.
func (c *Ctx) primary(l lens) views.Action {
	switch {
	case l.version.Kind == capability.KindSkill:
		return c.copySkill(l)
	case l.version.Kind == capability.KindEnvironment:
		return views.Action{Label: c.T("detail.import"), Icon: ui.IconDownload, Reason: c.T("detail.import_off")}
	case l.version.Kind == capability.KindDelegation:
		return views.Action{Label: c.T("detail.copy_profile"), Icon: ui.IconCopy, Reason: c.T("detail.delegation_off")}
	case l.row != nil && l.row.Held == capability.HeldSetup:
		return views.Action{Label: c.T("detail.set_up"), Icon: ui.IconKey, Href: c.settingsOf(l)}
	case l.Pinned != "" && l.Pinned == l.version.Version && !l.UpdateAvailable:
		return c.use(l)
	}
	return c.adopt(l)
}

// use is what to do with what is adopted already: run it, or where it cannot
// be run now see why.
func (c *Ctx) use(l lens) views.Action {
	if href := c.chatPath(l); href != "" {
		return views.Action{Label: c.T("detail.run"), Icon: ui.IconChat, Href: href}
	}
	return views.Action{Label: c.T("detail.settings"), Icon: ui.IconSettings, Href: c.settingsOf(l)}
}

// adopt adopts the version looked at, or moves the pin: to the latest where
// the workspace already has the version looked at.
func (c *Ctx) adopt(l lens) views.Action {
	to := l.version
	if l.Pinned == to.Version && l.Latest != nil {
		to = *l.Latest
	}
	a := views.Action{
		Label: c.T("detail.adopt"), Icon: ui.IconPlus, Href: views.AdoptPath(c.Who.Workspace, l.Source, l.ID, to.Version),
	}
	switch {
	case l.Pinned != "" && l.Latest != nil && to.Version == l.Latest.Version:
		a.Label, a.Icon = c.T("detail.update", "version", to.Version), ui.IconRefresh
	case l.Pinned != "":
		a.Label, a.Icon = c.T("detail.move_pin", "version", to.Version), ui.IconPin
	case l.Latest == nil || to.Version != l.Latest.Version:
		a.Label = c.T("detail.adopt_version", "version", to.Version)
	}
	switch {
	case capability.May(c.Actor(), capability.ActAgents, capability.Fresh) != nil:
		a.Reason = c.T("detail.viewer_reason")
	case l.Access.Reach == capability.ReachPrivate:
		a.Reason = c.T("detail.private_reason")
	case to.State == catalog.Blocked:
		a.Reason = c.T("detail.blocked_reason")
	case to.State == catalog.Withdrawn:
		a.Reason = c.T("detail.withdrawn_reason")
	}
	return a
}

// copySkill takes a published skill into the library: one is copied, never
// adopted.
func (c *Ctx) copySkill(l lens) views.Action {
	if l.TakenAs != "" {
		return views.Action{Label: c.T("detail.open_copy"), Icon: ui.IconSkill, Href: views.SkillPath(c.Who.Workspace, l.TakenAs)}
	}
	a := views.Action{
		Label: c.T("detail.copy"), Icon: ui.IconCopy, Post: views.CopySkillPath(c.Who.Workspace, l.Source, l.ID),
		Values: map[string]string{"version": l.version.Version},
	}
	switch {
	case capability.May(c.Actor(), capability.ActSkills, capability.Fresh) != nil:
		a.Reason = c.T("detail.viewer_reason")
	case l.version.State == catalog.Blocked:
		a.Reason = c.T("detail.blocked_reason")
	case l.version.State == catalog.Withdrawn:
		a.Reason = c.T("detail.withdrawn_reason")
	}
	return a
}

// settingsOf is where the adopted capability is switched and bound.
func (c *Ctx) settingsOf(l lens) string {
	if l.version.Kind.Channel() != capability.ChannelTool {
		return views.AgentPath(c.Who.Workspace)
	}
	return views.ToolPath(c.Who.Workspace, string(capability.CapabilityKey(l.Source, l.ID)))
}

// others is what else the reader may do: run it, and as one of its authors
// write its next version or manage it.
func (c *Ctx) others(l lens, primary views.Action) []ui.MenuItem {
	var out []ui.MenuItem
	if href := c.chatPath(l); href != "" && href != primary.Href {
		out = append(out, ui.MenuItem{Label: c.T("detail.run"), Icon: ui.IconChat, Href: href})
	}
	if capability.MayWrite(c.Actor(), l.Access) == nil {
		ws := c.Who.Workspace
		out = append(out,
			ui.MenuItem{Label: c.T("detail.edit"), Icon: ui.IconEdit, Href: views.EditCapabilityPath(ws, l.Source, l.ID)},
			views.EditInChat(c.Locale, ws, views.CapabilityRef(l.Source, l.ID), l.version.Name),
			ui.MenuItem{Label: c.T("store.manage"), Icon: ui.IconSettings, Href: views.ManagePath(ws, l.Source, l.ID)})
	}
	return append(out, c.exports(l)...)
}

// chatPath starts a conversation with the first function that runs; "" where
// the reader's agent has none.
func (c *Ctx) chatPath(l lens) string {
	if l.row == nil || !l.row.Enabled || l.version.Kind.Channel() != capability.ChannelTool {
		return ""
	}
	for _, f := range l.row.Functions {
		if f.Allowed {
			return views.NewChatPath(c.Who.Workspace, f.Name)
		}
	}
	return ""
}

// standing says what the workspace has, and why that is on or off for the
// reader; nil while it has nothing.
func (c *Ctx) standing(l lens) *views.Standing {
	switch {
	case l.row != nil:
		s := &views.Standing{
			Version: l.Pinned, Reason: c.reason(l.row.Reason), Tone: ui.Success, Label: c.T("detail.to_settings"), Href: c.settingsOf(l),
		}
		if l.row.Held != "" {
			s.Tone = ui.Warning
		} else if !l.row.Enabled {
			s.Tone = ui.Info
		}
		return s
	case l.Pinned != "":
		return &views.Standing{Version: l.Pinned, Tone: ui.Success, Label: c.T("detail.to_settings"), Href: c.settingsOf(l)}
	case l.TakenAs != "":
		return &views.Standing{
			Reason: c.T("detail.taken"), Tone: ui.Success,
		}
	}
	return nil
}
