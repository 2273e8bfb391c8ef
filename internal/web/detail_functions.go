package web

import (
	"encoding/json"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/toolschema"
	"capstore/views"
)

// callables lists the names under which the model, or a person, will reach the
// version once it is carried.
func callables(v catalog.VersionDetail) []views.Callable {
	switch s := v.Content.Spec.(type) {
	case *capability.CodeSpec:
		return []views.Callable{{
			Name: capability.CodeToolName(v.Name), Raw: v.Name, Description: v.Description, HasClass: true,
			Write: s.IsReadOnly == nil || !*s.IsReadOnly, Parameters: parameters(s.ParametersSchema),
		}}
	case *capability.MCPSpec:
		return serverTools(v.Name, s)
	case *capability.SkillSpec:
		return []views.Callable{{Name: capability.SkillName(v.Name), Raw: v.Name, Description: v.Description, Text: true}}
	case *capability.CommandSpec:
		return []views.Callable{{Name: "/" + capability.CommandName(v.Name), Raw: v.Name, Description: v.Description, Text: true}}
	}
	return nil
}

// callsLead says who uses the names, and when.
func (c *Ctx) callsLead(k capability.Kind) string {
	switch k {
	case capability.KindMCP:
		return c.T("detail.functions_lead") + " " + c.T("detail.parameters_learnt")
	case capability.KindSkill:
		return c.T("detail.functions_skill")
	case capability.KindCommand:
		return c.T("detail.functions_command")
	}
	return c.T("detail.functions_lead")
}

// serverTools names what the author says that the server has. What it really
// has is learnt when somebody asks it.
func serverTools(name string, s *capability.MCPSpec) []views.Callable {
	raws := slices.Clone(s.Provides)
	for tool := range s.ToolClasses {
		if !slices.Contains(raws, tool) {
			raws = append(raws, tool)
		}
	}
	names, _ := capability.ToolNames(name, raws)
	var out []views.Callable
	for _, raw := range slices.Sorted(slices.Values(raws)) {
		if names[raw] == "" {
			continue
		}
		class, known := s.ToolClasses[raw]
		out = append(out, views.Callable{
			Name: names[raw], Raw: raw, HasClass: known, Write: class != capability.ClassRead,
		})
		delete(names, raw)
	}
	return out
}

// parameters lists a schema's parameters; none where it cannot be read, which
// publishing does not let happen.
func parameters(schema json.RawMessage) []views.ParameterRow {
	compiled, err := toolschema.Compile(schema)
	if err != nil {
		return nil
	}
	var out []views.ParameterRow
	for _, p := range compiled.Parameters() {
		out = append(out, views.ParameterRow{Name: p.Name, Type: typeWord(p.Schema), Required: p.Required, Description: p.Description})
	}
	return out
}

// typeWord says in a word or two what a parameter's schema takes.
func typeWord(schema json.RawMessage) string {
	var s struct {
		Type   json.RawMessage   `json:"type"`
		Enum   []json.RawMessage `json:"enum"`
		Format string            `json:"format"`
		Items  json.RawMessage   `json:"items"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, e := range s.Enum[:min(len(s.Enum), 8)] {
			words = append(words, string(e))
		}
		if len(s.Enum) > 8 {
			words = append(words, "…")
		}
		return strings.Join(words, " | ")
	}
	kind := typeName(s.Type)
	if kind == "array" && len(s.Items) > 0 {
		if item := typeWord(s.Items); item != "" {
			return item + "[]"
		}
	}
	if s.Format != "" {
		return strings.TrimSpace(kind + " (" + s.Format + ")")
	}
	return kind
}

func typeName(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil {
		return strings.Join(many, " | ")
	}
	return ""
}
