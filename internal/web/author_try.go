package web

import (
	"encoding/json"
	"net/http"
	"net/url"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
)

// checkDraft says what is wrong with the form without publishing it. Asked by
// htmx, while somebody fills it in, it says only that.
func (s *Site) checkDraft(c *Ctx, a author, v views.Author) error {
	err := s.draftFaults(c, a, v.Form.Values)
	f := fault.From(err)
	switch {
	case f == nil:
		v.Outcome = &views.AuthorOutcome{Checked: true}
	case !mendable(f):
		return err
	case c.Htmx():
		v.Missing = c.showDraft(a.kind, v.Form.Values, err).Summary
	default:
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, err))
	}
	if c.Htmx() {
		v.Workspace, v.Kind, v.Base = c.Who.Workspace, string(a.kind), baseOf(a)
		return c.Render(http.StatusOK, views.AuthorLive(v))
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

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
	if err := fault.Fields(faults); err != nil || a.kind != capability.KindCode {
		return err
	}
	return s.Agent.Check(c.R.Context(), c.Actor(), p.Spec)
}

// tryDraft runs the code once and shows the form again with what came of it.
// Nothing is published.
func (s *Site) tryDraft(c *Ctx, a author, v views.Author) error {
	if a.kind != capability.KindCode {
		return fault.Missing()
	}
	r := &reading{form: v.Form.Values}
	spec, input := capability.EncodeSpec(a.codeSpec(r)), r.json("/tryInput", v.Form.Value("tryInput", ""), "{}")
	err := fault.Fields(r.faults)
	if err == nil {
		v.Outcome, err = s.tried(c, spec, input)
	}
	if f := fault.From(err); f != nil {
		if !mendable(f) {
			return err
		}
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, err))
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

func (s *Site) tried(c *Ctx, spec, input json.RawMessage) (*views.AuthorOutcome, error) {
	out, err := s.Agent.Try(c.R.Context(), c.Actor(), agent.TryInput{Spec: spec, Input: input})
	if err != nil {
		return nil, err
	}
	result := &views.AuthorOutcome{Tried: true, Missing: out.MissingSecrets}
	c.fillResult(views.Chat{}, &result.Call, out.ToolResult)
	return result, nil
}
