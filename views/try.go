package views

import (
	"github.com/a-h/templ"

	"capstore/views/ui"
)

// CapabilityTry is the panel in which a code tool is tried: its form, and what
// came of it.
type CapabilityTry struct {
	Action string // where it posts
	Tool   ToolForm
	// Consent is the digest that lets foreign code have one's secrets for this
	// one run; "" where nothing is asked.
	Consent   string
	Source    string // whose code it is
	Consented bool
	Hook      bool           // it takes an event, no arguments
	Outcome   *AuthorOutcome // of a run that has ended
	// ChatHref runs it in a conversation; "" while the agent does not carry it.
	ChatHref string
	Reason   string // why it cannot be tried, and who can
}

// tryID is the id that the panel owns.
const tryID = "try"

// tryResultID is where what came of it stands.
const tryResultID = "try-result"

// leadKey says what trying does.
func (t CapabilityTry) leadKey() string {
	if t.Hook {
		return "author.try_hook_lead"
	}
	return "try.lead"
}

// attrs run it in place.
func (t CapabilityTry) attrs() templ.Attributes {
	return ui.Hx{Post: t.Action, Target: "#" + tryResultID, Swap: "innerMorph", Sync: "this:replace"}.Attrs()
}
