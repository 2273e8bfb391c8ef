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
	Op        string // withdraw, revive, block, unblock or delete
	Version   string
	Means     []ui.Point
	Form      Form
	// Reason says why the reader cannot do it, or why it changes nothing; ""
	// when he can.
	Reason string
}

// Title names the act and what it is done to.
func (r Retire) Title(l i18n.Locale) string {
	return l.T("retire.title_"+r.Op, "name", r.Name, "version", r.Version)
}

func (r Retire) part() string {
	if r.Op == PartDelete {
		return PartDelete
	}
	return PartVersion
}

func (r Retire) back() string { return ManagePath(r.Workspace, r.Source, r.ID) + "#part-" + r.part() }

func (r Retire) hidden() map[string]string {
	if r.Op == PartDelete {
		return nil
	}
	return map[string]string{"op": r.Op, "version": r.Version}
}

// variant is how loud the button is: only what takes something away is red.
func (r Retire) variant() ui.Variant {
	if r.Op == "revive" || r.Op == "unblock" {
		return ui.Primary
	}
	return ui.Destructive
}
