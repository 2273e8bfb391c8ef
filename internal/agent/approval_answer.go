package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// maxDenial bounds the reason of a denial, in characters.
const maxDenial = 2000

// Word is what a member says to a call that waits for him.
type Word struct {
	Answer capability.Answer
	Reason string // of a denial; may be empty
}

// Answer records the actor's word on one of his own approvals and lets the
// turn go on. It counts if it commits before the question expires, by the
// database's clock, and before any other answer: else an already_decided,
// approval_expired or approval_withdrawn conflict says what holds. Approving
// starts nothing by itself; the call is authorized anew when it does.
func (s *Service) Answer(ctx context.Context, actor capability.Actor, id uuid.UUID, word Word) (Approval, error) {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return Approval{}, err
	}
	asked, err := s.Approval(ctx, actor, id)
	if err != nil {
		return Approval{}, err
	}
	if err := word.check(asked); err != nil {
		return Approval{}, err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return Approval{}, err
	}
	err = s.commit(ctx, asked.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		return s.record(ctx, tx, actor, subject, asked, word)
	})
	now, readErr := s.Approval(ctx, actor, id)
	switch {
	case errors.Is(err, errDecided) && readErr == nil:
		return now, tooLate(now)
	case err != nil:
		return Approval{}, err
	case readErr != nil:
		return Approval{}, readErr
	}
	s.goOn(ctx, actor, now.Turn)
	return now, nil
}

// errDecided means that the question is no longer open.
var errDecided = errors.New("agent: the approval is decided")

// check holds the word to what may be answered to the question.
func (w Word) check(a Approval) error {
	switch {
	case !a.Open():
		return tooLate(a)
	case !slices.Contains(a.Why.Answers(), w.Answer):
		return fieldFault("/answer", "not_allowed", "The answer to this is one of: "+answersText(a.Why)+".")
	case w.Reason != "" && w.Answer != capability.AnswerDeny:
		return fieldFault("/reason", "not_allowed", "Only a denial has a reason.")
	case utf8.RuneCountInString(w.Reason) > maxDenial:
		return fieldFault("/reason", "too_long", fmt.Sprintf("A reason has at most %d characters.", maxDenial))
	case !utf8.ValidString(w.Reason) || strings.ContainsRune(w.Reason, 0):
		return fieldFault("/reason", "not_plain_text", "The reason holds characters that are no text.")
	}
	return nil
}

func answersText(why capability.Why) string {
	var words []string
	for _, a := range why.Answers() {
		words = append(words, string(a))
	}
	return strings.Join(words, ", ")
}

func (s *Service) record(ctx context.Context, tx pgx.Tx, actor capability.Actor, subject uuid.UUID, asked Approval, word Word) error {
	answer := string(word.Answer)
	row, err := queries.AnswerApproval(ctx, tx, db.AnswerApprovalParams{
		ID: asked.ID, Workspace: actor.Workspace, Subject: subject, Answer: &answer, Reason: strings.TrimSpace(word.Reason),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return errDecided
	}
	if err != nil {
		return err
	}
	if err := keepWord(ctx, tx, actor.Workspace, subject, word.Answer, row); err != nil {
		return err
	}
	if err := auditApproval(ctx, tx, actor, "approval.answered", asked.ID, map[string]any{
		"answer": answer, "tool": row.Tool, "key": row.Key, "version": row.Version,
	}); err != nil {
		return err
	}
	_, err = write(ctx, tx, row.Conversation, row.Turn, EntryApprovalAnswered, nil, ApprovalAnswered{
		Approval: asked.ID, Ref: row.Ref, Tool: row.Tool, Answer: answer, Reason: strings.TrimSpace(word.Reason),
	})
	return err
}

// goOn lets a turn that waited run on. The answer stands whatever becomes of
// it: where this server cannot take the turn up, a sweep does.
func (s *Service) goOn(ctx context.Context, actor capability.Actor, turn uuid.UUID) {
	if err := s.Resume(context.WithoutCancel(ctx), actor, turn); err != nil {
		s.log.WarnContext(ctx, "agent: answered turn not resumed", "turn", turn, "error", err)
	}
}

// sweepApprovals closes the questions that nobody answered in time, and goes
// on with every turn that has its answer and still waits. It returns how many
// of both there were.
func (s *Service) sweepApprovals(ctx context.Context) (expired, resumed int, err error) {
	due, err := queries.ApprovalsDue(ctx, s.db)
	if err != nil {
		return 0, 0, pg.Fault(err)
	}
	for _, row := range due {
		if err := s.expire(ctx, row.Conversation, row.ID); err != nil {
			return expired, 0, err
		}
		expired++
	}
	answered, err := queries.AnsweredTurns(ctx, s.db)
	if err != nil {
		return expired, 0, pg.Fault(err)
	}
	for _, row := range answered {
		actor := capability.Actor{Workspace: row.Workspace, Subject: row.Subject.String(), Role: capability.Role(row.Role)}
		s.goOn(ctx, actor, row.Turn)
	}
	return expired, len(answered), nil
}

// expire closes one question whose time is over; nothing when it is closed.
func (s *Service) expire(ctx context.Context, conversation, id uuid.UUID) error {
	return s.commit(ctx, conversation, func(ctx context.Context, tx pgx.Tx) error {
		row, err := queries.ExpireApproval(ctx, tx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = write(ctx, tx, row.Conversation, row.Turn, EntryApprovalAnswered, nil, ApprovalAnswered{
			Approval: id, Ref: row.Ref, Tool: row.Tool, Answer: answerExpired,
		})
		return err
	})
}
