package workspace

import (
	"context"
	"fmt"
	"time"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Provider is the protocol that a model speaks.
type Provider string

const (
	ProviderAnthropic Provider = "anthropic"
	// ProviderOpenAI is OpenAI's Chat Completions, which most other servers
	// speak too.
	ProviderOpenAI Provider = "openai"
)

// Providers lists every provider.
var Providers = []Provider{ProviderAnthropic, ProviderOpenAI}

// BaseURL is where the provider's own service is.
func (p Provider) BaseURL() string {
	if p == ProviderAnthropic {
		return "https://api.anthropic.com"
	}
	return "https://api.openai.com/v1"
}

// Price is what a million tokens cost, in US dollars, as decimals such as
// "0.25"; "" is not known.
type Price struct {
	Input  string
	Cached string // of input that the provider had in its cache; "" as other input
	Output string
}

// Model is something that agents of the workspace may think with.
type Model struct {
	Name     string // what is chosen
	Provider Provider
	BaseURL  string
	// Underlying is the model as its provider calls it.
	Underlying string
	// Secret is the name of the secret with the key, "" where the provider asks
	// for none.
	Secret        string
	Price         Price
	ContextTokens int // 0 is not known
	By            Person
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Revision      int64

	// OwnSecret and SharedSecret say whether the reader, and whether the
	// workspace, has a secret of that name. The reader's goes first.
	OwnSecret, SharedSecret bool
	// ChosenBy is how many members chose it for themselves.
	ChosenBy int
}

// Lacks returns the name of the secret that the model needs and its reader
// cannot give, "" for none.
func (m Model) Lacks() string {
	if m.Secret == "" || m.OwnSecret || m.SharedSecret {
		return ""
	}
	return m.Secret
}

// Models lists the workspace's models by name.
func (s *Service) Models(ctx context.Context, actor capability.Actor) ([]Model, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return nil, err
	}
	return s.models(ctx, s.db, actor, "")
}

// Model returns one of the workspace's models, or a missing fault.
func (s *Service) Model(ctx context.Context, actor capability.Actor, name string) (Model, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return Model{}, err
	}
	return s.modelIn(ctx, s.db, actor, name)
}

func (s *Service) modelIn(ctx context.Context, h db.DBTX, actor capability.Actor, name string) (Model, error) {
	if name == "" {
		return Model{}, fault.Missing()
	}
	found, err := s.models(ctx, h, actor, name)
	if err != nil {
		return Model{}, err
	}
	if len(found) == 0 {
		return Model{}, fault.Missing()
	}
	return found[0], nil
}

// models reads all, or the one of the name.
func (s *Service) models(ctx context.Context, h db.DBTX, actor capability.Actor, name string) ([]Model, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.ModelsOf(ctx, h, db.ModelsOfParams{Workspace: actor.Workspace, Viewer: subject, Name: name})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read models: %w", err))
	}
	out := make([]Model, len(rows))
	for i, r := range rows {
		out[i] = Model{
			Name: r.Name, Provider: Provider(r.Provider), BaseURL: r.BaseUrl, Underlying: r.Model, Secret: r.Secret,
			Price:         Price{Input: r.PriceInput, Cached: r.PriceCached, Output: r.PriceOutput},
			ContextTokens: int(r.ContextTokens), By: person(&r.CreatedBy, r.Author), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
			Revision: r.Revision, OwnSecret: r.OwnSecret, SharedSecret: r.SharedSecret, ChosenBy: int(r.ChosenBy),
		}
	}
	return out, nil
}
