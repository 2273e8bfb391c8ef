package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// mcpTimeout bounds one call of an MCP server.
const mcpTimeout = 60 * time.Second

// timeoutOf is how long the call may take.
func timeoutOf(b *bound) time.Duration {
	if spec, ok := b.entry.Row.Spec.(*capability.CodeSpec); ok {
		if spec.TimeoutSec > 0 {
			return time.Duration(spec.TimeoutSec) * time.Second
		}
		return sandbox.DefaultTimeout
	}
	return mcpTimeout
}

// run hands an admitted, started call to the adapter of its kind. A turn is no
// request: a panic that ends one would end the server, with everybody's turns.
func (s *Service) run(ctx context.Context, b *bound) (result ToolResult) {
	defer func() {
		if p := recover(); p != nil {
			s.log.ErrorContext(ctx, "agent: panic in a call", "tool", b.Name, "call", b.call, "panic", p, "stack", string(debug.Stack()))
			result = failed(fmt.Errorf("panic: %v", p))
		}
	}()
	if b.entry.Origin == registry.OriginBuiltin {
		return s.runBuiltin(ctx, b)
	}
	switch b.entry.Row.Kind {
	case capability.KindCode:
		return s.runCode(ctx, b)
	case capability.KindMCP:
		return s.runMCP(ctx, b)
	case capability.KindSkill:
		return s.runSkill(ctx, b)
	}
	return failed(fault.New(fault.Unavailable, "not_runnable", "This kind of capability cannot be run here."))
}

// runCode runs a code tool in a sandbox of its own.
func (s *Service) runCode(ctx context.Context, b *bound) ToolResult {
	content, err := s.workspace.Content(ctx, b.Actor, b.entry.Row)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	spec, ok := content.Spec.(*capability.CodeSpec)
	if !ok {
		return failed(fault.New(fault.Internal, "not_code", "What is stored under this version is no code tool."))
	}
	values, err := s.bindings(ctx, b.Actor, b.entry.Row)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	foreign := b.entry.Row.Source != b.Actor.Workspace
	out, err := s.sandbox.Run(ctx, codeRun(spec, b.Arguments, values, foreign, b.entry.Row.Grant.Egress))
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	return resultOf(out)
}

// codeRun is a code tool as the sandbox takes it: the one contract, for the
// agent's calls and for trying a draft.
func codeRun(spec *capability.CodeSpec, input json.RawMessage, values map[string]secret.Value, foreign bool, egress []string) sandbox.Run {
	env := make(map[string]string, len(values))
	for _, declared := range spec.RequiredSecrets {
		if v, ok := values[declared.Name]; ok {
			env[declared.Variable()] = v.Reveal()
		}
	}
	return sandbox.Run{
		Language: sandbox.Language(spec.Language), Code: spec.Code, Input: input, Env: env,
		Timeout: time.Duration(spec.TimeoutSec) * time.Second, Foreign: foreign, Egress: egress,
	}
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

// stoppedOr says that the call was revoked or stopped, where that is why it
// ended.
func stoppedOr(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if errors.Is(context.Cause(ctx), errRevoked) {
		return fault.New(fault.Revoked, "revoked_while_running", "It was revoked while it ran, and was ended. Whether it had an effect is not known.").
			Do("Look at what it works on.").Because(err)
	}
	return fault.New(fault.Limited, "stopped", "The call was stopped before it ended.").Because(err)
}

// bindings resolves the secrets that the row declares, by the names it is
// bound to. One that is missing is a fault: nothing runs half equipped.
func (s *Service) bindings(ctx context.Context, actor capability.Actor, row workspace.Row) (map[string]secret.Value, error) {
	bound := row.Grant.SecretBindings
	if len(bound) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Values(bound))
	found, missing, err := s.secrets.Resolve(ctx, actor.Workspace, actor.Subject, names)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fault.New(fault.Denied, "needs_setup", "The secret %s is not set.", missing[0]).
			Do("Set it in Settings, Secrets, or bind another one.")
	}
	out := make(map[string]secret.Value, len(found))
	for declared, name := range bound {
		out[declared] = found[name]
	}
	return out, nil
}

// secretNames are the names that the call reads, sorted.
func (b *bound) secretNames() []string {
	return slices.Sorted(maps.Values(b.entry.Row.Grant.SecretBindings))
}
