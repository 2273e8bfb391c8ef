package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// mendable reports whether the sender of the form can do something about it.
func mendable(f *fault.Fault) bool {
	return f.Kind == fault.Invalid || f.Kind == fault.Limited || f.Kind == fault.Unavailable
}

// draftFaults is everything that can be told to be wrong before publishing.
func (s *Site) draftFaults(c *Ctx, a author, form url.Values) error {
	p, faults := a.publication(form)
	if len(faults) == 0 {
		r := &reading{form: form}
		r.alsoKernel(p)
		faults = r.faults
	}
	if err := fault.Fields(faults); err != nil || !a.runs() {
		return err
	}
	return s.Agent.Check(c.R.Context(), c.Actor(), p.Spec)
}

// runs reports whether the kind is a program.
func (a author) runs() bool { return a.kind == capability.KindCode || a.kind == capability.KindHook }

// trial reads what is to be tried: the spec, and the input that stands in the
// form or in one of its examples.
func (a author) trial(form url.Values, example string) (agent.TryInput, error) {
	r := &reading{form: form}
	in := agent.TryInput{Spec: capability.EncodeSpec(a.readSpec(r))}
	text, at := form.Get("tryInput"), "/tryInput"
	if rows := readRows(form, "spec.examples"); example != "" {
		row := numberOf(example)
		if row < 0 || row >= len(rows) {
			return in, fault.Missing()
		}
		text, at = rows[row]["input"], "/spec/examples/"+example+"/input"
	}
	in.Input = r.json(at, text, "{}")
	return in, fault.Fields(r.faults)
}

// tryDraft tries the draft and shows the form again with what came of it.
// Nothing is published.
func (s *Site) tryDraft(c *Ctx, a author, v views.Author, example string) error {
	var err error
	v.Outcome, err = s.tried(c, a, v.Form.Values, example)
	if err != nil {
		if !mendable(fault.From(err)) {
			return err
		}
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, err))
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

// tried runs the draft to its end.
func (s *Site) tried(c *Ctx, a author, form url.Values, example string) (*views.AuthorOutcome, error) {
	switch {
	case a.kind == capability.KindMCP:
		return s.probed(c, a, form)
	case !a.runs():
		return nil, fault.Missing()
	}
	in, err := a.trial(form, example)
	if err != nil {
		return nil, err
	}
	out, err := s.Agent.Try(c.R.Context(), c.Actor(), in)
	if err != nil {
		return nil, err
	}
	return c.outcome(out, c.exampleName(form, example), s.keptPath(c, a, form)), nil
}

// outcome is what came of a run, for the page.
func (c *Ctx) outcome(out agent.TryResult, example, next string) *views.AuthorOutcome {
	result := &views.AuthorOutcome{Tried: true, Missing: c.missingSecrets(out.MissingSecrets, next), Example: example, Call: &views.ChatCall{ID: "try-call"}}
	c.fillResult("", result.Call, out.ToolResult)
	if out.Hook != nil {
		result.Hook = c.hookAnswer(*out.Hook)
	}
	return result
}

// missingSecrets are the names that a run went without, each with where one is
// added, and where the reader then goes on.
func (c *Ctx) missingSecrets(names []string, next string) []views.MissingSecret {
	var out []views.MissingSecret
	for _, name := range names {
		out = append(out, views.MissingSecret{Name: name, Href: views.NewSecretPath(c.Who.Workspace, name, true, next)})
	}
	return out
}

func (c *Ctx) hookAnswer(h agent.HookAnswer) *views.HookOutcome {
	out := &views.HookOutcome{Decision: string(h.Decision), Reason: h.Reason}
	if h.Arguments != nil {
		out.Arguments = indented(h.Arguments)
	}
	if h.Failure != nil {
		out.Failure = views.FaultText(c.Locale, h.Failure)
	}
	return out
}

// probed asks the draft's server for its tools.
func (s *Site) probed(c *Ctx, a author, form url.Values) (*views.AuthorOutcome, error) {
	r := &reading{form: form}
	spec := capability.EncodeSpec(a.readSpec(r))
	if err := fault.Fields(r.faults); err != nil {
		return nil, err
	}
	seen, err := s.Agent.ProbeDraft(c.R.Context(), c.Actor(), spec)
	if err != nil {
		return nil, err
	}
	probe := &views.AuthorProbe{Trouble: seen.Trouble, Notes: seen.Notes}
	listed := providedTools(form)
	for _, t := range seen.Tools {
		probe.Tools = append(probe.Tools, views.ProbedTool{Name: t.Name, Text: t.Description, ReadOnly: t.ReadOnly, Refused: t.Refused, New: !listed[t.Name] && t.Refused == ""})
	}
	return &views.AuthorOutcome{Probe: probe, Missing: c.missingSecrets(seen.MissingSecrets, s.keptPath(c, a, form))}, nil
}

