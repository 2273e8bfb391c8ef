package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/secret"
	"capstore/internal/toolschema"
)

// TryInput is a code tool to try: a draft's spec, or a published version.
type TryInput struct {
	Spec json.RawMessage // of a draft, which counts as the actor's own
	capability.Ref
	Input json.RawMessage // nil counts as {}
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
}

// Check parses a code tool and never runs it. What does not parse is an
// Invalid fault at /spec/code.
func (s *Service) Check(ctx context.Context, actor capability.Actor, spec json.RawMessage) error {
	code, err := draft(actor, spec)
	if err != nil {
		return err
	}
	return atSpec(s.sandbox.Check(ctx, sandbox.Language(code.Language), code.Code))
}

// Runnable returns nil when a capability of the spec can run on this server,
// else why not and who can mend it. Foreign code needs isolation; what is no
// code needs nothing.
func (s *Service) Runnable(ctx context.Context, spec capability.Spec, foreign bool) error {
	code, ok := spec.(*capability.CodeSpec)
	if !ok {
		return nil
	}
	return s.sandbox.Available(ctx, sandbox.Language(code.Language), foreign)
}

// Try runs a code tool once, outside any conversation, under exactly the
// contract of a call: same schema check, sandbox, time-out and result. A
// published target is resolved and looked at again here, whatever the client
// says of it.
func (s *Service) Try(ctx context.Context, actor capability.Actor, in TryInput) (TryResult, error) {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return TryResult{}, err
	}
	if len(in.Input) == 0 {
		in.Input = json.RawMessage("{}")
	}
	if err := jsonx.Check(in.Input, maxArguments); err != nil {
		return TryResult{}, err
	}
	t, err := s.target(ctx, actor, in)
	if err != nil {
		return TryResult{}, err
	}
	if refused := t.checkInput(in.Input); refused != nil {
		return TryResult{ToolResult: failed(refused)}, nil
	}
	values, missing, err := s.tryBindings(ctx, actor, t)
	if err != nil {
		return TryResult{}, err
	}
	began := time.Now()
	out, err := s.sandbox.Run(ctx, codeRun(t.spec, in.Input, values, t.foreign, nil))
	if err != nil {
		return TryResult{}, stoppedOr(ctx, err)
	}
	result := resultOf(out)
	result.DurationMS = time.Since(began).Milliseconds()
	return TryResult{ToolResult: result, MissingSecrets: missing}, nil
}

// tryTarget is the code that a try runs.
type tryTarget struct {
	spec     *capability.CodeSpec
	foreign  bool
	bindings map[string]string // declared → secret's name
	secrets  bool              // whether it may have any
}

func (s *Service) target(ctx context.Context, actor capability.Actor, in TryInput) (tryTarget, error) {
	if len(in.Spec) > 0 {
		spec, err := draft(actor, in.Spec)
		return tryTarget{spec: spec, bindings: capability.BindByName(spec, nil), secrets: true}, err
	}
	version, err := s.catalog.Version(ctx, actor, in.Source, in.ID, in.Version)
	if err != nil {
		return tryTarget{}, err
	}
	if version.State == "blocked" {
		return tryTarget{}, fault.New(fault.Revoked, "version_blocked", "This version was blocked: %s", version.BlockedReason)
	}
	spec, ok := version.Content.Spec.(*capability.CodeSpec)
	if !ok {
		return tryTarget{}, fault.New(fault.Invalid, "not_code", "Only code tools can be tried.")
	}
	t := tryTarget{spec: spec, foreign: version.Source != actor.Workspace, bindings: capability.BindByName(spec, nil)}
	t.secrets = !t.foreign || in.ConsentDigest == version.Digest
	if carried, err := s.workspace.Carried(ctx, actor); err == nil {
		if row, ok := carried.Find(capability.CapabilityKey(version.Source, version.ID)); ok && row.Digest == version.Digest {
			t.bindings = row.Grant.SecretBindings
			t.secrets = t.secrets || row.Grant.ConsentDigest == version.Digest
		}
	}
	return t, nil
}

// draft reads the spec of a code tool that is being written; its faults stand
// below /spec.
func draft(actor capability.Actor, raw json.RawMessage) (*capability.CodeSpec, error) {
	if err := capability.May(actor, capability.ActWrite, capability.Ownership{Creator: true}); err != nil {
		return nil, err
	}
	spec, faults := capability.DecodeSpec(raw)
	if len(faults) > 0 {
		return nil, fault.Fields(faults)
	}
	code, ok := spec.(*capability.CodeSpec)
	if !ok {
		return nil, fault.Fields([]fault.Field{{Path: "/spec/type", Code: "not_code", Message: "Only code tools can be checked and tried."}})
	}
	return code, nil
}

func (t tryTarget) checkInput(input json.RawMessage) error {
	schema, err := toolschema.Compile(t.spec.ParametersSchema)
	if err != nil {
		return err
	}
	return fault.Fields(schema.Validate(input))
}

// tryBindings resolves what the target declares. What is missing does not
// keep it from running: the answer says what it ran without.
func (s *Service) tryBindings(ctx context.Context, actor capability.Actor, t tryTarget) (map[string]secret.Value, []string, error) {
	declared := capability.SecretsOf(t.spec)
	if len(declared) == 0 {
		return nil, nil, nil
	}
	found := map[string]secret.Value{}
	if t.secrets {
		var err error
		found, _, err = s.secrets.Resolve(ctx, actor.Workspace, actor.Subject, slices.Sorted(maps.Values(t.bindings)))
		if err != nil {
			return nil, nil, err
		}
	}
	values, missing := map[string]secret.Value{}, []string{}
	for _, d := range declared {
		if v, ok := found[t.bindings[d.Name]]; ok {
			values[d.Name] = v
		} else {
			missing = append(missing, d.Name)
		}
	}
	return values, missing, nil
}

// atSpec moves a fault of the code to where a request body has it.
func atSpec(err error) error {
	f := fault.From(err)
	if f == nil || f.Kind != fault.Invalid {
		return err
	}
	for i := range f.Fields {
		f.Fields[i].Path = "/spec" + f.Fields[i].Path
	}
	return f
}
