package agent

import (
	"cmp"
	"context"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// Report tells what a member's agent has, and why: the actor's own for "" or
// his own subject, another member's for an admin, with what is private to that
// member left to a count. It binds what a turn of the member would. Somebody
// else gets a Denied fault, and a subject that is no member a missing one.
func (s *Service) Report(ctx context.Context, actor capability.Actor, subject string) (registry.Report, error) {
	of, err := memberFor(actor, subject)
	if err != nil {
		return registry.Report{}, err
	}
	out, err := s.registry.Report(ctx, of, capability.SurfaceWeb)
	if err != nil {
		if fault.Is(err, fault.Revoked) && of.Subject != actor.Subject {
			return registry.Report{}, fault.Missing()
		}
		return registry.Report{}, err
	}
	out.Pool = s.connections(of)
	if of.Subject != actor.Subject {
		out = out.Veiled()
	}
	return out, nil
}

// memberFor is the actor himself for "" or his own subject, and for an admin
// the member of the subject as far as the registry asks who he is: it reads his
// role itself.
func memberFor(actor capability.Actor, subject string) (capability.Actor, error) {
	if subject == "" || subject == actor.Subject {
		return actor, nil
	}
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return capability.Actor{}, err
	}
	return capability.Actor{Workspace: actor.Workspace, Subject: subject, Role: capability.RoleViewer}, nil
}

// connections are the member's MCP servers as this process knows them, by key.
func (s *Service) connections(of capability.Actor) []registry.Connection {
	out := []registry.Connection{}
	for _, state := range s.pool.States() {
		if state.Key.Workspace != of.Workspace || state.Key.Subject != of.Subject {
			continue
		}
		c := registry.Connection{
			Key: capability.Key(state.Key.Server), Connected: state.Connected, Calls: state.Calls, Failures: state.Failures, RetryAt: state.RetryAt,
		}
		if state.Reason != nil {
			c.Reason = fault.From(state.Reason).Code
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b registry.Connection) int { return cmp.Compare(a.Key, b.Key) })
	return out
}
