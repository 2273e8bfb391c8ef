package web

import (
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
)

// adoption is the row of the adoption that the path names.
func (s *Site) adoption(c *Ctx) (workspace.Carried, workspace.Row, error) {
	carried, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return carried, workspace.Row{}, err
	}
	row, ok := carried.Find(capability.CapabilityKey(c.R.PathValue("source"), c.R.PathValue("id")))
	if !ok || row.Origin != capability.OriginAdopted {
		return carried, row, fault.Missing()
	}
	return carried, row, nil
}

// endAdoptionPage asks before an adoption ends, and names what leans on it.
func (s *Site) endAdoptionPage(c *Ctx) error {
	carried, row, err := s.adoption(c)
	if err != nil {
		return err
	}
	ws := c.Who.Workspace
	return c.Render(http.StatusOK, views.EndingPage(c.agentSubpage(row.Name), views.Ending{
		Action: views.EndAdoptionPath(ws, row.Source, row.ID), Name: row.Name, Ref: row.Source + "/" + row.ID + "@" + row.Version,
		Leaning: c.leaning(carried, row.Key), Back: views.AgentPath(ws), Reason: c.agentReason(),
	}))
}

func (s *Site) endAdoption(c *Ctx) error {
	_, row, err := s.adoption(c)
	if err != nil {
		return err
	}
	if _, err := s.Workspace.Unadopt(c.R.Context(), c.Actor(), row.Source, row.ID); err != nil {
		return err
	}
	return c.Done(views.AgentPath(c.Who.Workspace), c.T("agent.ended", "name", row.Name))
}
