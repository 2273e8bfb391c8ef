package web

import (
	"net/http"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

// toolsPage lists the tools of the member's agent, on and off.
func (s *Site) toolsPage(c *Ctx) error {
	carried, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	query := strings.TrimSpace(c.R.URL.Query().Get("q"))
	v := views.Tools{Workspace: c.Who.Workspace, Query: query}
	rows := c.toolRows(carried, views.ToolsPath(c.Who.Workspace, query), capability.ChannelTool)
	if err := s.deprecated(c, pointers(rows)); err != nil {
		return err
	}
	for _, row := range rows {
		if v.Total++; row.Works {
			v.On++
		}
	}
	v.Groups = grouped(carried, matching(rows, query))
	p := c.Page(c.T("settings.tools"), views.NavSettings)
	return c.Show(http.StatusOK, views.ToolsPage(p, v), withNotice(p.Flash, views.ToolsList(v)))
}

// deprecated marks the rows of capabilities whose publisher sends readers
// elsewhere, in one statement.
func (s *Site) deprecated(c *Ctx, rows []*views.ToolRow) error {
	var refs []string
	for _, row := range rows {
		if strings.HasPrefix(row.Key, string(capability.KeyCapability)+":") {
			refs = append(refs, row.Ref)
		}
	}
	known, err := s.Catalog.Lookup(c.R.Context(), c.Actor(), refs)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if k, ok := known[row.Ref]; ok {
			row.Deprecation = c.deprecation(k.Deprecated, k.SuccessorSeen)
		}
	}
	return nil
}

func pointers(rows []views.ToolRow) []*views.ToolRow {
	out := make([]*views.ToolRow, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}

// toolRows is the rows of the channels, in the order of the resolver.
func (c *Ctx) toolRows(carried workspace.Carried, next string, channels ...capability.Channel) []views.ToolRow {
	var out []views.ToolRow
	for i := range carried.Rows {
		if slices.Contains(channels, carried.Rows[i].Channel) {
			out = append(out, c.toolRow(carried, carried.Rows[i], next))
		}
	}
	return out
}

func (c *Ctx) toolRow(carried workspace.Carried, r workspace.Row, next string) views.ToolRow {
	row := views.ToolRow{
		Workspace: c.Who.Workspace, Key: string(r.Key), Kind: string(r.Kind), Name: r.Name, Version: r.Version,
		Text: r.Description, On: r.Wanted, Works: r.Enabled, Reason: c.rowReason(r), Follow: r.Override != nil,
		Setup: len(r.Missing)+len(r.Unset) > 0, Withdrawn: r.Withdrawn, Blocked: r.Held == capability.HeldBlocked, BlockedReason: r.BlockedReason,
		Next: next,
	}
	key, _ := capability.ParseKey(string(r.Key))
	switch key.Kind {
	case capability.KeyCapability:
		row.Ref = key.Source + "/" + key.ID
	case capability.KeyMCP:
		row.Ref, row.Text = r.Description, ""
	case capability.KeyDefault:
		row.Ref = capability.FirstPartyOwner
	}
	if r.UpdateAvailable {
		row.Update = r.LatestVisible
	}
	if by, ok := carried.Find(r.ShadowedBy); ok {
		row.Shadow = &views.Use{Label: by.Name, Href: views.ToolPath(c.Who.Workspace, string(by.Key))}
	}
	row.Locked = c.switchLocked(r)
	if r.Plugin != "" {
		row.Rest = append(row.Rest, c.T("tools.plugin", "name", r.Plugin))
	}
	if len(r.Unmet) > 0 {
		row.Rest = append(row.Rest, c.T("tools.unmet", "names", strings.Join(r.Unmet, ", ")))
	}
	return row
}

// rowReason says why the row is on or off, with the names of what is missing.
func (c *Ctx) rowReason(r workspace.Row) string {
	text := c.reason(r.Reason)
	if r.Enabled {
		if why := c.cannotRun(r.Spec, r.Source); why != "" {
			return text + " · " + why
		}
	}
	if r.Reason != capability.HeldSetup {
		return text
	}
	var names []string
	for _, secret := range r.Missing {
		names = append(names, secret.Name)
	}
	for _, setting := range r.Unset {
		names = append(names, setting.Name)
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}

// switchLocked says why the member's switch would change nothing, and who can
// change that; "" when it would.
func (c *Ctx) switchLocked(r workspace.Row) string {
	switch {
	case r.Required && r.Wanted:
		return c.T("tools.locked_required")
	case r.Held == capability.HeldPolicy:
		return c.T("tools.locked_policy")
	case r.Held == capability.HeldGone:
		return c.T("tools.locked_gone")
	}
	return ""
}

// matching keeps the rows that hold the query in what names them.
func matching(rows []views.ToolRow, query string) []views.ToolRow {
	if query == "" {
		return rows
	}
	query = strings.ToLower(query)
	return slices.DeleteFunc(slices.Clone(rows), func(r views.ToolRow) bool {
		return !strings.Contains(strings.ToLower(r.Name+"\n"+r.Ref+"\n"+r.Key+"\n"+r.Text), query)
	})
}

// grouped puts the rows under their scopes, empty ones left out.
func grouped(carried workspace.Carried, rows []views.ToolRow) []views.ToolGroup {
	scopes := map[string]capability.RowScope{}
	for _, r := range carried.Rows {
		scopes[string(r.Key)] = r.Scope
	}
	var out []views.ToolGroup
	for _, scope := range capability.RowScopes {
		group := views.ToolGroup{Scope: string(scope)}
		for _, row := range rows {
			if scopes[row.Key] == scope {
				group.Rows = append(group.Rows, row)
			}
		}
		if len(group.Rows) > 0 {
			out = append(out, group)
		}
	}
	return out
}
