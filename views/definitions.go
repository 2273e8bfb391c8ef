package views

import (
	"time"

	"capstore/views/ui"
)

// HeldDefinitions are the tools of a server that it describes otherwise than
// the workspace accepted.
type HeldDefinitions struct {
	Rows []HeldDefinition
	// Notice says that the workspace uses them meanwhile.
	Notice bool
	Action string // address that takes the acceptance
	// Reason says why the viewer cannot accept and who can; "" when he can.
	Reason string
}

// HeldDefinition is one of them, with the difference.
type HeldDefinition struct {
	Tool     string
	New      bool
	Digest   string // of what is offered
	Since    time.Time
	Hunks    []ui.DiffHunk
	OldLines int
}
