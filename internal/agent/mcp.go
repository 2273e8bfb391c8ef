package agent

import (
	"context"
	"encoding/json"
	"strings"

	"capstore/internal/agent/mcppool"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// serverKey names the connection of the actor's agent to the server of a row.
func serverKey(actor capability.Actor, row workspace.Row) mcppool.Key {
	return mcppool.Key{Workspace: actor.Workspace, Subject: actor.Subject, Server: string(row.Key)}
}

// ToolsChanged is what the pool calls when a server announces other tools.
func (s *Service) ToolsChanged(k mcppool.Key) {
	s.registry.Outdated(registry.Key{Workspace: k.Workspace, Subject: k.Subject}, capability.Key(k.Server))
}

// Learn asks the MCP server of the key for its tools, as the actor, and returns
// the snapshot with what it said. It is demand: a member's probe, or his
// picking of a tool. A server that cannot be asked is no error; the snapshot
// says why. A key that is no usable MCP server is missing.
func (s *Service) Learn(ctx context.Context, actor capability.Actor, key capability.Key) (*registry.Snapshot, error) {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return nil, err
	}
	snap, err := s.Bind(ctx, actor)
	if err != nil {
		return nil, err
	}
	entry, ok := snap.Find(key)
	if !ok || entry.Kind != registry.EntryMCP || !entry.Standing.Callable() {
		return nil, fault.Missing()
	}
	seen, err := s.catalogueOf(ctx, actor, entry.Row)
	if err != nil {
		return nil, err
	}
	if err := s.registry.Observe(ctx, actor, entry.Row, seen); err != nil {
		return nil, err
	}
	return s.Bind(ctx, actor)
}

// catalogueOf lists a server's tools. Only a context that ended and a failure of our
// own are errors: a failing server is an observation without tools.
func (s *Service) catalogueOf(ctx context.Context, actor capability.Actor, row workspace.Row) (registry.Observation, error) {
	target, masked, err := s.mcpTarget(ctx, actor, row)
	mask := sandbox.NewMask(masked)
	if err != nil {
		return troubled(ctx, err, mask)
	}
	catalogue, err := s.pool.Tools(ctx, serverKey(actor, row), target)
	if err != nil {
		return troubled(ctx, err, mask)
	}
	return observationOf(catalogue, mask), nil
}

// observationOf keeps what is told of a server's tools, without the values that
// it was sent, should it repeat them.
func observationOf(catalogue mcppool.Catalogue, mask *sandbox.Mask) registry.Observation {
	seen := registry.Observation{Known: true}
	for _, t := range catalogue.Tools {
		seen.Tools = append(seen.Tools, registry.ObservedTool{
			Name: t.Name, Title: mask.Text(t.Title), Description: mask.Text(t.Description), Schema: mask.JSON(schemaOf(t)),
			ReadOnly: t.Hints.ReadOnly != nil && *t.Hints.ReadOnly,
			Output:   mask.JSON(t.OutputSchema), Annotations: mask.JSON(t.Annotations),
		})
	}
	for _, p := range catalogue.Refused {
		seen.Tools = append(seen.Tools, registry.ObservedTool{Name: p.Tool, Refused: mask.Text(p.Message)})
	}
	for _, p := range catalogue.Warnings {
		seen.Notes = append(seen.Notes, mask.Text(p.Message))
	}
	return seen
}

func schemaOf(t mcppool.Tool) json.RawMessage {
	if t.InputSchema == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.InputSchema
}

func troubled(ctx context.Context, err error, mask *sandbox.Mask) (registry.Observation, error) {
	if ctx.Err() != nil || fault.Is(err, fault.Internal) {
		return registry.Observation{}, err
	}
	f := fault.From(err)
	return registry.Observation{Trouble: mask.Text(f.Message), TroubleCode: f.Code}, nil
}

// mcpTarget is the server of a row with its credentials, and the values that
// must not show in what it answers.
func (s *Service) mcpTarget(ctx context.Context, actor capability.Actor, row workspace.Row) (mcppool.Target, []string, error) {
	spec, ok := row.Spec.(*capability.MCPSpec)
	if !ok {
		return mcppool.Target{}, nil, fault.New(fault.Internal, "not_mcp", "What is stored under this version is no MCP server.")
	}
	if err := reachable(spec); err != nil {
		return mcppool.Target{}, nil, err
	}
	address, err := spec.Address(row.Grant.Settings, s.rules)
	if err != nil {
		return mcppool.Target{}, nil, err
	}
	values, err := s.bindings(ctx, actor, row)
	if err != nil {
		return mcppool.Target{}, nil, err
	}
	headers, masked, err := headersOf(spec, values)
	return mcppool.Target{URL: address, Headers: headers}, masked, err
}

// reachable returns nil for a server that this one can talk to, else why not.
func reachable(spec *capability.MCPSpec) error {
	switch {
	case spec.URL == "":
		return fault.New(fault.Unavailable, "stdio_off", "This server runs no containers for MCP.").
			Do("Adopt a server with a URL, or ask whoever runs this one.")
	case spec.Auth == capability.AuthOAuth:
		return fault.New(fault.Unavailable, "oauth_off", "Signing in to MCP servers by OAuth is not possible here.")
	}
	return nil
}

func headersOf(spec *capability.MCPSpec, values map[string]secret.Value) (headers []mcppool.Header, masked []string, err error) {
	for _, c := range spec.Carriers() {
		value, ok := values[c.Secret]
		if !ok {
			continue
		}
		header, _, err := mcppool.NewHeader(c.Header, c.Prefix, value.Reveal())
		if err != nil {
			return nil, nil, err
		}
		headers, masked = append(headers, header), append(masked, strings.TrimRight(value.Reveal(), "\r\n"))
	}
	return headers, masked, nil
}

// noteServer keeps what a call taught about its server: that it could not be
// reached, or that it can be again. A call does not fail for that.
func (s *Service) noteServer(ctx context.Context, b *bound, failed error, mask *sandbox.Mask) {
	var seen registry.Observation
	switch {
	case fault.Is(failed, fault.Unavailable) && ctx.Err() == nil:
		f := fault.From(failed)
		seen.Trouble, seen.TroubleCode = mask.Text(f.Message), f.Code
	case failed != nil || b.entry.TroubleCode == "":
		return
	}
	if err := s.registry.Observe(context.WithoutCancel(ctx), b.Actor, b.entry.Row, seen); err != nil {
		s.log.WarnContext(ctx, "agent: what a call taught of its server is lost", "error", err)
	}
}

// runMCP calls a tool of a server by its raw name. Blocks keep their order and
// numbers their digits.
func (s *Service) runMCP(ctx context.Context, b *bound) ToolResult {
	target, masked, err := s.mcpTarget(ctx, b.Actor, b.entry.Row)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	mask := sandbox.NewMask(masked)
	got, err := s.pool.Call(ctx, serverKey(b.Actor, b.entry.Row), target, b.tool.Raw, b.Arguments)
	s.noteServer(ctx, b, err, mask)
	if err != nil {
		out := failed(stoppedOr(ctx, err))
		out.Message = mask.Text(out.Message)
		return out
	}
	out := ToolResult{IsError: got.IsError}
	if got.Structured != nil {
		out.Structured = mask.JSON(got.Structured)
	}
	for _, block := range got.Content {
		out.Content = append(out.Content, mask.JSON(block.Raw))
	}
	return out
}
