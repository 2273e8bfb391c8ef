package views

import (
	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Retire is a page that says what an act means before it is done, and for how
// many: on a version, or with the op delete on the capability as a whole.
type Retire struct {
	Workspace string
	Source    string
	ID        string
	Name      string
	Kind      string
	Op        string // withdraw, revive, block, unblock, delete or take
	Version   string
	Means     []ui.Point
	Form      Form
	// Action takes the POST that does it, Back leads away from it, and
	// Deprecate, where set, to what stops nothing.
	Action    string
	Back      string
	Deprecate string
	// Reason says why the reader cannot do it, or why it changes nothing; ""
	// when he can.
	Reason string
}

// Title names the act and what it is done to.
func (r Retire) Title(l i18n.Locale) string {
	return l.T("retire.title_"+r.Op, "name", r.Name, "version", r.Version)
}

func (r Retire) hidden() map[string]string {
	out := map[string]string{"op": r.Op}
	if r.Version != "" {
		out["version"] = r.Version
	}
	return out
}

// variant is how loud the button is: only what takes something away is red.
func (r Retire) variant() ui.Variant {
	switch r.Op {
	case "withdraw", "block", PartDelete:
		return ui.Destructive
	}
	return ui.Primary
}
