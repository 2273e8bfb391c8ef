package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

func (s *Site) policyRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/settings/policies", Access: Member, handler: s.policiesPage},
		{Method: "GET", Pattern: "/{workspace}/settings/policies/new", Access: Member, handler: s.newPolicyPage},
		{Method: "POST", Pattern: "/{workspace}/settings/policies/new", Access: Member, handler: s.newPolicy},
		{Method: "GET", Pattern: "/{workspace}/settings/policies/{number}", Access: Member, handler: s.policyPage},
		{Method: "POST", Pattern: "/{workspace}/settings/policies/{number}", Access: Member, handler: s.setPolicy},
		{Method: "POST", Pattern: "/{workspace}/settings/policies/{number}/delete", Access: Member, handler: s.deletePolicy},
	}
}

func (s *Site) policiesPage(c *Ctx) error {
	now, err := s.Workspace.Config(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	v := views.Policies{
		Workspace: c.Who.Workspace, Version: now.Version, Mode: string(now.Config.WithDefaults().PermissionMode), Reason: c.policyReason(),
	}
	for i, rule := range now.Config.Policy {
		v.Rules = append(v.Rules, c.policyLine(i, rule))
	}
	return c.Render(http.StatusOK, views.PoliciesPage(c.Page(c.T("settings.policies"), views.NavSettings), v))
}

// policyReason says why the reader cannot change the rules and who can; "" when
// he can.
func (c *Ctx) policyReason() string {
	if capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}) != nil {
		return c.T("policy.reason")
	}
	return ""
}

func (c *Ctx) policyLine(i int, r capability.PolicyRule) views.PolicyLine {
	line := views.PolicyLine{Number: strconv.Itoa(i + 1), Effect: string(r.Effect), Match: r.Match, Tool: r.Tool, Note: r.Note}
	for _, condition := range r.Arguments {
		line.Conditions = append(line.Conditions, c.T("policy.op_"+string(condition.Op)+"_says", "path", condition.Path, "value", string(condition.Value)))
	}
	return line
}

// formOfRule is the rule as its form holds it.
func formOfRule(r capability.PolicyRule) url.Values {
	v := url.Values{"effect": {string(r.Effect)}, "match": {r.Match}, "tool": {r.Tool}, "note": {r.Note}}
	for i, condition := range r.Arguments {
		at := "arguments." + strconv.Itoa(i)
		v.Set(at+".path", condition.Path)
		v.Set(at+".op", string(condition.Op))
		v.Set(at+".value", typedValue(condition.Value))
	}
	return v
}

// typedValue is a condition's value as one types it: a text without quotes,
// unless it would then be read as something else.
func typedValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(valueOf(text)) != text && text != "" {
		return text
	}
	return string(raw)
}

// valueOf reads what was typed as a condition's value: JSON where it is JSON,
// else a text.
func valueOf(typed string) json.RawMessage {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return nil
	}
	if jsonx.Check([]byte(typed), 0) == nil {
		return json.RawMessage(typed)
	}
	raw, err := json.Marshal(typed)
	if err != nil {
		return nil // a string always encodes
	}
	return raw
}

// ruleOf reads the form. A condition without a path is left out.
func ruleOf(form url.Values) capability.PolicyRule {
	r := capability.PolicyRule{
		Effect: capability.PolicyEffect(form.Get("effect")), Match: strings.TrimSpace(form.Get("match")),
		Tool: strings.TrimSpace(form.Get("tool")), Note: strings.TrimSpace(form.Get("note")),
	}
	for i := 0; form.Has("arguments." + strconv.Itoa(i) + ".path"); i++ {
		at := "arguments." + strconv.Itoa(i)
		condition := capability.ArgumentCondition{Path: strings.TrimSpace(form.Get(at + ".path")), Op: capability.ConditionOp(form.Get(at + ".op"))}
		if condition.Path == "" && strings.TrimSpace(form.Get(at+".value")) == "" {
			continue
		}
		if condition.Path != "" && !strings.HasPrefix(condition.Path, "/") {
			condition.Path = "/" + condition.Path
		}
		if condition.Op.TakesValue() {
			condition.Value = valueOf(form.Get(at + ".value"))
		}
		r.Arguments = append(r.Arguments, condition)
	}
	return r
}

func (s *Site) newPolicyPage(c *Ctx) error {
	if err := capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	rule := capability.PolicyRule{Effect: capability.PolicyAsk, Match: c.R.URL.Query().Get("match")}
	return s.showPolicy(c, http.StatusOK, "", formOfRule(rule), nil)
}

