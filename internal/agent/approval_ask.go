package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// approvalLife is how long a question waits for its answer.
const approvalLife = 24 * time.Hour

// question is why the member is asked.
type question struct {
	why     capability.Why
	detail  string
	guarded bool
}

// askMember leaves the call waiting for its member's word: the question, its ledger
// entry and its trace in the audit commit together. It always returns an
// error, *Waiting when the question stands.
func (s *Service) askMember(ctx context.Context, b *bound, q question) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	row, err := b.question(id, q)
	if err != nil {
		return err
	}
	err = s.commit(ctx, b.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.hold(ctx, tx, b.Turn); err != nil {
			return err // nobody is asked for a turn that was stopped
		}
		_, err := queries.InsertApproval(ctx, tx, row)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return errAskedAlready
		case pg.Constraint(err) == "approvals_turn_fkey":
			return fault.New(fault.Denied, "needs_approval", "%s needs the member's approval, and no turn waits for it here.", b.Name).
				Do("Run it in a conversation.")
		case err != nil:
			return err
		}
		if err := auditApproval(ctx, tx, b.Actor, "approval.asked", id, map[string]any{
			"tool": b.Name, "key": row.Key, "version": row.Version, "binding": row.Binding, "why": row.Why,
		}); err != nil {
			return err
		}
		_, err = write(ctx, tx, b.Conversation, b.Turn, EntryApprovalAsked, nil, ApprovalAsked{
			Approval: id, Ref: b.Ref, Tool: b.Name, Arguments: b.Arguments, Why: row.Why, Detail: q.detail,
		})
		return err
	})
	if errors.Is(err, errAskedAlready) {
		return s.askedElsewhere(ctx, b)
	}
	if err != nil {
		return err
	}
	return &Waiting{Approval: id}
}

var errAskedAlready = errors.New("agent: the question stands already")

// askedElsewhere waits for the question that another server was quicker to ask.
func (s *Service) askedElsewhere(ctx context.Context, b *bound) error {
	row, err := queries.ApprovalOfRequest(ctx, s.db, db.ApprovalOfRequestParams{Turn: b.Turn, Ref: b.Ref})
	if err != nil {
		return pg.Fault(fmt.Errorf("read approval: %w", err))
	}
	return &Waiting{Approval: row.ID}
}

func (b *bound) question(id uuid.UUID, q question) (db.InsertApprovalParams, error) {
	subject, err := subjectOf(b.Actor)
	if err != nil {
		return db.InsertApprovalParams{}, err
	}
	row := b.entry.Row
	return db.InsertApprovalParams{
		ID: id, Workspace: b.Actor.Workspace, Subject: subject, Conversation: b.Conversation, Turn: b.Turn, Ref: b.Ref,
		Key: string(row.Key), Source: row.Source, Capability: row.ID, Version: row.Version, Digest: row.Digest,
		Definition: b.definition(), Tool: b.Name, Raw: b.tool.Raw, Arguments: b.Arguments, Binding: b.binding().Sum(),
		Why: string(q.why), Detail: q.detail, Guarded: q.guarded, Name: row.Name, Description: b.tool.Description, Writes: b.tool.Write,
		Secrets: append([]string{}, b.secretNames()...), Hosts: append([]string{}, row.Grant.Egress...), Seconds: approvalLife.Seconds(),
	}, nil
}

// askedBefore reports whether the member was asked about the request already,
// as when a turn goes on after his answer. Then the arguments are those that he
// was shown, whatever the request carries, and no hook is asked again. It
// returns *Waiting while there is no answer, and a fault where the answer was
// no, came too late, or is about something else than what would run now.
func (s *Service) askedBefore(ctx context.Context, b *bound) (bool, error) {
	row, err := queries.ApprovalOfRequest(ctx, s.db, db.ApprovalOfRequestParams{Turn: b.Turn, Ref: b.Ref})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, pg.Fault(fmt.Errorf("read approval: %w", err))
	}
	b.Arguments = row.Arguments
	switch {
	case row.Late:
		if err := s.expire(ctx, b.Conversation, row.ID); err != nil {
			return true, err
		}
		return true, notAnswered(b.Name, answerExpired, "")
	case row.Answer == nil:
		return true, &Waiting{Approval: row.ID}
	case !isYes(*row.Answer):
		return true, notAnswered(b.Name, *row.Answer, row.Reason)
	case row.UsedAt != nil:
		return true, startedAlready(row.ID)
	case row.Binding != b.binding().Sum():
		return true, outdated(b.Name)
	}
	b.approval = row.ID
	return true, nil
}

// outdated is the fault of a call that would run something else than what its
// member was asked about.
func outdated(tool string) error {
	return fault.New(fault.Revoked, "approval_outdated", "%s is not what it was when it was approved.", tool).
		Do("Call it again to ask anew.")
}

// consume uses the member's word up, in the transaction that starts the call.
func (b *bound) consume(ctx context.Context, tx pgx.Tx) error {
	if b.approval == uuid.Nil {
		return nil
	}
	n, err := queries.UseApproval(ctx, tx, b.approval)
	if err == nil && n == 0 {
		return startedAlready(b.approval)
	}
	return err
}

// startedAlready means that another server works on the turn: the word counts
// once, and what becomes of the call is written there.
func startedAlready(approval uuid.UUID) error {
	return fmt.Errorf("approval %s is used: %w", approval, errTurnOver)
}

// What stands where an answer would, when the member gave none.
const (
	answerExpired   = "expired"
	answerWithdrawn = "withdrawn"
)

func isYes(answer string) bool {
	return slices.Contains([]capability.Answer{
		capability.AnswerOnce, capability.AnswerConversation, capability.AnswerAlways,
	}, capability.Answer(answer))
}

// notAnswered is the fault of a call that its member did not approve.
func notAnswered(tool, answer, reason string) error {
	switch answer {
	case answerExpired:
		return fault.New(fault.Denied, "approval_expired", "%s was not approved within %d hours.", tool, int(approvalLife.Hours())).
			Do("Ask for it again if it is still wanted.")
	case answerWithdrawn:
		return fault.New(fault.Denied, "approval_withdrawn", "%s was not approved before the turn ended.", tool)
	}
	f := fault.New(fault.Denied, "denied_by_member", "The member refused %s.", tool).Do("Do not try the same again; ask what is wanted instead.")
	if reason != "" {
		f.Message = "The member refused " + tool + ": " + reason
		f.With("reason", reason)
	}
	return f
}

func auditApproval(ctx context.Context, tx pgx.Tx, actor capability.Actor, action string, id uuid.UUID, detail map[string]any) error {
	return pg.Audit(ctx, tx, pg.Entry{
		Workspace: actor.Workspace, Subject: actor.Subject, Action: action, Target: id.String(), Detail: detail,
	})
}
