package web

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/views"
)

// pageOfApprovals is how many cards a page of the queue shows.
const pageOfApprovals = 20

func (s *Site) approvalRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/approvals", Access: Member, handler: s.approvalsPage},
		{Method: "GET", Pattern: "/{workspace}/approvals/{id}", Access: Member, handler: s.approvalPage},
		{Method: "POST", Pattern: "/{workspace}/approvals/{id}", Access: Member, handler: s.answerApproval},
		{Method: "POST", Pattern: "/{workspace}/grants/{id}/revoke", Access: Member, handler: s.revokeGrant},
	}
}

func (s *Site) approvalsPage(c *Ctx) error {
	query := c.R.URL.Query()
	page := c.Page(c.T("approval.title"), views.NavApproval)
	v := views.Approvals{Workspace: c.Who.Workspace, Tab: query.Get("tab")}
	var err error
	switch v.Tab {
	case views.TabApprovalsGrants:
		v.Grants, err = s.grantRows(c)
	case views.TabApprovalsClosed:
		err = s.fillApprovals(c, &v, agent.ApprovalsClosed, query.Get("after"))
	default:
		v.Tab = views.TabApprovalsOpen
		err = s.fillApprovals(c, &v, agent.ApprovalsOpen, query.Get("after"))
	}
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.ApprovalsPage(page, v))
}

// fillApprovals reads one page of the queue, from after the given approval.
func (s *Site) fillApprovals(c *Ctx, v *views.Approvals, state agent.ApprovalState, after string) error {
	var beyond *agent.Approval
	if after != "" {
		from, err := s.approvalNamed(c, after)
		if err != nil {
			return err
		}
		beyond = &from
	}
	rows, err := s.Agent.Approvals(c.R.Context(), c.Actor(), state, beyond, pageOfApprovals+1)
	if err != nil {
		return err
	}
	if len(rows) > pageOfApprovals {
		rows = rows[:pageOfApprovals]
		v.More = views.ApprovalsPath(v.Workspace, v.Tab, rows[len(rows)-1].ID.String())
	}
	for _, row := range rows {
		v.Cards = append(v.Cards, c.approvalCard(row, views.ApprovalsPath(v.Workspace, "", "")))
	}
	return nil
}

// approvalNamed is the actor's own approval of an id; what is none is missing.
func (s *Site) approvalNamed(c *Ctx, text string) (agent.Approval, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return agent.Approval{}, fault.Missing()
	}
	return s.Agent.Approval(c.R.Context(), c.Actor(), id)
}

// approvalCard is an approval as it is shown; next is where its answer leads
// without script.
func (c *Ctx) approvalCard(a agent.Approval, next string) views.Approval {
	ws := c.Who.Workspace
	card := views.Approval{
		Workspace: ws, ID: a.ID.String(), Title: c.chatTitle(agent.Conversation{Title: a.Title}), Href: views.ConversationPath(ws, a.Conversation.String()),
		Model: a.Model, Tool: a.Tool, RawName: otherName(a.Tool, a.Raw), Version: a.Version, Digest: a.Digest, Description: a.Description,
		Arguments: canonicalText(a.Arguments), Writes: a.Writes, Secrets: a.Secrets, Hosts: a.Hosts, Why: string(a.Why), Detail: a.Detail,
		Asked: a.AskedAt, Expires: a.ExpiresAt, Answer: string(a.Answer), Reason: a.Reason, Next: next,
	}
	card.Label, card.LabelHref = labelOf(ws, a.Key, a.Source, a.Capability)
	if a.AnsweredAt != nil {
		card.Answered = *a.AnsweredAt
	}
	if a.Open() {
		for _, answer := range a.Why.Answers() {
			card.Answers = append(card.Answers, string(answer))
		}
	}
	return card
}

// labelOf names what a key stands for, and its page if it has one.
func labelOf(ws string, key capability.Key, source, id string) (label, href string) {
	if source != "" {
		return source + "/" + id, views.CapabilityPath(ws, source, id)
	}
	if key == "" {
		return "capstore", ""
	}
	return string(key), ""
}

