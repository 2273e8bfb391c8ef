package agent

import (
	"slices"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// RunLimit narrows what one run may call: a worker, a delegation, a turn that a
// program started. The limits are checked before anybody is asked for
// permission, whatever a prompt says.
type RunLimit struct {
	// Tools are globs over runtime names; a call that matches none is refused.
	Tools []string
}

func (b *bound) withinLimits() error {
	for _, limit := range b.Limits {
		if !slices.ContainsFunc(limit.Tools, func(glob string) bool { return capability.Glob(glob, b.Name) }) {
			return fault.New(fault.Denied, "outside_limits", "%s is outside what this run may call.", b.Name)
		}
	}
	return nil
}
