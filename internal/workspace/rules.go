package workspace

import (
	"context"
	"fmt"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Rules returns the workspace's config as it is now, for what the door decides
// by mode and policy. It costs one statement, two for a config that this
// process has not seen. Nobody's rights are asked: it is not for showing.
func (s *Service) Rules(ctx context.Context, workspace string) (capability.AgentConfig, error) {
	return s.RulesIn(ctx, s.db, workspace)
}

// RulesIn is Rules within the caller's transaction.
func (s *Service) RulesIn(ctx context.Context, h db.DBTX, workspace string) (capability.AgentConfig, error) {
	version, err := queries.ConfigHead(ctx, h, workspace)
	if err != nil {
		return capability.AgentConfig{}, pg.Fault(fmt.Errorf("read the agent's rules: %w", err))
	}
	return s.known.config(workspace, int(version), func() (capability.AgentConfig, error) {
		v, err := configAt(ctx, h, workspace, int(version))
		return v.Config, err
	})
}
