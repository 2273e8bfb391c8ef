package web

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/jsonx"
)

func (a author) hookSpec(r *reading) *capability.HookSpec {
	spec := &capability.HookSpec{
		Event: capability.Event(r.text("spec.event")), Matcher: r.text("spec.matcher"), Language: capability.Language(r.text("spec.language")),
		Code: r.form.Get("spec.code"), FailureMode: capability.FailureMode(r.text("spec.failureMode")),
		TimeoutSec: r.number("/spec/timeoutSec", r.text("spec.timeoutSec")), Leans: r.leans(),
	}
	spec.Files = a.filesSpec(r)
	if base, ok := a.baseSpec().(*capability.HookSpec); ok {
		spec.Code = keptText(base.Code, spec.Code)
	}
	return spec
}

func (a author) commandSpec(r *reading) *capability.CommandSpec {
	spec := &capability.CommandSpec{
		Template: r.form.Get("spec.template"), ArgumentHint: r.text("spec.argumentHint"),
		AllowedTools: lines(r.form.Get("spec.allowedTools")), Leans: r.leans(),
	}
	if base, ok := a.baseSpec().(*capability.CommandSpec); ok {
		spec.Template = keptText(base.Template, spec.Template)
	}
	return spec
}

func (a author) environmentSpec(r *reading) *capability.EnvironmentSpec {
	spec := &capability.EnvironmentSpec{
		Image: r.text("spec.image"), Preset: r.json("/spec/preset", r.form.Get("spec.preset"), "{}"),
		Instructions: r.form.Get("spec.instructions"), Benchmark: r.text("spec.benchmark"),
	}
	if base, ok := a.baseSpec().(*capability.EnvironmentSpec); ok {
		spec.Instructions = keptText(base.Instructions, spec.Instructions)
	}
	return spec
}

func (a author) delegationSpec(r *reading) *capability.DelegationSpec {
	spec := &capability.DelegationSpec{
		Harness: r.text("spec.harness"), Image: r.text("spec.image"), Model: r.text("spec.model"), WorkDir: r.text("spec.workDir"),
		Instructions: r.form.Get("spec.instructions"), InstructionsFile: r.text("spec.instructionsFile"),
		TTLSec: r.number("/spec/ttlSec", r.text("spec.ttlSec")),
	}
	base, _ := a.baseSpec().(*capability.DelegationSpec)
	if base != nil {
		spec.Instructions = keptText(base.Instructions, spec.Instructions)
	}
	for i, row := range readRows(r.form, "spec.env") {
		name := strings.TrimSpace(row["name"])
		at := jsonx.Pointer("/spec/env", strconv.Itoa(i), "name")
		if _, twice := spec.Env[name]; twice {
			r.add(at, "repeated", "Another variable has this name.")
			continue
		}
		if name == "" {
			r.add(at, "required", "Every variable has a name.")
			continue
		}
		if spec.Env == nil {
			spec.Env = map[string]capability.EnvValue{}
		}
		spec.Env[name] = envValue(row, base, name)
	}
	return spec
}

// envValue reads a variable: a literal, or a reference to a secret. The scope
// that means the same unsaid stays as the base has it.
func envValue(row map[string]string, base *capability.DelegationSpec, name string) capability.EnvValue {
	var was capability.EnvValue
	if base != nil {
		was = base.Env[name]
	}
	if row["from"] != fromSecret {
		return capability.EnvValue{Literal: keptText(was.Literal, row["value"])}
	}
	v := capability.EnvValue{SecretRef: strings.TrimSpace(row["secretRef"]), Scope: row["scope"]}
	if v.Scope == capability.SecretWorkspace && was.Scope != capability.SecretWorkspace {
		v.Scope = ""
	}
	return v
}

// fromSecret marks a variable that takes its value from a secret.
const fromSecret = "secret"

func hookValues(v url.Values, spec *capability.HookSpec) {
	setText(v, map[string]string{
		"spec.event": string(spec.Event), "spec.matcher": spec.Matcher, "spec.language": string(spec.Language), "spec.code": spec.Code,
		"spec.failureMode": string(spec.FailureMode), "spec.timeoutSec": numberText(spec.TimeoutSec),
	})
	leanValues(v, spec.Leans)
}

func commandValues(v url.Values, spec *capability.CommandSpec) {
	setText(v, map[string]string{
		"spec.template": spec.Template, "spec.argumentHint": spec.ArgumentHint, "spec.allowedTools": strings.Join(spec.AllowedTools, "\n"),
	})
	leanValues(v, spec.Leans)
}

func environmentValues(v url.Values, spec *capability.EnvironmentSpec) {
	setText(v, map[string]string{
		"spec.image": spec.Image, "spec.preset": presetText(spec.Preset), "spec.instructions": spec.Instructions, "spec.benchmark": spec.Benchmark,
	})
}

func presetText(preset json.RawMessage) string {
	if len(preset) == 0 {
		return ""
	}
	return indented(preset)
}

func delegationValues(v url.Values, spec *capability.DelegationSpec) {
	setText(v, map[string]string{
		"spec.harness": spec.Harness, "spec.image": spec.Image, "spec.model": spec.Model, "spec.workDir": spec.WorkDir,
		"spec.instructions": spec.Instructions, "spec.instructionsFile": spec.InstructionsFile, "spec.ttlSec": numberText(spec.TTLSec),
	})
	for i, name := range slices.Sorted(maps.Keys(spec.Env)) {
		value := spec.Env[name]
		row := map[string]string{"name": name, "from": "literal", "value": value.Literal}
		if value.SecretRef != "" {
			scope := value.Scope
			if scope == "" {
				scope = capability.SecretWorkspace
			}
			row = map[string]string{"name": name, "from": fromSecret, "secretRef": value.SecretRef, "scope": scope}
		}
		setRow(v, "spec.env", i, row)
	}
}

func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
