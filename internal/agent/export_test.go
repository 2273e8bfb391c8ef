package agent

// What the tests of another package reach.
var (
	SessionHooks = (*Service).sessionHooks
	PromptHooks  = (*Service).promptHooks
	TurnEndHooks = (*Service).turnEndHooks

	SweepApprovals = (*Service).sweepApprovals
)
