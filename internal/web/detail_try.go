package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/toolschema"
	"capstore/views"
)

// tryPanel is the form of a code tool, with what was sent and what was wrong
// with it.
func (c *Ctx) tryPanel(l lens, sent url.Values, problem error) (*views.CapabilityTry, error) {
	spec, ok := l.version.Content.Spec.(*capability.CodeSpec)
	if !ok {
		return nil, fault.Missing()
	}
	schema, err := toolschema.Compile(spec.ParametersSchema)
	if err != nil {
		return nil, err
	}
	form := show(c.Locale, sent, problem)
	t := &views.CapabilityTry{
		Action: views.TryPath(c.Who.Workspace, l.Source, l.ID, l.version.Version), Source: l.Source, ChatHref: c.chatPath(l),
		Consented: sent.Get("consent") != "",
		Tool:      views.ToolForm{Name: capability.CodeToolName(l.version.Name), Raw: "{}", Summary: form.Summary},
	}
	if capability.May(c.Actor(), capability.ActRun, capability.Fresh) != nil {
		t.Reason = c.T("detail.viewer_reason")
	}
	if l.Source != c.Who.Workspace && len(spec.RequiredSecrets) > 0 {
		t.Consent = l.version.Digest
	}
	values := sent
	if i := exampleIndex(c, len(spec.Examples)); i >= 0 && sent == nil {
		values, t.Tool.Raw = valuesOf(schema, spec.Examples[i].Input), indented(spec.Examples[i].Input)
	}
	if sent.Has("arguments") {
		t.Tool.Raw, t.Tool.UseRaw, t.Tool.RawError = sent.Get("arguments"), true, form.Errors[""]
	}
	t.Tool.Fields = c.schemaFields(schema, values, form)
	t.Tool.Examples = c.tryExamples(l, spec.Examples)
	return t, nil
}

func (c *Ctx) tryExamples(l lens, examples []capability.Example) []views.ToolExample {
	at := views.DetailLens{}
	if l.Latest == nil || l.version.Version != l.Latest.Version {
		at.Version = l.version.Version
	}
	var out []views.ToolExample
	for i, e := range examples {
		out = append(out, views.ToolExample{
			Name: cmp.Or(e.Name, c.T("chat.example", "n", i+1)), Note: e.Note,
			Href: views.TryExamplePath(c.Who.Workspace, l.Source, l.ID, at, strconv.Itoa(i)),
		})
	}
	return out
}

// tryCode runs the version once with the sent arguments and shows what came
// of it in the panel. Nothing of it is kept.
func (s *Site) tryCode(c *Ctx) error {
	l, err := s.look(c)
	if err != nil {
		return err
	}
	form, err := c.Form()
	if err != nil {
		return err
	}
	spec, ok := l.version.Content.Spec.(*capability.CodeSpec)
	if !ok {
		return fault.Missing()
	}
	args, problem := tryArguments(spec, form)
	var result agent.TryResult
	if problem == nil {
		result, problem = s.Agent.Try(c.R.Context(), c.Actor(), agent.TryInput{
			Ref: capability.Ref{Source: l.Source, ID: l.ID, Version: l.version.Version}, Input: args, ConsentDigest: form.Get("consent"),
		})
	}
	status := http.StatusOK
	if problem != nil {
		var again bool
		if status, again = shownAgain(problem); !again {
			return problem
		}
	}
	panel, err := c.tryPanel(l, form, problem)
	if err != nil {
		return err
	}
	if problem == nil {
		panel.Missing, panel.Result = result.MissingSecrets, &views.ChatCall{Name: panel.Tool.Name}
		c.fillResult(views.Chat{Workspace: c.Who.Workspace}, panel.Result, result.ToolResult)
	}
	return s.showTry(c, status, l, panel)
}

func (s *Site) showTry(c *Ctx, status int, l lens, panel *views.CapabilityTry) error {
	v, err := s.capabilityView(c, l)
	if err != nil {
		return err
	}
	v.About, v.Try, v.Lens.Tab = nil, panel, views.TabTry
	return c.Show(status, views.CapabilityPage(c.Page(v.Name, views.NavStore), v), views.CapabilityTryForm(*panel))
}

// tryArguments are the sent arguments: the whole as JSON, or a field each.
func tryArguments(spec *capability.CodeSpec, form url.Values) (json.RawMessage, error) {
	if form.Get("mode") == "json" {
		return json.RawMessage(strings.TrimSpace(form.Get("arguments"))), nil
	}
	schema, err := toolschema.Compile(spec.ParametersSchema)
	if err != nil {
		return nil, err
	}
	return readFields(schema, form)
}
