package web

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/views"
)

// draftValues fills the form from a version's content.
func draftValues(content capability.Content) url.Values {
	v := url.Values{"name": {content.Name}, "description": {content.Description}, "bump": {capability.BumpPatch}}
	switch spec := content.Spec.(type) {
	case *capability.CodeSpec:
		codeValues(v, spec)
	case *capability.SkillSpec:
		skillValues(v, spec)
	case *capability.MCPSpec:
		mcpValues(v, spec)
	case *capability.HookSpec:
		hookValues(v, spec)
	case *capability.CommandSpec:
		commandValues(v, spec)
	case *capability.EnvironmentSpec:
		environmentValues(v, spec)
	case *capability.DelegationSpec:
		delegationValues(v, spec)
	}
	return v
}

func codeValues(v url.Values, spec *capability.CodeSpec) {
	setText(v, map[string]string{
		"spec.language": string(spec.Language), "spec.code": spec.Code, "spec.timeoutSec": numberText(spec.TimeoutSec),
		"spec.image": spec.Image, "spec.egress": strings.Join(spec.Egress, "\n"),
	})
	if spec.IsReadOnly != nil {
		v.Set("spec.isReadOnly", strconv.FormatBool(*spec.IsReadOnly))
	}
	schemaValues(v, spec.ParametersSchema)
	secretValues(v, spec.RequiredSecrets)
	for i, e := range spec.Examples {
		setRow(v, "spec.examples", i, map[string]string{"name": e.Name, "input": indented(e.Input), "note": e.Note})
	}
	if len(spec.Examples) > 0 {
		v.Set("tryInput", indented(spec.Examples[0].Input))
	}
	leanValues(v, spec.Leans)
}

func skillValues(v url.Values, spec *capability.SkillSpec) {
	setText(v, map[string]string{
		"spec.instructions": spec.Instructions, "spec.license": spec.License, "spec.compatibility": spec.Compatibility,
		"spec.allowedTools": spec.AllowedTools,
	})
	for i, key := range slices.Sorted(maps.Keys(spec.Metadata)) {
		setRow(v, "spec.metadata", i, map[string]string{"key": key, "value": spec.Metadata[key]})
	}
	leanValues(v, spec.Leans)
}

func mcpValues(v url.Values, spec *capability.MCPSpec) {
	auth := spec.Auth
	if auth == "" {
		auth = capability.AuthNone
	}
	setText(v, map[string]string{
		"transport": "url", "spec.url": spec.URL, "spec.image": spec.Image, "spec.args": strings.Join(spec.Args, "\n"),
		"spec.auth": string(auth), "spec.write": onOff(spec.Write), "spec.provides": toolLines(spec),
	})
	if spec.Image != "" {
		v.Set("transport", "image")
	}
	secretValues(v, spec.RequiredSecrets)
	for i, s := range spec.Settings {
		setRow(v, "spec.settings", i, map[string]string{
			"name": s.Name, "description": s.Description, "default": s.Default, "required": onOff(s.Required),
		})
	}
	leanValues(v, spec.Leans)
}

// toolLines writes one tool per line, with its class where the author gave one.
func toolLines(spec *capability.MCPSpec) string {
	tools := slices.Clone(spec.Provides)
	for _, tool := range slices.Sorted(maps.Keys(spec.ToolClasses)) {
		if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	for i, tool := range tools {
		tools[i] = strings.TrimSpace(tool + " " + string(spec.ToolClasses[tool]))
	}
	return strings.Join(tools, "\n")
}

func secretValues(v url.Values, secrets []capability.RequiredSecret) {
	for i, s := range secrets {
		setRow(v, "spec.requiredSecrets", i, map[string]string{
			"name": s.Name, "description": s.Description, "header": s.Header, "scheme": s.Scheme, "env": s.Env,
		})
	}
}

func leanValues(v url.Values, leans capability.Leans) {
	setText(v, map[string]string{"spec.serves": strings.Join(leans.Serves, " "), "spec.requires": strings.Join(leans.Requires, " ")})
}

func setText(v url.Values, fields map[string]string) {
	for name, value := range fields {
		if value != "" {
			v.Set(name, value)
		}
	}
}

// setRow fills one row. Its first empty field is kept too, so that the row is
// there even when nothing stands in it.
func setRow(v url.Values, list string, row int, fields map[string]string) {
	for field, value := range fields {
		if value != "" || !flags[field] {
			v.Set(views.RowName(list, row, field), value)
		}
	}
}

// flags are the fields of a row that are boxes: there when ticked.
var flags = map[string]bool{"executable": true, "required": true}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return ""
}

// rawOf is a skill's original SKILL.md; "" when it has none or is no skill.
func rawOf(content capability.Content) string {
	if spec, ok := content.Spec.(*capability.SkillSpec); ok {
		return spec.Raw
	}
	return ""
}
