package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// ChosenFrom is whose choice of a model holds.
type ChosenFrom string

const (
	FromConversation ChosenFrom = "conversation"
	FromMember       ChosenFrom = "member"
	FromWorkspace    ChosenFrom = "workspace"
	FromNone         ChosenFrom = "none" // nobody chose: direct mode
)

// Chosen is the model that a turn thinks with. With FromNone, Model is zero.
type Chosen struct {
	Model Model
	From  ChosenFrom
}

// Choices is what was chosen in one workspace, by name; "" is nothing.
type Choices struct {
	Workspace     string
	WorkspaceName string
	Own           string // the member's own
	Shared        string // the workspace's
	// Models are what may be chosen there, without their addresses and prices.
	Models []Model
}

func (c Choices) effective(conversation string) (string, ChosenFrom) {
	switch {
	case conversation != "":
		return conversation, FromConversation
	case c.Own != "":
		return c.Own, FromMember
	case c.Shared != "":
		return c.Shared, FromWorkspace
	}
	return "", FromNone
}

// ModelFor returns what the actor's agent thinks with: the conversation's
// choice, else his own, else the workspace's, else none. A choice that cannot
// be used is a fault that names it, never another model in its place:
// model_gone where it is not registered any more, model_key_missing where its
// secret is not set. The Chosen beside the fault says whose choice it was.
func (s *Service) ModelFor(ctx context.Context, actor capability.Actor, conversation string) (Chosen, error) {
	choices, err := s.ModelChoices(ctx, actor)
	if err != nil {
		return Chosen{From: FromNone}, err
	}
	name, from := choices.effective(conversation)
	if from == FromNone {
		return Chosen{From: FromNone}, nil
	}
	found, err := s.models(ctx, s.db, actor, name)
	if err != nil {
		return Chosen{From: from}, err
	}
	return choices.Pick(found, conversation)
}

// Pick is ModelFor among models that were read already.
func (c Choices) Pick(among []Model, conversation string) (Chosen, error) {
	name, from := c.effective(conversation)
	if from == FromNone {
		return Chosen{From: FromNone}, nil
	}
	i := slices.IndexFunc(among, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Chosen{Model: Model{Name: name}, From: from}, modelGone(name, from)
	}
	if among[i].Lacks() != "" {
		return Chosen{Model: among[i], From: from}, among[i].KeyMissing()
	}
	return Chosen{Model: among[i], From: from}, nil
}

func modelGone(name string, from ChosenFrom) error {
	return fault.New(fault.Conflict, "model_gone", "The model %s is not registered here any more.", name).
		Do(chooseAgain[from]).With("name", name).With("from", string(from))
}

// chooseAgain says who can make another choice where.
var chooseAgain = map[ChosenFrom]string{
	FromConversation: "Choose another model for this conversation.",
	FromMember:       "Choose another model in your account, or follow the workspace.",
	FromWorkspace:    "Ask an admin of this workspace to choose another one, or choose one for yourself in your account.",
}

// KeyMissing is the fault of a model whose secret is not set.
func (m Model) KeyMissing() error {
	return fault.New(fault.Conflict, "model_key_missing", "The model %s needs the secret %s, which is not set.", m.Name, m.Secret).
		Do("Ask somebody who keeps this workspace's secrets to store it, or store one of your own under that name.").
		With("name", m.Name).With("secret", m.Secret)
}

// ModelChoices returns what the actor and his workspace chose, without Models.
func (s *Service) ModelChoices(ctx context.Context, actor capability.Actor) (Choices, error) {
	if err := capability.May(actor, capability.ActOwnRead, capability.Ownership{}); err != nil {
		return Choices{}, err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return Choices{}, err
	}
	rows, err := queries.ModelChoices(ctx, s.db, db.ModelChoicesParams{Subject: subject, Workspace: actor.Workspace})
	if err != nil {
		return Choices{}, pg.Fault(fmt.Errorf("read model choices: %w", err))
	}
	if len(rows) == 0 {
		return Choices{}, fault.Missing()
	}
	return choicesOf(rows[0]), nil
}

func choicesOf(r db.ModelChoicesRow) Choices {
	return Choices{Workspace: r.Workspace, WorkspaceName: r.WorkspaceName, Own: r.Own, Shared: r.Shared}
}

// ModelsEverywhere returns the subject's choices in each of his workspaces,
// with what he may choose from. Who belongs to none gets none.
func (s *Service) ModelsEverywhere(ctx context.Context, subject string) ([]Choices, error) {
	id, err := subjectOf(capability.Actor{Subject: subject, Workspace: "every"})
	if err != nil {
		return nil, err
	}
	rows, err := queries.ModelChoices(ctx, s.db, db.ModelChoicesParams{Subject: id})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read model choices: %w", err))
	}
	names, err := queries.ModelNamesOf(ctx, s.db, id)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read model names: %w", err))
	}
	offered := map[string][]Model{}
	for _, n := range names {
		offered[n.Workspace] = append(offered[n.Workspace], Model{
			Name: n.Name, Underlying: n.Model, Secret: n.Secret, OwnSecret: n.OwnSecret, SharedSecret: n.SharedSecret,
		})
	}
	out := make([]Choices, len(rows))
	for i, r := range rows {
		out[i] = choicesOf(r)
		out[i].Models = offered[r.Workspace]
	}
	return out, nil
}

// ChooseModel records what the actor's own agent thinks with in his workspace;
// "" follows the workspace again. A name that is not registered is a fault at
// /model.
func (s *Service) ChooseModel(ctx context.Context, actor capability.Actor, name string) error {
	if err := capability.May(actor, capability.ActOwn, capability.Fresh); err != nil {
		return err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		who := db.TouchOverlayParams{Workspace: actor.Workspace, Subject: subject}
		if _, err := queries.TouchOverlay(ctx, tx, who); err != nil {
			return fmt.Errorf("lock overlay: %w", err)
		}
		if err := writeChoice(ctx, tx, who, name); err != nil {
			return err
		}
		return record(ctx, tx, actor, pg.Change{Topic: TopicOverlay, Key: actor.Subject}, pg.Entry{
			Action: "overlay.model", Target: name,
		})
	})
}

func writeChoice(ctx context.Context, tx pgx.Tx, who db.TouchOverlayParams, name string) error {
	if name == "" {
		err := queries.DeleteMemberModel(ctx, tx, db.DeleteMemberModelParams(who))
		if err != nil {
			return fmt.Errorf("clear model choice: %w", err)
		}
		return nil
	}
	there, err := queries.ModelThere(ctx, tx, db.ModelThereParams{Workspace: who.Workspace, Name: name})
	if err != nil {
		return fmt.Errorf("look for the model: %w", err)
	}
	if !there {
		return fault.Fields([]fault.Field{noSuchModel(name)})
	}
	err = queries.PutMemberModel(ctx, tx, db.PutMemberModelParams{Workspace: who.Workspace, Subject: who.Subject, Model: name})
	if err != nil {
		return fmt.Errorf("set model choice: %w", err)
	}
	return nil
}
