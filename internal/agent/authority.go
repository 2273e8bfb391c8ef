package agent

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// behindBuiltin asks for the authority of what a built-in reaches: the server
// that the broker asks for its tools, and the role that an operation of the
// control plane takes.
func (s *Service) behindBuiltin(ctx context.Context, tx pgx.Tx, b *bound) error {
	switch {
	case b.lists():
		call := b.server.Row.Call(workspace.Function{})
		call.Listing = true
		return s.workspace.Authorize(ctx, tx, b.Actor, call)
	case s.control != nil && b.entry.Origin == registry.OriginBuiltin && !b.entry.Always:
		return s.mayControl(ctx, tx, b)
	}
	return nil
}

// lists reports whether the call asks a server what it has.
func (b *bound) lists() bool { return b.tool.Name == registry.Broker && b.server.Row.Key != "" }

// mayControl holds an operation of the control plane to the role that the
// member has now; his membership is locked already. Whether he may do it to the
// thing at hand is decided when it runs.
func (s *Service) mayControl(ctx context.Context, tx pgx.Tx, b *bound) error {
	subject, err := subjectOf(b.Actor)
	if err != nil {
		return err
	}
	role, err := queries.RoleOf(ctx, tx, db.RoleOfParams{Workspace: b.Actor.Workspace, Subject: subject})
	if err != nil {
		return pg.Fault(err)
	}
	tools := s.control.Tools(capability.Role(role), b.Actor.Scope)
	if slices.ContainsFunc(tools, func(t ControlTool) bool { return t.Name == b.tool.Name }) {
		return nil
	}
	return fault.New(fault.Revoked, "role_lowered", "Your role in this workspace no longer lets you do this.").
		Do("Ask an admin of this workspace.")
}
