package agent

import (
	"slices"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// RunLimit narrows what one run may call: a worker, a delegation, a turn that a
// program started. The limits are checked before anybody is asked for
// permission, whatever a prompt says; a call is within them when each lets it
// through by one of its allowances.
type RunLimit struct {
	Allow []Allowance
}

// Allowance lets calls of some tools through, where it has conditions only
// those that meet all of them. What cannot be told of a call does not meet one.
type Allowance struct {
	Tool      string // glob over runtime names
	Arguments []capability.ArgumentCondition
}

func (b *bound) withinLimits() error {
	for _, limit := range b.Limits {
		if !slices.ContainsFunc(limit.Allow, func(a Allowance) bool {
			return capability.Glob(a.Tool, b.Name) && capability.Meets(a.Arguments, b.Arguments)
		}) {
			return fault.New(fault.Denied, "outside_limits", "This call of %s is outside what this run may do.", b.Name).
				Do("Do it within the limits of the run, or leave it to whoever started it.")
		}
	}
	return nil
}
