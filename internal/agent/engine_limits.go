package agent

import "fmt"

const (
	// maxSteps is how often one turn asks the model.
	maxSteps = 40
	// maxTurnTokens is how many tokens one turn may read and write; what the
	// provider reads from its cache counts, too.
	maxTurnTokens = 4_000_000
)

// limitReached ends a turn with a plain message. It is no failure: what was
// done stands, and the member can go on.
type limitReached struct{ code, message, action string }

func (l *limitReached) Error() string { return l.message }

func stepLimit() *limitReached {
	return &limitReached{"turn_steps", fmt.Sprintf("The turn ended after %d steps.", maxSteps), goOn}
}

func tokenLimit() *limitReached {
	return &limitReached{"turn_tokens", fmt.Sprintf("The turn ended after %d tokens.", maxTurnTokens), goOn}
}

func timeLimit() *limitReached {
	return &limitReached{"turn_time", fmt.Sprintf("The turn ended after %d minutes.", int(maxTurn.Minutes())), goOn}
}

const goOn = "Say \"go on\" to continue from here."
