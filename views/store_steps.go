package views

import (
	"context"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// StepsHint is the hint under which the first steps are put away.
const StepsHint = "first-steps"

// stepsID is the id that the line of first steps owns.
const stepsID = "first-steps"

// Steps are the first minutes of a new member: find, adopt, ask.
type Steps struct {
	Workspace string
	// Known says that it was looked up what is done.
	Known   bool
	Adopted bool // the workspace has adopted something
	Asked   bool // the member has a conversation
}

// steps tick themselves off; what was adopted was found before.
func (s Steps) steps(ctx context.Context) []ui.StepArgs {
	steps := []ui.StepArgs{
		{Label: i18n.T(ctx, "store.step_find"), Done: s.Adopted || s.Asked},
		{Label: i18n.T(ctx, "store.step_adopt"), Done: s.Adopted},
		{Label: i18n.T(ctx, "store.step_ask"), Done: s.Asked},
	}
	for i := range steps {
		if s.Known && !steps[i].Done {
			steps[i].Current = true
			break
		}
	}
	return steps
}

// loadAttrs asks for what is done once the page stands: the store's own page
// spends no statement on it.
func (s Steps) loadAttrs() templ.Attributes {
	if s.Known {
		return nil
	}
	return ui.Hx{Get: StoreStepsPath(s.Workspace), Trigger: "load", Swap: "outerHTML"}.Attrs()
}
