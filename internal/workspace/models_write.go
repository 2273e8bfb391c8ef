package workspace

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// RegisterModel adds a model to those that the workspace's agents may think
// with. It takes an admin. A name that is in use is a model_exists conflict. A
// secret that is not stored yet is no fault: the model needs setup until it is.
func (s *Service) RegisterModel(ctx context.Context, actor capability.Actor, in ModelInput) (Model, error) {
	return s.writeModel(ctx, actor, "model.register", in, func(ctx context.Context, tx pgx.Tx, in ModelInput) (bool, error) {
		subject, err := subjectOf(actor)
		if err != nil {
			return false, err
		}
		n, err := queries.CountModels(ctx, tx, actor.Workspace)
		if err != nil {
			return false, fmt.Errorf("count models: %w", err)
		}
		if n >= maxModels {
			return false, fault.New(fault.Limited, "too_many_models", "A workspace has at most %d models.", maxModels).Do("Remove one that nobody uses.")
		}
		made, err := queries.InsertModel(ctx, tx, db.InsertModelParams{
			Workspace: actor.Workspace, Name: in.Name, Provider: string(in.Provider), BaseUrl: in.BaseURL, Model: in.Underlying,
			Secret: in.Secret, PriceInput: in.Price.Input, PriceCached: in.Price.Cached, PriceOutput: in.Price.Output,
			ContextTokens: int32(in.ContextTokens), CreatedBy: subject,
		})
		if err != nil {
			return false, fmt.Errorf("insert model: %w", err)
		}
		if made == 0 {
			f := fault.New(fault.Conflict, "model_exists", "This workspace has a model %s already.", in.Name).
				Do("Choose another name, or change the one that is there.").With("name", in.Name)
			f.Fields = []fault.Field{{Path: "/name", Code: "model_exists", Message: f.Message}}
			return false, f
		}
		return true, nil
	})
}

// UpdateModel replaces what is registered under the name. ifRevision is the
// revision that the author saw: another one by now is a stale_revision
// conflict; 0 overwrites. An equal one changes nothing, the revision included.
func (s *Service) UpdateModel(ctx context.Context, actor capability.Actor, name string, ifRevision int64, in ModelInput) (Model, error) {
	in.Name = name
	return s.writeModel(ctx, actor, "model.change", in, func(ctx context.Context, tx pgx.Tx, in ModelInput) (bool, error) {
		now, err := queries.LockModel(ctx, tx, db.LockModelParams{Workspace: actor.Workspace, Name: name})
		if err != nil {
			return false, fmt.Errorf("lock model: %w", err) // none is missing
		}
		if ifRevision != 0 && ifRevision != now.Revision {
			return false, staleModel(now.Revision)
		}
		if now == (db.LockModelRow{
			Provider: string(in.Provider), BaseUrl: in.BaseURL, Model: in.Underlying, Secret: in.Secret, PriceInput: in.Price.Input,
			PriceCached: in.Price.Cached, PriceOutput: in.Price.Output, ContextTokens: int32(in.ContextTokens), Revision: now.Revision,
		}) {
			return false, nil
		}
		err = queries.UpdateModel(ctx, tx, db.UpdateModelParams{
			Workspace: actor.Workspace, Name: name, Provider: string(in.Provider), BaseUrl: in.BaseURL, Model: in.Underlying,
			Secret: in.Secret, PriceInput: in.Price.Input, PriceCached: in.Price.Cached, PriceOutput: in.Price.Output,
			ContextTokens: int32(in.ContextTokens),
		})
		if err != nil {
			return false, fmt.Errorf("update model: %w", err)
		}
		return true, nil
	})
}

func staleModel(revision int64) error {
	return fault.New(fault.Conflict, "stale_revision", "The model was changed since you opened it.").
		Do("Look at what it is now, then make your change again.").With("revision", revision)
}

// writeModel is the shape of a write: what is checked goes to write in one
// transaction, under the lock of the workspace's agent, and leaves a trace when
// it changed something.
func (s *Service) writeModel(ctx context.Context, actor capability.Actor, action string, in ModelInput,
	write func(context.Context, pgx.Tx, ModelInput) (changed bool, err error),
) (Model, error) {
	if err := mayRegister(actor); err != nil {
		return Model{}, err
	}
	in, err := s.check(ctx, in)
	if err != nil {
		return Model{}, err
	}
	var out Model
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := queries.LockAgent(ctx, tx, actor.Workspace); err != nil {
			return fmt.Errorf("lock agent: %w", err)
		}
		changed, err := write(ctx, tx, in)
		if err != nil {
			return err
		}
		if changed {
			if err := recordModel(ctx, tx, actor, action, in.Name, map[string]any{
				"provider": in.Provider, "baseUrl": in.BaseURL, "model": in.Underlying, "secret": in.Secret,
			}); err != nil {
				return err
			}
		}
		out, err = s.modelIn(ctx, tx, actor, in.Name)
		return err
	})
	return out, err
}

func mayRegister(actor capability.Actor) error {
	if _, err := subjectOf(actor); err != nil {
		return err
	}
	return capability.May(actor, capability.ActSettings, capability.Ownership{})
}

func recordModel(ctx context.Context, tx pgx.Tx, actor capability.Actor, action, name string, detail map[string]any) error {
	return record(ctx, tx, actor, pg.Change{Topic: TopicModel, Key: name}, pg.Entry{Action: action, Target: name, Detail: detail})
}

// DeleteModel removes a model. While the workspace's agent is set to it, that
// is a model_in_use conflict. Members and conversations that chose it keep
// their choice, which ModelFor then refuses by name.
func (s *Service) DeleteModel(ctx context.Context, actor capability.Actor, name string, ifRevision int64) error {
	if err := mayRegister(actor); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := queries.LockAgent(ctx, tx, actor.Workspace); err != nil {
			return fmt.Errorf("lock agent: %w", err)
		}
		now, err := queries.LockModel(ctx, tx, db.LockModelParams{Workspace: actor.Workspace, Name: name})
		if err != nil {
			return fmt.Errorf("lock model: %w", err) // none is missing
		}
		if ifRevision != 0 && ifRevision != now.Revision {
			return staleModel(now.Revision)
		}
		config, err := newestConfig(ctx, tx, actor.Workspace)
		if err != nil {
			return err
		}
		if config.Config.Model == name {
			return fault.New(fault.Conflict, "model_in_use", "This workspace's agent thinks with %s.", name).
				Do("Let the workspace think with another model, or with none, then remove it.").With("name", name)
		}
		if _, err := queries.DeleteModel(ctx, tx, db.DeleteModelParams{Workspace: actor.Workspace, Name: name}); err != nil {
			return fmt.Errorf("delete model: %w", err)
		}
		return recordModel(ctx, tx, actor, "model.delete", name, nil)
	})
}

// modelThere refuses a change of the config to a model that is not registered.
func modelThere(ctx context.Context, tx pgx.Tx, e *edit) error {
	if e.next.Model == "" || e.next.Model == e.prev.Model {
		return nil
	}
	there, err := queries.ModelThere(ctx, tx, db.ModelThereParams{Workspace: e.actor.Workspace, Name: e.next.Model})
	if err != nil {
		return fmt.Errorf("look for the model: %w", err)
	}
	if !there {
		return fault.Fields([]fault.Field{noSuchModel(e.next.Model)})
	}
	return nil
}

func noSuchModel(name string) fault.Field {
	return fault.Field{Path: "/model", Code: "no_such_model", Message: fmt.Sprintf("This workspace has no model %q. An admin registers models in Settings.", name)}
}
