package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Approval is a call that waits, or waited, for its member's word, with all
// that the word is about.
type Approval struct {
	ID           uuid.UUID
	Conversation uuid.UUID
	Title        string // of the conversation
	Turn         uuid.UUID
	Ref          string // the request within the turn
	Model        string // that asks; "" when the member runs it by hand
	Key          capability.Key
	Source       string // of the capability, "" where it is not of the store
	Capability   string // its id there
	Name         string
	Version      string
	Digest       string // of the version's content
	Tool         string // as the model sees it
	Raw          string // at its origin
	Description  string // of the tool, by its author
	Arguments    json.RawMessage
	Writes       bool
	Guarded      bool
	Secrets      []string // names of what the call is given, never values
	Hosts        []string // that it may reach
	Why          capability.Why
	Detail       string // the rule's note, or the hook's reason
	AskedAt      time.Time
	ExpiresAt    time.Time
	// Answer is "" while the question is open; expired and withdrawn stand
	// where a member gave none.
	Answer     capability.Answer
	Reason     string // of a denial
	AnsweredAt *time.Time
	UsedAt     *time.Time // when the approved call started
}

// Open reports whether the question can still be answered.
func (a Approval) Open() bool { return a.Answer == "" }

// Approval returns one of the actor's own, fault.Missing for any other.
func (s *Service) Approval(ctx context.Context, actor capability.Actor, id uuid.UUID) (Approval, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Approval{}, err
	}
	row, err := queries.ApprovalByID(ctx, s.db, db.ApprovalByIDParams{ID: id, Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return Approval{}, pg.Fault(fmt.Errorf("read approval: %w", err))
	}
	return approvalOf(row), nil
}

// ApprovalsOf returns those of the approvals that belong to the actor's
// conversation, by id.
func (s *Service) ApprovalsOf(ctx context.Context, actor capability.Actor, conversation uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]Approval, error) {
	subject, err := subjectOf(actor)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := queries.ApprovalsOfConversation(ctx, s.db, db.ApprovalsOfConversationParams{
		Conversation: conversation, Workspace: actor.Workspace, Subject: subject, Ids: ids,
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read approvals: %w", err))
	}
	out := make(map[uuid.UUID]Approval, len(rows))
	for _, row := range rows {
		out[row.ID] = approvalOf(db.ApprovalByIDRow(row))
	}
	return out, nil
}

// ApprovalState selects approvals by whether they still wait.
type ApprovalState string

const (
	ApprovalsOpen   ApprovalState = "open"   // oldest first
	ApprovalsClosed ApprovalState = "closed" // newest first
)

// maxApprovals bounds a page of approvals.
const maxApprovals = 200

// Approvals lists the actor's own of the state, at most limit (1 to 200)
// beyond the given one; nil begins at the start.
func (s *Service) Approvals(ctx context.Context, actor capability.Actor, state ApprovalState, beyond *Approval, limit int) ([]Approval, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	var rows []db.ApprovalByIDRow
	limit = min(max(limit, 1), maxApprovals)
	switch state {
	case ApprovalsOpen:
		rows, err = s.openApprovals(ctx, actor.Workspace, subject, beyond, limit)
	case ApprovalsClosed:
		rows, err = s.closedApprovals(ctx, actor.Workspace, subject, beyond, limit)
	default:
		err = fieldFault("/state", "not_allowed", "The state is open or closed.")
	}
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list approvals: %w", err))
	}
	out := make([]Approval, len(rows))
	for i, row := range rows {
		out[i] = approvalOf(row)
	}
	return out, nil
}

func (s *Service) openApprovals(ctx context.Context, workspace string, subject uuid.UUID, beyond *Approval, limit int) ([]db.ApprovalByIDRow, error) {
	p := db.OpenApprovalsParams{Workspace: workspace, Subject: subject, Count: int32(limit)}
	if beyond != nil {
		p.After, p.AfterID = beyond.AskedAt, beyond.ID
	}
	rows, err := queries.OpenApprovals(ctx, s.db, p)
	out := make([]db.ApprovalByIDRow, len(rows))
	for i, row := range rows {
		out[i] = db.ApprovalByIDRow(row)
	}
	return out, err
}

func (s *Service) closedApprovals(ctx context.Context, workspace string, subject uuid.UUID, beyond *Approval, limit int) ([]db.ApprovalByIDRow, error) {
	p := db.ClosedApprovalsParams{Workspace: workspace, Subject: subject, Before: farFuture, BeforeID: uuid.Max, Count: int32(limit)}
	if beyond != nil {
		p.Before, p.BeforeID = beyond.AskedAt, beyond.ID
	}
	rows, err := queries.ClosedApprovals(ctx, s.db, p)
	out := make([]db.ApprovalByIDRow, len(rows))
	for i, row := range rows {
		out[i] = db.ApprovalByIDRow(row)
	}
	return out, err
}

// farFuture is later than anything was asked.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// CountApprovals returns how many calls wait for the actor's word, 100 for
// that and more.
func (s *Service) CountApprovals(ctx context.Context, actor capability.Actor) (int, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return 0, err
	}
	n, err := queries.CountOpenApprovals(ctx, s.db, db.CountOpenApprovalsParams{Workspace: actor.Workspace, Subject: subject})
	return int(n), pg.Fault(err)
}

func approvalOf(row db.ApprovalByIDRow) Approval {
	a := Approval{
		ID: row.ID, Conversation: row.Conversation, Title: row.Title, Turn: row.Turn, Ref: row.Ref, Model: row.Model,
		Key: capability.Key(row.Key), Source: row.Source, Capability: row.Capability, Name: row.Name, Version: row.Version,
		Digest: row.Digest, Tool: row.Tool, Raw: row.Raw, Description: row.Description, Arguments: row.Arguments,
		Writes: row.Writes, Guarded: row.Guarded, Secrets: row.Secrets, Hosts: row.Hosts, Why: capability.Why(row.Why),
		Detail: row.Detail, AskedAt: row.AskedAt, ExpiresAt: row.ExpiresAt, Reason: row.Reason, AnsweredAt: row.AnsweredAt, UsedAt: row.UsedAt,
	}
	switch {
	case row.Answer != nil:
		a.Answer = capability.Answer(*row.Answer)
	case row.Late:
		a.Answer = answerExpired
	}
	return a
}

// tooLate is the answer to whoever comes too late: what was decided.
func tooLate(a Approval) error {
	switch a.Answer {
	case answerExpired:
		return fault.New(fault.Conflict, "approval_expired", "This question expired before it was answered.").
			Do("Ask for it again if it is still wanted.")
	case answerWithdrawn:
		return fault.New(fault.Conflict, "approval_withdrawn", "The turn that asked has ended, so nothing waits for this answer.")
	}
	return fault.New(fault.Conflict, "already_decided", "This was answered already: %s.", a.Answer).
		With("answer", string(a.Answer)).With("reason", a.Reason)
}
