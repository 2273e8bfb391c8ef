package agent

import (
	"context"

	"capstore/internal/agent/model"
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// thinker is the model that a turn thinks with.
type thinker struct {
	model  model.Model
	chosen workspace.Model
	done   func()
}

// modelName is the registered name, "" in direct mode.
func (t *thinker) modelName() string {
	if t == nil {
		return ""
	}
	return t.chosen.Name
}

// thinkerFor returns what the actor's agent thinks with, nil where nobody chose
// a model. A choice that cannot be used is a fault, never another model.
func (s *Service) thinkerFor(ctx context.Context, actor capability.Actor, choice string) (*thinker, error) {
	chosen, err := s.workspace.ModelFor(ctx, actor, choice)
	if err != nil || chosen.From == workspace.FromNone {
		return nil, err
	}
	client, done, err := s.openModel(ctx, actor, chosen.Model)
	if err != nil {
		done()
		return nil, err
	}
	return &thinker{model: client, chosen: chosen.Model, done: done}, nil
}

// release lets go of the model's connections.
func (t *thinker) release() {
	if t != nil {
		t.done()
	}
}
