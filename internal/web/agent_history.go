package web

import (
	"net/http"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
)

// historyPage is how many versions of the agent's settings stand on a page.
const historyPage = 20

// agentHistoryPage lists who changed the agent's settings when, and compares
// two versions: the newest with the one before it unless the address says.
func (s *Site) agentHistoryPage(c *Ctx) error {
	query := c.R.URL.Query()
	before, err := number(query.Get("before"), 0)
	if err != nil {
		return err
	}
	versions, err := s.Workspace.History(c.R.Context(), c.Actor(), before, historyPage)
	if err != nil {
		return err
	}
	changed, err := s.Workspace.HistoryChanges(c.R.Context(), c.Actor(), versions)
	if err != nil {
		return err
	}
	v := views.AgentHistory{Workspace: c.Who.Workspace, First: before == 0}
	for _, version := range versions {
		row := views.ConfigRow{Version: version.Version, By: version.By.Name, At: version.At, Note: version.Note}
		row.Summary, row.More = c.summary(c.changes(changed[version.Version], "agent.part_"))
		v.Versions = append(v.Versions, row)
	}
	if len(versions) > 0 {
		newest, oldest := versions[0].Version, versions[len(versions)-1].Version
		if oldest > 1 {
			v.More = strconv.Itoa(oldest)
		}
		if err := s.compareConfigs(c, &v, newest); err != nil {
			return err
		}
	}
	return c.Render(http.StatusOK, views.AgentHistoryPage(c.agentSubpage(c.T("agent.history")), v))
}

// summary is the first few changes, a line each, and how many more there are.
func (c *Ctx) summary(changes []views.Change) (lines []string, more int) {
	const most = 3
	for _, change := range changes[:min(len(changes), most)] {
		what := strings.TrimSpace(change.Part + " " + change.Path)
		how := c.T("change.op_" + change.Op)
		if change.Before != "" && change.After != "" && len(change.Before)+len(change.After) < 100 {
			how = change.Before + " → " + change.After
		}
		lines = append(lines, what+" · "+how)
	}
	return lines, len(changes) - len(lines)
}

func (s *Site) compareConfigs(c *Ctx, v *views.AgentHistory, newest int) error {
	query := c.R.URL.Query()
	var err error
	if v.Candidate, err = number(query.Get("candidate"), newest); err != nil {
		return err
	}
	if v.Base, err = number(query.Get("base"), max(v.Candidate-1, 0)); err != nil {
		return err
	}
	base, err := s.Workspace.ConfigAt(c.R.Context(), c.Actor(), v.Base)
	if err != nil {
		return err
	}
	candidate, err := s.Workspace.ConfigAt(c.R.Context(), c.Actor(), v.Candidate)
	if err != nil {
		return err
	}
	v.Changes = c.configChanges(base.Config, candidate.Config)
	return nil
}

// number reads a version of the agent's settings in an address; one that
// cannot be is missing.
func number(text string, fallback int) (int, error) {
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fault.Missing()
	}
	return int(n), nil
}

// configChanges is the difference of two configs in words.
func (c *Ctx) configChanges(base, candidate capability.AgentConfig) []views.Change {
	return c.changes(capability.DiffConfigs(base, candidate), "agent.part_")
}
