package web

import (
	"encoding/json"
	"net/http"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
)

// tryDraft checks the code, or runs it once, and shows the form again with what
// came of it. Nothing is published.
func (s *Site) tryDraft(c *Ctx, a author, v views.Author, op string) error {
	if a.kind != capability.KindCode {
		return fault.Missing()
	}
	r := &reading{form: v.Form.Values}
	spec := capability.EncodeSpec(a.codeSpec(r))
	var input json.RawMessage
	if op == views.OpTry {
		input = r.json("/tryInput", v.Form.Value("tryInput", ""), "{}")
	}
	err := fault.Fields(r.faults)
	if err == nil {
		v.Outcome, err = s.outcome(c, op, spec, input)
	}
	if f := fault.From(err); f != nil {
		if f.Kind != fault.Invalid && f.Kind != fault.Limited && f.Kind != fault.Unavailable {
			return err
		}
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, err))
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

func (s *Site) outcome(c *Ctx, op string, spec, input json.RawMessage) (*views.AuthorOutcome, error) {
	if op == views.OpCheck {
		return &views.AuthorOutcome{Checked: true}, s.Agent.Check(c.R.Context(), c.Actor(), spec)
	}
	out, err := s.Agent.Try(c.R.Context(), c.Actor(), agent.TryInput{Spec: spec, Input: input})
	if err != nil {
		return nil, err
	}
	result := &views.AuthorOutcome{Tried: true, Missing: out.MissingSecrets}
	c.fillResult(views.Chat{}, &result.Call, out.ToolResult)
	return result, nil
}
