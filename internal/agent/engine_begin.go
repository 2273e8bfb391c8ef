package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/registry"
)

// maxRead is how many entries of a conversation a turn reads at its beginning.
// Its own fit into that many times over.
const maxRead = 4000

// Begin takes one message into the actor's conversation and answers it in the
// background: a tool picked by hand is run, anything else goes to the model, or
// without one is answered with what could be run. The message stands in the
// ledger when Begin returns, and done closes when the work here has ended: the
// turn is over, or waits for its member. Faults of the message itself (empty,
// too long, unknown /name), of the chosen model, and a turn that is still open
// (turn_running, turn_waiting) come back at once and leave nothing behind.
func (s *Service) Begin(ctx context.Context, actor capability.Actor, conversation uuid.UUID, ask Ask) (turn uuid.UUID, done <-chan struct{}, err error) {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return uuid.Nil, nil, err
	}
	conv, err := s.Conversation(ctx, actor, conversation)
	if err != nil {
		return uuid.Nil, nil, err
	}
	on := cmp.Or(ask.Surface, capability.SurfaceWeb)
	binding, err := s.registry.Bind(ctx, actor, on)
	if err != nil {
		return uuid.Nil, nil, err
	}
	r := &run{s: s, actor: actor, binding: binding, snap: binding.Snapshot, seq: max(0, conv.LastSeq-maxRead)}
	turn, done, err = s.begin(ctx, r, conv, ask)
	if err != nil {
		r.release()
	}
	return turn, done, err
}

func (s *Service) begin(ctx context.Context, r *run, conv Conversation, ask Ask) (uuid.UUID, <-chan struct{}, error) {
	message, err := s.read(ctx, r.actor, r.snap, ask)
	if err != nil {
		return uuid.Nil, nil, err
	}
	if message.asks() {
		if r.thinker, err = s.thinkerFor(ctx, r.actor, conv.Model); err != nil {
			return uuid.Nil, nil, err
		}
	}
	r.mode = r.snap.Mode
	if conv.Mode != "" {
		r.mode = capability.StricterOf(conv.Mode, r.snap.Mode)
	}
	r.equip(r.binding.On, message)
	if r.thinker != nil {
		message.Surface = r.surface.surfaced()
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, nil, err
	}
	if r.one, err = s.turns.open(id, conv.ID); err != nil {
		return uuid.Nil, nil, err
	}
	if err = r.compare(ctx, conv); err == nil {
		err = s.take(ctx, r, conv, message)
	}
	if err != nil {
		s.turns.drop(r.one)
		return uuid.Nil, nil, err
	}
	s.turns.launch(r.one, func(ctx context.Context) { s.work(ctx, r) })
	return id, r.one.done, nil
}

// compare finds what differs from the world that the conversation's last turn
// saw, which its member and the model are told once.
func (r *run) compare(ctx context.Context, conv Conversation) (err error) {
	if conv.Epoch == 0 || conv.Epoch == r.snap.Epoch {
		return nil
	}
	r.delta, err = r.s.registry.Since(ctx, r.actor, conv.Epoch, r.snap)
	return err
}

// take writes the turn, the member's message, and the title from the first
// one. It is a conflict while another turn of the conversation is open.
func (s *Service) take(ctx context.Context, r *run, conv Conversation, message Message) error {
	subject, err := subjectOf(r.actor)
	if err != nil {
		return err
	}
	err = s.commit(ctx, conv.ID, func(ctx context.Context, tx pgx.Tx) error {
		if err := queries.InsertTurn(ctx, tx, db.InsertTurnParams{
			Turn: r.one.id, Conversation: conv.ID, Workspace: r.actor.Workspace, Subject: subject, Surface: string(r.surface.on), Scope: string(r.actor.Scope),
			Epoch: r.snap.Epoch, Digest: r.snap.Digest, Mode: string(r.mode), Model: r.thinker.modelName(), Server: s.server,
		}); err != nil {
			return err
		}
		if !r.delta.Empty() {
			if _, err := write(ctx, tx, conv.ID, r.one.id, EntryEpochChanged, nil, r.delta); err != nil {
				return err
			}
		}
		if err := queries.BoundEpoch(ctx, tx, db.BoundEpochParams{Conversation: conv.ID, Epoch: r.snap.Epoch}); err != nil {
			return err
		}
		if _, err := write(ctx, tx, conv.ID, r.one.id, EntryMessage, nil, message); err != nil {
			return err
		}
		if conv.Title != "" {
			return nil
		}
		return queries.TitleConversation(ctx, tx, db.TitleConversationParams{ID: conv.ID, Title: titleOf(strings.TrimPrefix(message.Text, "/tool "))})
	})
	if pg.Constraint(err) == "turns_open" {
		return s.busy(ctx, r.actor, conv.ID)
	}
	return err
}

