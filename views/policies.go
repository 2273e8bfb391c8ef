package views

import (
	"context"
	"strconv"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Policies are the rules on what the workspace's agent may run.
type Policies struct {
	Workspace string
	Version   int // of the agent's settings
	Mode      string
	Rules     []PolicyLine
	// Reason says why the viewer cannot change them and who can; "" when he can.
	Reason string
}

// PolicyLine is one rule in words.
type PolicyLine struct {
	Number     string
	Effect     string
	Match      string
	Tool       string
	Conditions []string
	Note       string
}

func (r PolicyLine) badge(ctx context.Context) ui.BadgeArgs {
	tone := map[string]ui.Tone{"deny": ui.Danger, "ask": ui.Warning, "guard": ui.Warning, "allow": ui.Success}[r.Effect]
	return ui.BadgeArgs{Label: i18n.T(ctx, "policy.effect_"+r.Effect), Tone: tone}
}

// PolicyForm is where a rule is written or changed.
type PolicyForm struct {
	Workspace string
	Number    string // "" for a new rule
	Version   int
	Form      Form
	Reason    string
}

func (v PolicyForm) action() string {
	if v.Number == "" {
		return NewPolicyPath(v.Workspace, "")
	}
	return PolicyPath(v.Workspace, v.Number)
}

var (
	policyEffects = []string{"deny", "ask", "guard", "allow"}
	conditionOps  = []string{"equals", "notEquals", "matches", "in", "exists", "absent", "less", "greater"}
)

func (v PolicyForm) effects(ctx context.Context) []ui.Option {
	var out []ui.Option
	for _, effect := range policyEffects {
		out = append(out, ui.Option{
			Value: effect, Label: i18n.T(ctx, "policy.effect_"+effect), Help: i18n.T(ctx, "policy.effect_"+effect+"_help"),
			Selected: v.Form.Value("effect", "ask") == effect,
		})
	}
	return out
}

// spareConditions is how many empty lines the form holds.
const spareConditions = 2

// conditions are the names of the form's lines, with empty ones at the end.
func (v PolicyForm) conditions() []string {
	n := 0
	for v.Form.Value("arguments."+strconv.Itoa(n)+".path", "") != "" || v.Form.Value("arguments."+strconv.Itoa(n)+".value", "") != "" {
		n++
	}
	out := make([]string, n+spareConditions)
	for i := range out {
		out[i] = "arguments." + strconv.Itoa(i)
	}
	return out
}

func (v PolicyForm) ops(ctx context.Context, name string) []ui.Option {
	var out []ui.Option
	for _, op := range conditionOps {
		out = append(out, ui.Option{Value: op, Label: i18n.T(ctx, "policy.op_"+op), Selected: v.Form.Value(name+".op", "equals") == op})
	}
	return out
}

func (v PolicyForm) conditionField(ctx context.Context, name, part string) ui.Field {
	f := v.Form.Field(name+"."+part, i18n.T(ctx, "policy."+part))
	f.Optional, f.Unmarked = true, true
	return f
}
