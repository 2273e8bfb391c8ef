package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// How far back LastSaid looks: the member's newest conversations, and the last
// entries of each.
const (
	saidConversations = 20
	saidStretch       = 500
)

// HookSaid is what a hook said, and when.
type HookSaid struct {
	HookOutcome
	At time.Time
}

// LastSaid is what each hook said last in the actor's own recent conversations;
// one that has said nothing there is not in it. Nobody learns what hooks said
// to others.
func (s *Service) LastSaid(ctx context.Context, actor capability.Actor) (map[capability.Key]HookSaid, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.RecentHookOutcomes(ctx, s.db, db.RecentHookOutcomesParams{
		Workspace: actor.Workspace, Subject: subject, Conversations: saidConversations, Stretch: saidStretch,
	})
	if err != nil {
		return nil, pg.Fault(err)
	}
	out := make(map[capability.Key]HookSaid, len(rows))
	for _, row := range rows {
		said := HookSaid{At: row.At}
		if err := json.Unmarshal(row.Payload, &said.HookOutcome); err != nil {
			return nil, fmt.Errorf("hook outcome: %w", err)
		}
		out[capability.Key(row.Key)] = said
	}
	return out, nil
}
