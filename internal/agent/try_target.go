package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
	"capstore/internal/toolschema"
)

// tryTarget is the program that a try runs: a code tool's or a hook's.
type tryTarget struct {
	spec     capability.Spec
	code     *capability.CodeSpec // nil of a hook
	hook     *capability.HookSpec // nil of a code tool
	foreign  bool
	bindings map[string]string // declared → secret's name
	secrets  bool              // whether it may have any
}

// targetOf is false for a kind that has no program.
func targetOf(spec capability.Spec) (tryTarget, bool) {
	t := tryTarget{spec: spec, bindings: capability.BindByName(spec, nil)}
	switch spec := spec.(type) {
	case *capability.CodeSpec:
		t.code = spec
	case *capability.HookSpec:
		t.hook = spec
	default:
		return tryTarget{}, false
	}
	return t, true
}

func (t tryTarget) program() (sandbox.Language, string) {
	if t.hook != nil {
		return sandbox.Language(t.hook.Language), t.hook.Code
	}
	return sandbox.Language(t.code.Language), t.code.Code
}

func (s *Service) target(ctx context.Context, actor capability.Actor, in TryInput) (tryTarget, error) {
	if len(in.Spec) > 0 {
		t, err := draft(actor, in.Spec)
		t.secrets = true
		return t, err
	}
	version, err := s.catalog.Version(ctx, actor, in.Source, in.ID, in.Version)
	if err != nil {
		return tryTarget{}, err
	}
	if version.State == "blocked" {
		return tryTarget{}, fault.New(fault.Revoked, "version_blocked", "This version was blocked: %s", version.BlockedReason)
	}
	t, ok := targetOf(version.Content.Spec)
	if !ok {
		return tryTarget{}, fault.New(fault.Invalid, "not_code", "Only code tools and hooks can be tried.")
	}
	t.foreign = version.Source != actor.Workspace
	t.secrets = !t.foreign || in.ConsentDigest == version.Digest
	if carried, err := s.workspace.Carried(ctx, actor); err == nil {
		if row, ok := carried.Find(capability.CapabilityKey(version.Source, version.ID)); ok && row.Digest == version.Digest {
			t.bindings = row.Grant.SecretBindings
			t.secrets = t.secrets || row.Grant.ConsentDigest == version.Digest
		}
	}
	return t, nil
}

// draft reads the spec of a code tool or hook that is being written; its
// faults stand below /spec.
func draft(actor capability.Actor, raw json.RawMessage) (tryTarget, error) {
	if err := capability.May(actor, capability.ActWrite, capability.Ownership{Creator: true}); err != nil {
		return tryTarget{}, err
	}
	spec, faults := capability.DecodeSpec(raw)
	if len(faults) > 0 {
		return tryTarget{}, fault.Fields(faults)
	}
	t, ok := targetOf(spec)
	if !ok {
		return tryTarget{}, fault.Fields([]fault.Field{{Path: "/spec/type", Code: "not_code", Message: "Only code tools and hooks can be checked and tried."}})
	}
	return t, nil
}

// checkInput holds the input to the tool's schema. An event is whatever JSON
// it is.
func (t tryTarget) checkInput(input json.RawMessage) error {
	if t.code == nil {
		return nil
	}
	schema, err := toolschema.Compile(t.code.ParametersSchema)
	if err != nil {
		return err
	}
	return fault.Fields(schema.Validate(input))
}

// run is the target as the sandbox takes it.
func (r prepared) run() (sandbox.Run, error) {
	if r.hook != nil {
		return hookRun(r.hook, r.input, r.foreign)
	}
	return codeRun(r.code, r.input, r.values, r.foreign, nil), nil
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
