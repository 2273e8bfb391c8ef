package agent

import (
	"context"
	"encoding/json"
	"time"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/jsonx"
	"capstore/internal/secret"
)

// TryInput is a code tool or a hook to try: a draft's spec, or a published
// version.
type TryInput struct {
	Spec json.RawMessage // of a draft, which counts as the actor's own
	capability.Ref
	Input json.RawMessage // nil counts as {}; of a hook the event
	// ConsentDigest lets foreign code have the actor's secrets for this one
	// run: the digest of the version that he read.
	ConsentDigest string
}

// TryResult is what the agent's own contract made of it.
type TryResult struct {
	ToolResult
	// MissingSecrets are declared names for which neither the actor nor his
	// workspace has a secret, or which foreign code does not get.
	MissingSecrets []string
	// Hook is how the run of a hook is read; nil of a code tool.
	Hook *HookAnswer
}

// Check parses a code tool or a hook and never runs it. What does not parse is
// an Invalid fault at /spec/code.
func (s *Service) Check(ctx context.Context, actor capability.Actor, spec json.RawMessage) error {
	t, err := draft(actor, spec)
	if err != nil {
		return err
	}
	language, code := t.program()
	return atSpec(s.sandbox.Check(ctx, language, code))
}

// Runnable returns nil when a capability of the spec can run on this server,
// else why not and who can mend it. Foreign code needs isolation; what is no
// code needs nothing.
func (s *Service) Runnable(ctx context.Context, spec capability.Spec, foreign bool) error {
	t, ok := targetOf(spec)
	if !ok {
		return nil
	}
	language, _ := t.program()
	return s.sandbox.Available(ctx, language, foreign)
}

// Try runs a code tool or a hook once, outside any conversation, under exactly
// the contract of a call: same schema check, sandbox, time-out and result. A
// published target is resolved and looked at again here, whatever the client
// says of it.
func (s *Service) Try(ctx context.Context, actor capability.Actor, in TryInput) (TryResult, error) {
	r, err := s.prepare(ctx, actor, in)
	if err != nil {
		return TryResult{}, err
	}
	return s.try(ctx, r)
}

// prepared is a try that may begin.
type prepared struct {
	tryTarget
	input   json.RawMessage
	values  map[string]secret.Value
	missing []string
	refused error         // why the schema refuses the input; nil when it does not
	live    *sandbox.Live // nil when nobody watches
}

// prepare does everything that comes before the run.
func (s *Service) prepare(ctx context.Context, actor capability.Actor, in TryInput) (prepared, error) {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return prepared{}, err
	}
	if len(in.Input) == 0 {
		in.Input = json.RawMessage("{}")
	}
	if err := jsonx.Check(in.Input, maxArguments); err != nil {
		return prepared{}, err
	}
	t, err := s.target(ctx, actor, in)
	if err != nil {
		return prepared{}, err
	}
	r := prepared{tryTarget: t, input: in.Input, refused: t.checkInput(in.Input)}
	if r.refused == nil {
		r.values, r.missing, err = s.tryBindings(ctx, actor, t)
	}
	return r, err
}

// try runs what was prepared.
func (s *Service) try(ctx context.Context, r prepared) (TryResult, error) {
	if r.refused != nil {
		return TryResult{ToolResult: failed(r.refused)}, nil
	}
	run, err := r.run()
	if err != nil {
		return TryResult{}, err
	}
	run.Live = r.live
	began := time.Now()
	out, err := s.sandbox.Run(ctx, run)
	if err != nil {
		return TryResult{}, stoppedOr(ctx, err)
	}
	result := TryResult{ToolResult: resultOf(out), MissingSecrets: r.missing}
	result.DurationMS = time.Since(began).Milliseconds()
	if r.hook != nil {
		answer := ReadHook(r.hook, out)
		result.Hook = &answer
	}
	return result, nil
}
