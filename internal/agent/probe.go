package agent

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"capstore/internal/agent/mcppool"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// DraftProbe is what an MCP server said that is not published yet.
type DraftProbe struct {
	registry.Observation
	// MissingSecrets are declared names for which neither the actor nor his
	// workspace has a secret: the server was asked without them.
	MissingSecrets []string
}

// ProbeDraft asks the server of a draft for its tools, with the secrets of the
// names that it declares and the defaults of its settings. Nothing of it is
// remembered. A server that cannot be asked is no error: Trouble says why.
func (s *Service) ProbeDraft(ctx context.Context, actor capability.Actor, raw json.RawMessage) (DraftProbe, error) {
	if err := capability.May(actor, capability.ActWrite, capability.Ownership{Creator: true}); err != nil {
		return DraftProbe{}, err
	}
	decoded, faults := capability.DecodeSpec(raw)
	if len(faults) > 0 {
		return DraftProbe{}, fault.Fields(faults)
	}
	spec, ok := decoded.(*capability.MCPSpec)
	if !ok {
		return DraftProbe{}, fault.Fields([]fault.Field{{Path: "/spec/type", Code: "not_mcp", Message: "Only MCP servers can be asked for their tools."}})
	}
	if err := reachable(spec); err != nil {
		return DraftProbe{Observation: registry.Observation{Trouble: troubleText(err)}}, nil
	}
	address, err := spec.Address(nil, s.rules)
	if err != nil {
		return DraftProbe{Observation: registry.Observation{Trouble: troubleText(err)}}, nil
	}
	values, missing, err := s.tryBindings(ctx, actor, tryTarget{spec: spec, bindings: capability.BindByName(spec, nil), secrets: true})
	if err != nil {
		return DraftProbe{}, err
	}
	headers, masked, err := headersOf(spec, values)
	if err != nil {
		return DraftProbe{}, err
	}
	seen, err := s.askOnce(ctx, actor, mcppool.Target{URL: address, Headers: headers}, sandbox.NewMask(masked))
	return DraftProbe{Observation: seen, MissingSecrets: missing}, err
}

// askOnce lists the tools over a connection that is closed afterwards.
func (s *Service) askOnce(ctx context.Context, actor capability.Actor, target mcppool.Target, mask *sandbox.Mask) (registry.Observation, error) {
	key := mcppool.Key{Workspace: actor.Workspace, Subject: actor.Subject, Server: "draft:" + uuid.NewString()}
	defer s.pool.Close(func(k mcppool.Key) bool { return k == key })
	catalogue, err := s.pool.Tools(ctx, key, target)
	if err != nil {
		return troubled(ctx, err, mask)
	}
	return observationOf(catalogue, mask), nil
}

// troubleText is a fault as one sentence, or those of its fields.
func troubleText(err error) string {
	f := fault.From(err)
	if len(f.Fields) > 0 {
		return f.Fields[0].Message
	}
	return f.Message
}
