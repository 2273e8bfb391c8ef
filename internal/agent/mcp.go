package agent

import (
	"context"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

func (s *Service) observed(capability.Actor, workspace.Row) (registry.Observation, bool) {
	return registry.Observation{}, false
}

// Learn asks the server.
func (s *Service) Learn(ctx context.Context, actor capability.Actor, _ capability.Key) (*registry.Snapshot, error) {
	return s.Bind(ctx, actor)
}

func (s *Service) runMCP(context.Context, *bound) ToolResult {
	return failed(fault.New(fault.Unavailable, "not_runnable", "MCP servers are not reachable here."))
}
