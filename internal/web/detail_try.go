package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/toolschema"
	"capstore/views"
)

// tryPanel is the form of a code tool or a hook, with what was sent and what was
// wrong with it.
func (c *Ctx) tryPanel(l lens, sent url.Values, problem error) (*views.CapabilityTry, error) {
	form := show(c.Locale, sent, problem)
	t := &views.CapabilityTry{
		Action: views.TryPath(c.Who.Workspace, l.Source, l.ID, l.version.Version), Source: l.Source, ChatHref: c.chatPath(l),
		Consented: sent.Get("consent") != "", Hook: l.version.Kind == capability.KindHook,
		Tool: views.ToolForm{Name: capability.CodeToolName(l.version.Name), Raw: "{}", Summary: form.Summary},
	}
	if capability.May(c.Actor(), capability.ActRun, capability.Fresh) != nil {
		t.Reason = c.T("detail.viewer_reason")
	}
	if l.Source != c.Who.Workspace && len(capability.SecretsOf(l.version.Content.Spec)) > 0 {
		t.Consent = l.version.Digest
	}
	if err := c.tryFields(l, t, sent, form); err != nil {
		return nil, err
	}
	if sent.Has("arguments") {
		t.Tool.Raw, t.Tool.UseRaw, t.Tool.RawError = sent.Get("arguments"), true, form.Errors[""]
	}
	return t, nil
}

// tryFields fills the form: a field for each parameter of a tool, with a worked
// call where one was picked, or the event of a hook.
func (c *Ctx) tryFields(l lens, t *views.CapabilityTry, sent url.Values, form views.Form) error {
	switch spec := l.version.Content.Spec.(type) {
	case *capability.HookSpec:
		t.Tool.Raw, t.Tool.UseRaw = string(agent.SampleEvent(spec.Event)), true
		return nil
	case *capability.CodeSpec:
		schema, err := toolschema.Compile(spec.ParametersSchema)
		if err != nil {
			return err
		}
		values := sent
		if i := exampleIndex(c, len(spec.Examples)); i >= 0 && sent == nil {
			values, t.Tool.Raw = valuesOf(schema, spec.Examples[i].Input), indented(spec.Examples[i].Input)
		}
		t.Tool.Fields = c.schemaFields(schema, values, form)
		t.Tool.Examples = c.tryExamples(l, spec.Examples)
		return nil
	}
	return fault.Missing()
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
// of it in the panel, while it runs where htmx asks. Nothing of it is kept.
func (s *Site) tryCode(c *Ctx) error {
	l, err := s.look(c)
	if err != nil {
		return err
	}
	form, err := c.Form()
	if err != nil {
		return err
	}
	args, problem := tryArguments(l.version.Content.Spec, form)
	in := agent.TryInput{
		Ref: capability.Ref{Source: l.Source, ID: l.ID, Version: l.version.Version}, Input: args, ConsentDigest: form.Get("consent"),
	}
	next := views.CapabilityTabPath(c.Who.Workspace, l.Source, l.ID, views.DetailLens{Tab: views.TabTry, Version: l.version.Version})
	switch {
	case problem != nil:
	case c.Htmx():
		var id uuid.UUID
		if id, problem = s.Agent.StartTry(c.R.Context(), c.Actor(), in); problem == nil {
			look := func() (agent.Trial, error) { return s.Agent.WatchTry(c.Actor(), id) }
			return s.watch(c, look, func(t agent.Trial) templ.Component { return views.TryOutcome(*c.outcomeOf(t, "", next)) })
		}
	default:
		var result agent.TryResult
		if result, problem = s.Agent.Try(c.R.Context(), c.Actor(), in); problem == nil {
			return s.showTry(c, http.StatusOK, l, form, nil, c.outcome(result, "", next))
		}
	}
	status, again := shownAgain(problem)
	if !again {
		return problem
	}
	return s.showTry(c, status, l, form, problem, nil)
}

// showTry shows the panel with what was sent, and what was wrong with it or
// came of it.
func (s *Site) showTry(c *Ctx, status int, l lens, sent url.Values, problem error, outcome *views.AuthorOutcome) error {
	panel, err := c.tryPanel(l, sent, problem)
	if err != nil {
		return err
	}
	panel.Outcome = outcome
	v, err := s.capabilityView(c, l)
	if err != nil {
		return err
	}
	v.About, v.Try, v.Lens.Tab = nil, panel, views.TabTry
	// What is wrong stands at the fields, not where the result would be.
	c.W.Header().Set("HX-Retarget", "#try")
	c.W.Header().Set("HX-Reswap", "outerHTML")
	return c.Show(status, views.CapabilityPage(c.Page(v.Name, views.NavStore), v), views.CapabilityTryForm(*panel))
}

// tryArguments are the sent arguments: the whole as JSON, or a field each. What
// is no program is missing.
func tryArguments(spec capability.Spec, form url.Values) (json.RawMessage, error) {
	code, isCode := spec.(*capability.CodeSpec)
	if _, isHook := spec.(*capability.HookSpec); !isCode && !isHook {
		return nil, fault.Missing()
	}
	if form.Get("mode") == "json" || !isCode {
		return json.RawMessage(strings.TrimSpace(form.Get("arguments"))), nil
	}
	schema, err := toolschema.Compile(code.ParametersSchema)
	if err != nil {
		return nil, err
	}
	return readFields(schema, form)
}
