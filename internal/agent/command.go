package agent

import (
	"context"

	"capstore/internal/capability"
	"capstore/internal/registry"
)

// Expand reads a message that begins with a slash. It returns what a model
// reads in place of a usable command, and true; false for a text that calls
// none: no slash, a path, and the host's own /tool and /skill:name. The fault
// unknown_command names what is near, at /text; command_missing_argument says
// what the command takes.
func (s *Service) Expand(ctx context.Context, actor capability.Actor, snap *registry.Snapshot, text string) (prompt string, ok bool, err error) {
	return "", false, nil
}
