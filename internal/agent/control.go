package agent

import (
	"context"
	"encoding/json"

	"capstore/internal/capability"
)

// ControlTool is an operation of capstore itself as an agent may call it,
// under the member's role and the permission mode.
type ControlTool struct {
	Name        string // runtime name, capstore__…
	Description string
	Schema      json.RawMessage
	ReadOnly    bool
	// Guarded asks the member in every mode but bypass.
	Guarded bool
}

// Control is the control plane as a set of tools.
type Control interface {
	// Tools lists what somebody of the role may try, by name. Whether he may do
	// it to the thing at hand is decided by the call.
	Tools(role capability.Role, scope capability.Scope) []ControlTool
	// Invoke runs the tool as the actor, with the role that he has now, and
	// returns what it answers. Arguments were checked against the schema.
	Invoke(ctx context.Context, actor capability.Actor, name string, arguments json.RawMessage) (json.RawMessage, error)
}