// takeTools puts the tools that the server names into the list of the form, with
// its own word on those that only read.
func (s *Site) takeTools(c *Ctx, a author, v views.Author) error {
	out, err := s.tried(c, a, v.Form.Values, "")
	if err != nil {
		if !mendable(fault.From(err)) {
			return err
		}
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, err))
	}
	text := strings.TrimRight(v.Form.Values.Get("spec.provides"), "\n ")
	if out.Probe != nil {
		for _, t := range out.Probe.Tools {
			if !t.New {
				continue
			}
			line := t.Name
			if t.ReadOnly {
				line += " " + string(capability.ClassRead)
			}
			text = strings.TrimLeft(text+"\n"+line, "\n")
		}
	}
	v.Form.Values.Set("spec.provides", text)
	v.Form.Values.Set("step", views.StepWrite)
	return s.showAuthor(c, http.StatusOK, a, v)
}

// providedTools are the tools that the form lists.
func providedTools(form url.Values) map[string]bool {
	out := map[string]bool{}
	for _, line := range lines(form.Get("spec.provides")) {
		tool, _ := toolLine(line)
		out[tool] = true
	}
	return out
}

// watchDraft tries the draft and streams what it prints.
func (s *Site) watchDraft(c *Ctx, a author, v views.Author, example string) error {
	if a.kind == capability.KindMCP {
		var err error
		if v.Outcome, err = s.probed(c, a, v.Form.Values); err != nil {
			return s.outcomeFaults(c, a, v, err)
		}
		return c.Render(http.StatusOK, views.AuthorOutcomeBox(c.aboutAuthor(a, v)))
	}
	if !a.runs() {
		return fault.Missing()
	}
	in, err := a.trial(v.Form.Values, example)
	var id uuid.UUID
	if err == nil {
		id, err = s.Agent.StartTry(c.R.Context(), c.Actor(), in)
	}
	if err != nil {
		return s.outcomeFaults(c, a, v, err)
	}
	look := func() (agent.Trial, error) { return s.Agent.WatchTry(c.Actor(), id) }
	return s.watch(c, look, func(t agent.Trial) templ.Component {
		v.Outcome = c.outcomeOf(t, c.exampleName(v.Form.Values, example), s.keptPath(c, a, v.Form.Values))
		return views.AuthorOutcomeBox(c.aboutAuthor(a, v))
	})
}

// exampleName is what the example of the number is called; "" for none.
func (c *Ctx) exampleName(form url.Values, number string) string {
	if rows, row := readRows(form, "spec.examples"), numberOf(number); row >= 0 && row < len(rows) {
		return cmp.Or(strings.TrimSpace(rows[row]["name"]), c.T("chat.example", "n", row+1))
	}
	return ""
}

// outcomeOf is a try that is watched, as it stands.
func (c *Ctx) outcomeOf(t agent.Trial, example, next string) *views.AuthorOutcome {
	switch {
	case !t.Ended():
		return &views.AuthorOutcome{Running: &views.RunningTry{
			Stop: views.StopTryPath(c.Who.Workspace, t.ID.String()), Log: strings.TrimSpace(t.Stdout), Stderr: strings.TrimSpace(t.Stderr),
		}}
	case t.Err != nil:
		return &views.AuthorOutcome{Trouble: c.refusal(t.Err)}
	}
	return c.outcome(t.Result, example, next)
}

// outcomeFaults says in place of a result why there is none.
func (s *Site) outcomeFaults(c *Ctx, a author, v views.Author, err error) error {
	if !mendable(fault.From(err)) {
		return err
	}
	v.Missing = c.showDraft(v.Form.Values, err).Summary
	return c.Render(http.StatusOK, views.AuthorOutcomeBox(c.aboutAuthor(a, v)))
}

// stopTry ends a try that its starter watches. The page of the try then says so
// by itself.
func (s *Site) stopTry(c *Ctx) error {
	id, err := uuid.Parse(c.R.URL.Query().Get("try"))
	if err != nil {
		return fault.Missing()
	}
	if err := s.Agent.StopTry(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	if !c.Htmx() {
		return c.Redirect(views.MinePath(c.Who.Workspace))
	}
	return c.Render(http.StatusOK, ui.ToastSwap(ui.ToastArgs{Tone: ui.Success, Text: c.T("author.stopped")}))
}
