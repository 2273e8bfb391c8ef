package web

import (
	"net/http"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

// agentPage is what the workspace's agent is given, as the resolver has it.
func (s *Site) agentPage(c *Ctx) error {
	carried, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	v := c.agent(carried)
	if v.Hooks, err = s.hookRows(c, carried, views.AgentPath(c.Who.Workspace)); err != nil {
		return err
	}
	var marked []*views.ToolRow
	for i := range v.Adopted {
		marked = append(marked, &v.Adopted[i].ToolRow)
	}
	for i := range v.Hooks {
		marked = append(marked, &v.Hooks[i].ToolRow)
	}
	for i := range v.Commands {
		marked = append(marked, &v.Commands[i].ToolRow)
	}
	if err := s.deprecated(c, marked); err != nil {
		return err
	}
	p := c.Page(c.T("settings.agent"), views.NavSettings)
	return c.Show(http.StatusOK, views.AgentPage(p, v), withNotice(p.Flash, views.AgentBody(v)))
}

func (c *Ctx) agent(carried workspace.Carried) views.Agent {
	ws := c.Who.Workspace
	next := views.AgentPath(ws)
	v := views.Agent{
		Workspace: ws, Version: carried.ConfigVersion, Mode: string(carried.Config.PermissionMode), Model: carried.Config.Model,
		Instructions: carried.Config.Instructions, Reason: c.agentReason(),
		Commands: c.commandRows(carried, next),
	}
	for _, rule := range carried.Config.Policy {
		v.Policies = append(v.Policies, views.PolicyRow{Effect: string(rule.Effect), Match: rule.Match, Note: rule.Note})
	}
	for _, r := range carried.Rows {
		row := c.toolRow(carried, r, next)
		switch r.Origin {
		case capability.OriginAdopted:
			v.Adopted = append(v.Adopted, c.adoptedRow(row, r))
		case capability.OriginRaw:
			v.Servers = append(v.Servers, views.ServerRow{ToolRow: row, Secret: authSecret(carried.Config, r.Name), Writes: c.writes(r.Grant)})
		}
	}
	return v
}

// agentReason says why the reader cannot change the workspace's agent and who
// can; "" when he can.
func (c *Ctx) agentReason() string {
	if capability.May(c.Actor(), capability.ActAgents, capability.Ownership{}) != nil {
		return c.T("agent.viewer_reason")
	}
	return ""
}

func (c *Ctx) adoptedRow(row views.ToolRow, r workspace.Row) views.AdoptedRow {
	out := views.AdoptedRow{ToolRow: row, Source: r.Source, ID: r.ID, At: r.Grant.AdoptedAt, Writes: c.writes(r.Grant)}
	for _, declared := range capability.SecretsOf(r.Spec) {
		if bound := r.Grant.SecretBindings[declared.Name]; bound != "" {
			out.Bindings = append(out.Bindings, declared.Name+" → "+bound)
		}
	}
	if r.Held != "" {
		r.Reason = r.Held
		out.Held = c.rowReason(r)
	}
	return out
}

// writes says how far the workspace lets the thing change anything.
func (c *Ctx) writes(grant capability.Adoption) string {
	switch {
	case !grant.EnableWrite:
		return c.T("agent.reads_only")
	case len(grant.WriteTools) > 0:
		return c.T("agent.may_write_some", "names", strings.Join(grant.WriteTools, ", "))
	}
	return c.T("agent.may_write")
}

func authSecret(config capability.AgentConfig, server string) string {
	for _, s := range config.MCPServers {
		if s.Name == server {
			return s.AuthSecret
		}
	}
	return ""
}
