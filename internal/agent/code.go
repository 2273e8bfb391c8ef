package agent

import (
	"context"
	"time"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
)

// mcpTimeout bounds one call of an MCP server.
const mcpTimeout = 60 * time.Second

// timeoutOf is how long the call may take.
func timeoutOf(b *bound) time.Duration {
	if spec, ok := b.entry.Spec.(*capability.CodeSpec); ok {
		if spec.TimeoutSec > 0 {
			return time.Duration(spec.TimeoutSec) * time.Second
		}
		return sandbox.DefaultTimeout
	}
	return mcpTimeout
}

// run hands an admitted, started call to the adapter of its kind.
func (s *Service) run(ctx context.Context, b *bound) ToolResult {
	switch spec := b.entry.Spec.(type) {
	case *capability.CodeSpec:
		return s.runCode(ctx, b, spec)
	case *capability.MCPSpec:
		return s.runMCP(ctx, b, spec)
	case *capability.SkillSpec:
		return s.runSkill(b, spec)
	}
	return failed(fault.New(fault.Unavailable, "not_runnable", "This kind of capability cannot be run here."))
}

// runCode runs a code tool in a sandbox of its own.
func (s *Service) runCode(ctx context.Context, b *bound, spec *capability.CodeSpec) ToolResult {
	values, err := s.bindings(ctx, b)
	if err != nil {
		return failed(err)
	}
	env := make(map[string]string, len(values))
	for _, declared := range spec.RequiredSecrets {
		if v, ok := values[declared.Name]; ok {
			env[declared.Variable()] = v.Reveal()
		}
	}
	run := sandbox.Run{
		Language: sandbox.Language(spec.Language), Code: spec.Code, Input: b.Arguments, Env: env,
		Timeout: timeoutOf(b), Foreign: b.entry.Foreign,
	}
	if b.entry.Adoption != nil {
		run.Egress = b.entry.Adoption.Egress
	}
	out, err := s.sandbox.Run(ctx, run)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	return resultOf(out)
}

// resultOf renders a sandbox result for the ledger.
func resultOf(out sandbox.Result) ToolResult {
	r := ToolResult{
		IsError: out.IsError, Content: out.Content, Structured: out.Value, Log: out.Log, Stderr: out.Stderr,
		Driver: out.Driver, Isolated: out.Isolated,
	}
	if out.Failure != nil {
		r.Code, r.Message, r.Action = out.Failure.Code, out.Failure.Message, out.Failure.Action
	}
	return r
}

// stoppedOr says that the member stopped the call, where that is why it ended.
func stoppedOr(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fault.New(fault.Limited, "stopped", "The call was stopped before it ended.").Because(err)
}

// bindings resolves the secrets that the entry declares, by the names it is
// bound to. One that is missing is a fault: nothing runs half equipped.
func (s *Service) bindings(ctx context.Context, b *bound) (map[string]secret.Value, error) {
	if len(b.entry.Bindings) == 0 {
		return nil, nil
	}
	names := make([]string, 0, len(b.entry.Bindings))
	for _, name := range b.entry.Bindings {
		names = append(names, name)
	}
	found, missing, err := s.secrets.Resolve(ctx, b.Actor.Workspace, b.Actor.Subject, names)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fault.New(fault.Denied, "needs_setup", "The secret %s is not set.", missing[0]).
			Do("Set it in Settings, Secrets, or bind another one.")
	}
	out := make(map[string]secret.Value, len(found))
	for declared, name := range b.entry.Bindings {
		out[declared] = found[name]
	}
	return out, nil
}

// secretNames are the names that the call reads, sorted by declaration.
func (b *bound) secretNames() []string {
	var names []string
	for _, declared := range capability.SecretsOf(b.entry.Spec) {
		if name, ok := b.entry.Bindings[declared.Name]; ok {
			names = append(names, name)
		}
	}
	return names
}