func (s *Site) policyPage(c *Ctx) error {
	now, err := s.Workspace.Config(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	i, err := ruleAt(c.R.PathValue("number"), now.Config.Policy)
	if err != nil {
		return err
	}
	return s.showPolicy(c, http.StatusOK, c.R.PathValue("number"), formOfRule(now.Config.Policy[i]), nil)
}

// ruleAt is the place that a number of an address stands for.
func ruleAt(number string, rules []capability.PolicyRule) (int, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(rules) {
		return 0, fault.Missing()
	}
	return n - 1, nil
}

// showPolicy shows the form of a rule, of a new one without a number, as it
// was sent and with what was wrong.
func (s *Site) showPolicy(c *Ctx, status int, number string, sent url.Values, problem error) error {
	now, err := s.Workspace.Config(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	title := c.T("policy.new")
	if number != "" {
		title = c.T("policy.change", "n", number)
	}
	p := c.Page(title, views.NavSettings)
	p.Crumbs = []ui.Crumb{{Label: c.T("settings.policies"), Href: views.PoliciesPath(c.Who.Workspace)}, {Label: title}}
	return c.Render(status, views.PolicyPage(p, views.PolicyForm{
		Workspace: c.Who.Workspace, Number: number, Version: now.Version, Form: show(c.Locale, sent, problem), Reason: c.policyReason(),
	}))
}

func (s *Site) newPolicy(c *Ctx) error {
	return s.changePolicies(c, "policy.added", func(rules []capability.PolicyRule, _ int, form url.Values) ([]capability.PolicyRule, int) {
		return append(rules, ruleOf(form)), len(rules)
	})
}

func (s *Site) setPolicy(c *Ctx) error {
	return s.changePolicies(c, "policy.changed", func(rules []capability.PolicyRule, at int, form url.Values) ([]capability.PolicyRule, int) {
		rules[at] = ruleOf(form)
		return rules, at
	})
}

func (s *Site) deletePolicy(c *Ctx) error {
	return s.changePolicies(c, "policy.deleted", func(rules []capability.PolicyRule, at int, _ url.Values) ([]capability.PolicyRule, int) {
		return slices.Delete(rules, at, at+1), at
	})
}

// changePolicies cuts a new version of the agent's settings with other rules.
// change is given the place of the rule that the address names, and returns the
// place of the one that the form is about.
func (s *Site) changePolicies(c *Ctx, done string, change func(rules []capability.PolicyRule, at int, form url.Values) ([]capability.PolicyRule, int)) error {
	if err := capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}); err != nil {
		return err
	}
	form, err := c.Form()
	if err != nil {
		return err
	}
	meant, err := s.meantRule(c, form.Get("version"))
	if err != nil {
		return err
	}
	at := 0
	_, err = s.Workspace.Change(c.R.Context(), c.Actor(), workspace.AnyVersion, "", func(config *capability.AgentConfig) error {
		if meant != nil {
			if at = slices.IndexFunc(config.Policy, func(r capability.PolicyRule) bool { return sameRule(r, *meant) }); at < 0 {
				return fault.New(fault.Conflict, "policy_gone", "This rule was changed or removed since you opened it.").
					Do("Look at the present rules, then make your change again.")
			}
		}
		config.Policy, at = change(config.Policy, at, form)
		return nil
	})
	if err == nil {
		return c.Done(views.PoliciesPath(c.Who.Workspace), c.T(done))
	}
	err = withoutPrefix(err, "/policy/"+strconv.Itoa(at))
	status, again := shownAgain(err)
	if fault.HasCode(err, "policy_gone") && form.Has("effect") {
		status, again = http.StatusConflict, true
	}
	if again {
		return s.showPolicy(c, status, c.R.PathValue("number"), form, err)
	}
	return err
}

// meantRule is the rule that the address names in the version of the settings
// that its form came from, nil for a new rule: by now it may stand elsewhere.
func (s *Site) meantRule(c *Ctx, version string) (*capability.PolicyRule, error) {
	number := c.R.PathValue("number")
	if number == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(version)
	if err != nil {
		return nil, fault.New(fault.Malformed, "bad_form", "The form could not be read.").Because(err)
	}
	then, err := s.Workspace.ConfigAt(c.R.Context(), c.Actor(), n)
	if err != nil {
		return nil, err
	}
	i, err := ruleAt(number, then.Config.Policy)
	if err != nil {
		return nil, err
	}
	return &then.Config.Policy[i], nil
}

func sameRule(a, b capability.PolicyRule) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// withoutPrefix is the error with the paths of its fields taken from the
// service's to the form's.
func withoutPrefix(err error, prefix string) error {
	f := *fault.From(err)
	f.Fields = slices.Clone(f.Fields)
	for i := range f.Fields {
		f.Fields[i].Path = strings.TrimPrefix(f.Fields[i].Path, prefix)
	}
	return &f
}
