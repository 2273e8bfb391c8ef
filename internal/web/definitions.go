package web

import (
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/views"
)

// heldDefinitions is what the server of the key describes otherwise than the
// workspace accepted.
func (s *Site) heldDefinitions(c *Ctx, key capability.Key) (views.HeldDefinitions, error) {
	held, err := s.Agent.HeldDefinitions(c.R.Context(), c.Actor(), key)
	if err != nil || len(held) == 0 {
		return views.HeldDefinitions{}, err
	}
	config, err := s.Workspace.Config(c.R.Context(), c.Actor())
	if err != nil {
		return views.HeldDefinitions{}, err
	}
	v := views.HeldDefinitions{
		Action: views.ToolDefinitionPath(c.Who.Workspace, string(key)), Reason: c.agentReason(),
		Notice: config.Config.Definitions == capability.DefinitionsNotice,
	}
	for _, d := range held {
		v.Rows = append(v.Rows, heldDefinition(d))
	}
	return v, nil
}

func heldDefinition(d registry.ToolDefinition) views.HeldDefinition {
	before := ""
	if d.Accepted != nil {
		before = definitionText(*d.Accepted)
	}
	lines := capability.Lines(before, definitionText(d.Offered))
	return views.HeldDefinition{
		Tool: d.Tool, New: d.Accepted == nil, Digest: d.Digest, Since: d.Since, Hunks: views.DiffHunks(lines), OldLines: lines.OldLines,
	}
}

// definitionText is a definition in its one order, a line for each part, its
// texts as they are.
func definitionText(d capability.Definition) string {
	raw, err := json.Marshal(d)
	if err != nil {
		return d.Name + "\n" + d.Description // its schema is no JSON
	}
	return canonicalText(raw) + "\n"
}

// acceptDefinition takes what a server says of one of its tools now.
func (s *Site) acceptDefinition(c *Ctx) error {
	key, err := c.toolKey()
	if err != nil {
		return err
	}
	form, err := c.Form()
	if err != nil {
		return err
	}
	if err := s.Agent.AcceptDefinition(c.R.Context(), c.Actor(), key, form.Get("tool"), form.Get("digest")); err != nil {
		return err
	}
	return c.Done(views.ToolPath(c.Who.Workspace, string(key)), c.T("definition.accepted", "tool", form.Get("tool")))
}
