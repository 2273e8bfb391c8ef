package agent

import (
	"context"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// HeldDefinitions lists the tools of the actor's server that it describes
// otherwise than the workspace accepted, or that are new there, by name.
// fault.Missing where his agent has no such server.
func (s *Service) HeldDefinitions(ctx context.Context, actor capability.Actor, key capability.Key) ([]registry.ToolDefinition, error) {
	row, err := s.serverRow(ctx, actor, key)
	if err != nil {
		return nil, err
	}
	return s.registry.HeldDefinitions(ctx, actor, row)
}

// AcceptDefinition takes what the server says of a tool now, for the whole
// workspace; digest is that of what was seen.
func (s *Service) AcceptDefinition(ctx context.Context, actor capability.Actor, key capability.Key, tool, digest string) error {
	if err := capability.May(actor, capability.ActAgents, capability.Ownership{}); err != nil {
		return err
	}
	row, err := s.serverRow(ctx, actor, key)
	if err != nil {
		return err
	}
	return s.registry.AcceptDefinition(ctx, actor, row, tool, digest)
}

func (s *Service) serverRow(ctx context.Context, actor capability.Actor, key capability.Key) (workspace.Row, error) {
	carried, err := s.workspace.Carried(ctx, actor)
	if err != nil {
		return workspace.Row{}, err
	}
	row, ok := carried.Find(key)
	if !ok || row.Kind != capability.KindMCP {
		return workspace.Row{}, fault.Missing()
	}
	return row, nil
}