// canonicalText is JSON in its one order and spelling, indented, with every
// digit; what is no JSON stays as it is.
func canonicalText(raw []byte) string {
	canonical, err := jsonx.Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return indented(canonical)
}

func (s *Site) approvalPage(c *Ctx) error {
	a, err := s.approvalNamed(c, c.R.PathValue("id"))
	if err != nil {
		return err
	}
	return s.showApproval(c, http.StatusOK, a, "", "")
}

func (s *Site) showApproval(c *Ctx, status int, a agent.Approval, next, problem string) error {
	p := c.Page(c.T("approval.title"), views.NavApproval)
	card := c.approvalCard(a, next)
	card.Problem, card.Focus = problem, c.Htmx()
	return c.Show(status, views.ApprovalPage(p, card), views.ApprovalAnswered(card, c.waiting()))
}

// answerApproval takes the member's word. Who comes too late is shown what was
// decided instead.
func (s *Site) answerApproval(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	asked, err := s.approvalNamed(c, c.R.PathValue("id"))
	if err != nil {
		return err
	}
	next := Back(form.Get("next"), views.ApprovalsPath(c.Who.Workspace, "", ""))
	word := agent.Word{Answer: capability.Answer(form.Get("answer")), Reason: strings.TrimSpace(form.Get("reason"))}
	answered, err := s.Agent.Answer(c.R.Context(), c.Actor(), asked.ID, word)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) {
		if answered.ID == uuid.Nil {
			answered = asked
		}
		return s.notTaken(c, answered, next, fault.From(err))
	}
	if err != nil {
		return err
	}
	if c.Htmx() {
		return s.showApproval(c, http.StatusOK, answered, next, "")
	}
	return c.Done(next, c.T("approval.done_"+string(word.Answer), "tool", answered.Tool))
}

// notTaken shows the card again with why the answer was not taken.
func (s *Site) notTaken(c *Ctx, a agent.Approval, next string, f *fault.Fault) error {
	status, problem := http.StatusConflict, views.FaultText(c.Locale, f)
	if f.Kind == fault.Invalid {
		status = statusOf(f)
	}
	for _, field := range f.Fields {
		problem = views.FieldText(c.Locale, field)
	}
	return s.showApproval(c, status, a, next, problem)
}

func (s *Site) grantRows(c *Ctx) ([]views.GrantRow, error) {
	grants, err := s.Agent.Grants(c.R.Context(), c.Actor())
	if err != nil {
		return nil, err
	}
	var rows []views.GrantRow
	for _, g := range grants {
		row := views.GrantRow{ID: g.ID.String(), Tool: g.Tool, Version: g.Version, Since: g.CreatedAt}
		source, id := sourceOf(g.Key)
		row.Label, row.Href = labelOf(c.Who.Workspace, g.Key, source, id)
		if g.Conversation != nil {
			row.Title, row.Chat = c.chatTitle(agent.Conversation{Title: g.Title}), views.ConversationPath(c.Who.Workspace, g.Conversation.String())
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// sourceOf is the capability of the store that a key names, both "" for others.
func sourceOf(key capability.Key) (source, id string) {
	if parsed, ok := capability.ParseKey(string(key)); ok && parsed.Kind == capability.KeyCapability {
		return parsed.Source, parsed.ID
	}
	return "", ""
}

func (s *Site) revokeGrant(c *Ctx) error {
	id, err := uuid.Parse(c.R.PathValue("id"))
	if err != nil {
		return fault.Missing()
	}
	if err := s.Agent.RevokeGrant(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	return c.Done(views.ApprovalsPath(c.Who.Workspace, views.TabApprovalsGrants, ""), c.T("approval.revoked"))
}

// waiting is how many calls wait for the reader's word after he has given one.
// The answer does not fail for it.
func (c *Ctx) waiting() int {
	n, err := c.site.Agent.CountApprovals(c.R.Context(), c.Actor())
	if err != nil {
		return 0
	}
	return n
}
