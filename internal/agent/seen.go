package agent

import (
	"context"
	"encoding/json"
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
	"capstore/internal/registry"
)

// Seen is what a turn could see, whenever it was: the epoch that it bound, with
// the manifest that is kept as long as the turn is.
type Seen struct {
	Turn uuid.UUID
	// Conversation is only told to the member whose turn it is.
	Conversation uuid.UUID
	Own          bool
	Subject      string
	Member       string // his name
	On           capability.Surface
	Epoch        int64
	Digest       string
	Mode         capability.PermissionMode
	Model        string // the registered name, "" in direct mode
	State        TurnState
	StartedAt    time.Time
	EndedAt      *time.Time
	Usage        Usage
	Requests     int // to the model
	Calls        int
	FailedCalls  int
	Entries      []registry.Listed
	// Private counts, by kind, the member's own entries, which are not shown to
	// anybody else.
	Private map[registry.EntryKind]int
	// Surface is what the model had loaded as the turn began; nil without one,
	// and of another member's turn, whose message it was chosen by.
	Surface *Surfaced
}

// Seen tells what a turn of the actor's could see, or to an admin what that of
// another member of the workspace could, without what was said in it. For
// anybody else it is missing. It takes one statement.
func (s *Service) Seen(ctx context.Context, actor capability.Actor, turn uuid.UUID) (Seen, error) {
	if _, err := subjectOf(actor); err != nil {
		return Seen{}, err
	}
	row, err := queries.SeenTurn(ctx, s.db, db.SeenTurnParams{Turn: turn, Workspace: actor.Workspace})
	if errors.Is(err, pgx.ErrNoRows) {
		return Seen{}, fault.Missing()
	}
	if err != nil {
		return Seen{}, pg.Fault(fmt.Errorf("read turn: %w", err))
	}
	own := row.Subject.String() == actor.Subject
	if !own && capability.May(actor, capability.ActSettings, capability.Ownership{}) != nil {
		return Seen{}, fault.Missing()
	}
	out := Seen{
		Turn: row.Turn, Own: own, Subject: row.Subject.String(), Member: row.Member, On: capability.Surface(row.Surface),
		Epoch: row.Epoch, Digest: row.Digest, Mode: capability.PermissionMode(row.Mode), Model: row.Model, State: TurnState(row.State),
		StartedAt: row.StartedAt, EndedAt: row.EndedAt, Requests: int(row.Steps), Calls: int(row.Calls), FailedCalls: int(row.FailedCalls),
		Usage: Usage{Input: row.InputTokens, CachedInput: row.CachedTokens, Output: row.OutputTokens, Cost: row.Cost},
	}
	return out, out.fill(row)
}

// fill reads what is stored as JSON, as far as the reader may.
func (s *Seen) fill(row db.SeenTurnRow) error {
	var manifest registry.Manifest
	if err := json.Unmarshal(row.Manifest, &manifest); err != nil {
		return fmt.Errorf("stored manifest: %w", err)
	}
	s.Entries = manifest.Entries
	if !s.Own {
		s.Entries, s.Private = veiled(s.Entries)
		return nil
	}
	var message Message
	if err := json.Unmarshal(row.Message, &message); err != nil {
		return fmt.Errorf("stored message: %w", err)
	}
	s.Conversation, s.Surface = row.Conversation, message.Surface
	return nil
}

// veiled leaves out what is private to a member, counted by kind.
func veiled(entries []registry.Listed) ([]registry.Listed, map[registry.EntryKind]int) {
	private := map[registry.EntryKind]int{}
	return slices.DeleteFunc(entries, func(l registry.Listed) bool {
		if l.Private {
			private[l.Kind]++
		}
		return l.Private
	}), private
}

// surfaced is the surface as a turn records it.
func (s *surface) surfaced() *Surfaced {
	out := &Surfaced{Reading: s.Reading(), Loaded: []string{}}
	for _, t := range s.Loaded() {
		out.Loaded = append(out.Loaded, t.Name)
	}
	return out
}

// Bound is the turns that bound one epoch: how many there are, and the newest
// of them.
type Bound struct {
	Total int64
	Turns []BoundTurn
}

// BoundTurn is one turn that bound an epoch. Conversation is only told to the
// member whose turn it is.
type BoundTurn struct {
	Turn         uuid.UUID
	Conversation uuid.UUID
	Model        string
	State        TurnState
	StartedAt    time.Time
}

// shownTurns is how many turns of an epoch are listed.
const shownTurns = 3

// BoundTo tells which turns of a member bound the epochs: the actor's own for ""
// or his own subject, another member's for an admin. An epoch that no turn
// bound is not in the map.
func (s *Service) BoundTo(ctx context.Context, actor capability.Actor, subject string, epochs []registry.Epoch) (map[int64]Bound, error) {
	of, err := memberFor(actor, subject)
	if err != nil {
		return nil, err
	}
	id, err := subjectOf(of)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, len(epochs))
	for i, e := range epochs {
		numbers[i] = e.Epoch
	}
	rows, err := queries.TurnsOfEpochs(ctx, s.db, db.TurnsOfEpochsParams{Workspace: of.Workspace, Subject: id, Epochs: numbers, Count: shownTurns})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read the turns of epochs: %w", err))
	}
	out := map[int64]Bound{}
	for _, row := range rows {
		t := BoundTurn{Turn: row.Turn, Model: row.Model, State: TurnState(row.State), StartedAt: row.StartedAt}
		if of.Subject == actor.Subject {
			t.Conversation = row.Conversation
		}
		out[row.Epoch] = Bound{Total: row.Total, Turns: append(out[row.Epoch].Turns, t)}
	}
	return out, nil
}

// Epochs lists the epochs of a member's world that are kept, newest first, from
// the one before the given number on; 0 begins with the newest. Whose they may
// be is as for Report; what is private to another member is left out.
func (s *Service) Epochs(ctx context.Context, actor capability.Actor, subject string, before int64, count int) ([]registry.Epoch, error) {
	of, err := memberFor(actor, subject)
	if err != nil {
		return nil, err
	}
	epochs, err := s.registry.Epochs(ctx, registry.KeyOf(of), before, count)
	if err == nil && of.Subject != actor.Subject {
		epochs = registry.Report{Epochs: epochs}.Veiled().Epochs
	}
	return epochs, err
}
