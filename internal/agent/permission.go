package agent

import (
	"context"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// permission applies the permission mode. A call that the member makes by hand
// is his word for it; plan lets nothing write, whoever asks.
func (s *Service) permission(_ context.Context, b *bound) error {
	if b.Mode == capability.ModePlan && b.tool.Write {
		return fault.New(fault.Denied, "plan_mode", "%s writes, and this conversation only plans.", b.Name).
			Do("Leave plan mode to run it.")
	}
	if b.Caller != CallerDirect && b.tool.Write && b.Mode != capability.ModeBypass {
		return fault.New(fault.Denied, "needs_approval", "%s writes and needs the member's approval.", b.Name)
	}
	return nil
}