// busy says why the conversation takes no message now.
func (s *Service) busy(ctx context.Context, actor capability.Actor, conversation uuid.UUID) error {
	row, err := s.lastTurn(ctx, actor, conversation)
	if err != nil {
		return err
	}
	if row.State == string(TurnWaiting) {
		return fault.New(fault.Conflict, "turn_waiting", "This conversation waits for your answer to a question.").
			Do("Answer the question, or stop it.")
	}
	return fault.New(fault.Conflict, "turn_running", "This conversation is still working on the last message.").
		Do("Wait for it, or stop it.")
}

// Resume goes on with a turn that waits for its member, on this server, after
// one of its approvals was answered. What the turn may call is what it began
// with, less what has gone since: nothing widens in the middle of it. A turn
// that does not wait, because it goes on elsewhere or was stopped, is no fault.
// One whose member, model or tools cannot come back ends with that fault.
func (s *Service) Resume(ctx context.Context, actor capability.Actor, turn uuid.UUID) error {
	err := s.resume(ctx, actor, turn)
	if err == nil || fault.Is(err, fault.Internal) || fault.Is(err, fault.Unavailable) || fault.Is(err, fault.NotFound) {
		return err
	}
	return errors.Join(err, s.endWaiting(ctx, turn, err))
}

// endWaiting ends a turn that cannot go on. Nobody works on it.
func (s *Service) endWaiting(ctx context.Context, turn uuid.UUID, cause error) error {
	row, err := queries.TurnByID(ctx, s.db, turn)
	if err != nil {
		return pg.Fault(err)
	}
	f := failure(cause)
	return s.commit(ctx, row.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		ended, err := queries.EndWaitingTurn(ctx, tx, db.EndWaitingTurnParams{State: string(TurnFailed), Turn: turn})
		if err != nil || ended == 0 {
			return err
		}
		return s.settleTurn(ctx, tx, row.Conversation, turn, stopOf(TurnFailed), EntryError, &f)
	})
}

func (s *Service) resume(ctx context.Context, actor capability.Actor, turn uuid.UUID) error {
	row, err := queries.TurnByID(ctx, s.db, turn)
	if err != nil {
		return pg.Fault(err)
	}
	conv, err := s.Conversation(ctx, actor, row.Conversation)
	if err != nil {
		return err
	}
	if row.State != string(TurnWaiting) {
		return nil
	}
	actor.Scope = capability.Scope(row.Scope) // whoever answers widens nothing
	r := &run{s: s, actor: actor, mode: capability.PermissionMode(row.Mode), seq: max(0, conv.LastSeq-maxRead)}
	if row.Model != "" {
		if r.thinker, err = s.thinkerFor(ctx, actor, row.Model); err != nil {
			return err
		}
	}
	if r.binding, r.snap, err = s.rebind(ctx, actor, row); err != nil {
		r.thinker.release()
		return err
	}
	if r.one, err = s.turns.open(turn, row.Conversation); err != nil {
		r.release()
		return err
	}
	if err := r.prepare(ctx, capability.Surface(row.Surface)); err != nil {
		s.turns.drop(r.one)
		r.release()
		return err
	}
	var taken int64
	err = s.commit(ctx, row.Conversation, func(ctx context.Context, tx pgx.Tx) error {
		taken, err = queries.TakeTurn(ctx, tx, db.TakeTurnParams{Turn: turn, Server: s.server})
		return err
	})
	if err != nil || taken == 0 {
		s.turns.drop(r.one)
		r.release()
		return err
	}
	s.turns.launch(r.one, func(ctx context.Context) { s.work(ctx, r) })
	return nil
}

// prepare reads the turn's message back and equips the turn as it was.
func (r *run) prepare(ctx context.Context, on capability.Surface) error {
	if err := r.refresh(ctx); err != nil {
		return err
	}
	p := progressOf(r.one.id, r.lines)
	if p.message == nil {
		return fault.Missing()
	}
	r.equip(on, *p.message)
	return nil
}

// rebind binds the world as it is now, limited to what the parked turn saw.
func (s *Service) rebind(ctx context.Context, actor capability.Actor, row db.Turn) (*registry.Binding, *registry.Snapshot, error) {
	binding, err := s.registry.Bind(ctx, actor, capability.Surface(row.Surface))
	if err != nil {
		return nil, nil, err
	}
	snap := binding.Snapshot
	if snap.Epoch == row.Epoch && snap.Digest == row.Digest {
		return binding, snap, nil
	}
	manifest, err := s.registry.Manifest(ctx, registry.KeyOf(actor), row.Epoch)
	if err != nil {
		binding.Release()
		return nil, nil, err
	}
	return binding, snap.NarrowTo(manifest), nil
}
