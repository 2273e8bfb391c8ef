package ops

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

// Approval is a call that waits, or waited, for its member's word.
type Approval struct {
	ID           string              `json:"id"`
	Conversation string              `json:"conversation"`
	Turn         string              `json:"turn"`
	Model        string              `json:"model,omitempty" doc:"The registered model that asks; empty when the member runs it by hand."`
	Key          capability.Key      `json:"key"`
	Source       string              `json:"source,omitempty"`
	CapabilityID string              `json:"capabilityId,omitempty"`
	Version      string              `json:"version,omitempty"`
	Digest       string              `json:"digest,omitempty" doc:"Of the version's content."`
	Tool         string              `json:"tool" doc:"As the model sees it."`
	Raw          string              `json:"raw,omitempty" doc:"The name at its origin."`
	Arguments    json.RawMessage     `json:"arguments" doc:"In full; exactly these run."`
	Writes       bool                `json:"writes"`
	Guarded      bool                `json:"guarded"`
	Secrets      []string            `json:"secrets" doc:"Names of what the call is given."`
	Hosts        []string            `json:"hosts" doc:"Hosts that it may reach."`
	Why          capability.Why      `json:"why" enum:"write,guarded,policy,hook,rewritten"`
	Detail       string              `json:"detail,omitempty" doc:"The rule's note, or the hook's reason."`
	Answers      []capability.Answer `json:"answers" doc:"What may be answered."`
	AskedAt      time.Time           `json:"askedAt"`
	ExpiresAt    time.Time           `json:"expiresAt"`
	Answer       string              `json:"answer,omitempty" doc:"once, conversation, always or deny; expired or withdrawn where nobody answered; empty while it waits."`
	Reason       string              `json:"reason,omitempty" doc:"Of a denial."`
	AnsweredAt   *time.Time          `json:"answeredAt,omitempty"`
	StartedAt    *time.Time          `json:"startedAt,omitempty" doc:"When the approved call started."`
}

func approval(a agent.Approval) Approval {
	out := Approval{
		ID: a.ID.String(), Conversation: a.Conversation.String(), Turn: a.Turn.String(), Model: a.Model, Key: a.Key,
		Source: a.Source, CapabilityID: a.Capability, Version: a.Version, Digest: a.Digest, Tool: a.Tool, Raw: a.Raw,
		Arguments: a.Arguments, Writes: a.Writes, Guarded: a.Guarded, Secrets: list(a.Secrets), Hosts: list(a.Hosts),
		Why: a.Why, Detail: a.Detail, Answers: []capability.Answer{}, AskedAt: a.AskedAt, ExpiresAt: a.ExpiresAt,
		Answer: string(a.Answer), Reason: a.Reason, AnsweredAt: a.AnsweredAt, StartedAt: a.UsedAt,
	}
	if a.Open() {
		out.Answers = a.Why.Answers()
	}
	return out
}

type listApprovals struct {
	State  agent.ApprovalState `query:"state" enum:"open,closed" doc:"open unless told: what waits, oldest first; closed is newest first."`
	Limit  int                 `query:"limit" doc:"Rows of a page, 1 to 200; 50 unless told."`
	Cursor string              `query:"cursor" doc:"The nextCursor of the page before."`
}

type approvalPath struct {
	ID string `path:"id" doc:"The approval's id."`
}

type answerApproval struct {
	approvalPath
	Body ApprovalAnswer `body:""`
}

// ApprovalAnswer is the member's word.
type ApprovalAnswer struct {
	Answer capability.Answer `json:"answer" enum:"once,conversation,always,deny"`
	Reason string            `json:"reason,omitempty" doc:"Of a denial; the model is told."`
}

// Grant is a member's standing word for a tool.
type Grant struct {
	ID           string         `json:"id"`
	Conversation string         `json:"conversation,omitempty" doc:"Empty for always."`
	Key          capability.Key `json:"key"`
	Version      string         `json:"version,omitempty" doc:"Another version voids it."`
	Tool         string         `json:"tool" doc:"The tool's name at its origin."`
	CreatedAt    time.Time      `json:"createdAt"`
}

type grantPath struct {
	ID string `path:"id" doc:"The grant's id."`
}

func approvalOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_approvals", Method: http.MethodGet, Path: tenant + "/approvals", Area: AreaApprovals, Action: capability.ActOwnRead,
			ReadOnly: true, Summary: "One's own calls that wait for one's word, or waited for it.",
		}, s.listApprovals),
		declare(Meta{
			Name: "get_approval", Method: http.MethodGet, Path: tenant + "/approvals/{id}", Area: AreaApprovals, Action: capability.ActOwnRead,
			ReadOnly: true, Summary: "One approval with the full arguments.",
		}, s.getApproval),
		declare(Meta{
			Name: "answer_approval", Method: http.MethodPost, Path: tenant + "/approvals/{id}", Area: AreaApprovals, Action: capability.ActRun,
			Personal: true, Summary: "Answer one of one's own approvals; the turn that waits goes on.",
			Example: `{"answer": "deny", "reason": "Not to the whole list."}`,
		}, s.answerApproval),
		declare(Meta{
			Name: "list_grants", Method: http.MethodGet, Path: tenant + "/grants", Area: AreaApprovals, Action: capability.ActOwnRead,
			ReadOnly: true, Summary: "One's own standing permissions for tools.",
		}, s.listGrants),
		declare(Meta{
			Name: "revoke_grant", Method: http.MethodDelete, Path: tenant + "/grants/{id}", Area: AreaApprovals, Action: capability.ActOwn,
			Success: http.StatusNoContent, Summary: "Take a standing permission back; the tool asks again.",
		}, s.revokeGrant),
	}
}

// idOf reads an id of a path; what is none names nothing.
func idOf(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

func (s Services) listApprovals(ctx context.Context, who identity.Principal, in listApprovals) (List[Approval], error) {
	state, limit := in.State, in.Limit
	if state == "" {
		state = agent.ApprovalsOpen
	}
	if limit == 0 {
		limit = 50
	}
	if limit < 1 || limit > 200 {
		return List[Approval]{}, refused("/limit", "out_of_range", "The limit is 1 to 200.")
	}
	var beyond *agent.Approval
	if in.Cursor != "" {
		id, err := idOf(in.Cursor)
		if err != nil {
			return List[Approval]{}, fault.New(fault.Malformed, "bad_cursor", "This cursor is not one of this list.").Do("Start again without a cursor.")
		}
		from, err := s.Agent.Approval(ctx, who.Actor(), id)
		if err != nil {
			return List[Approval]{}, err
		}
		beyond = &from
	}
	rows, err := s.Agent.Approvals(ctx, who.Actor(), state, beyond, limit)
	if err != nil {
		return List[Approval]{}, err
	}
	out := listOf(rows, approval)
	if len(rows) == limit {
		out.NextCursor = rows[limit-1].ID.String()
	}
	return out, nil
}

func (s Services) getApproval(ctx context.Context, who identity.Principal, in approvalPath) (Approval, error) {
	id, err := idOf(in.ID)
	if err != nil {
		return Approval{}, err
	}
	a, err := s.Agent.Approval(ctx, who.Actor(), id)
	return approval(a), err
}

func (s Services) answerApproval(ctx context.Context, who identity.Principal, in answerApproval) (Approval, error) {
	id, err := idOf(in.ID)
	if err != nil {
		return Approval{}, err
	}
	a, err := s.Agent.Answer(ctx, who.Actor(), id, agent.Word{Answer: in.Body.Answer, Reason: in.Body.Reason})
	return approval(a), err
}

func (s Services) listGrants(ctx context.Context, who identity.Principal, _ Nothing) (List[Grant], error) {
	grants, err := s.Agent.Grants(ctx, who.Actor())
	return listOf(grants, func(g agent.Grant) Grant {
		out := Grant{ID: g.ID.String(), Key: g.Key, Version: g.Version, Tool: g.Tool, CreatedAt: g.CreatedAt}
		if g.Conversation != nil {
			out.Conversation = g.Conversation.String()
		}
		return out
	}), err
}

func (s Services) revokeGrant(ctx context.Context, who identity.Principal, in grantPath) (Empty, error) {
	id, err := idOf(in.ID)
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, s.Agent.RevokeGrant(ctx, who.Actor(), id)
}
