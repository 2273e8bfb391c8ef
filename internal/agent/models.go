package agent

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/internal/agent/model"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/netguard"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// probeTime bounds a test of a model. A local server loads its model in it.
const probeTime = 45 * time.Second

// modelWay is how a model's server is reached: an answer is a stream without
// an end of its own, and plain http is for hosts that the operator allows.
var modelWay = netguard.ClientOptions{MaxBody: 1 << 30, RequireTLS: true}

// openModel returns a client of a registered model, with the key that the
// actor's calls are given: his own secret of the name, else the workspace's. A
// secret that is not there is a model_key_missing fault. The function lets go
// of its connections; call it in any case.
func (s *Service) openModel(ctx context.Context, actor capability.Actor, m workspace.Model) (*model.Client, func(), error) {
	way := s.guard.Client(modelWay)
	config := model.Config{Provider: model.Provider(m.Provider), BaseURL: m.BaseURL, Name: m.Underlying, HTTP: way}
	if m.Secret != "" {
		found, missing, err := s.secrets.Resolve(ctx, actor.Workspace, actor.Subject, []string{m.Secret})
		if err != nil {
			return nil, way.CloseIdleConnections, err
		}
		if len(missing) > 0 {
			return nil, way.CloseIdleConnections, m.KeyMissing()
		}
		if config.Key, err = found[m.Secret].Header(); err != nil {
			return nil, way.CloseIdleConnections, err
		}
		if err := s.keyUsed(ctx, actor, m); err != nil {
			return nil, way.CloseIdleConnections, err
		}
	}
	client, err := model.New(config)
	return client, way.CloseIdleConnections, err
}

// keyUsed records that the model's key leaves for its provider.
func (s *Service) keyUsed(ctx context.Context, actor capability.Actor, m workspace.Model) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return secret.Used(ctx, tx, actor, "model:"+m.Name, []string{m.Secret})
	})
}

// ProbeModel asks a registered model of the actor's workspace for a sign of
// life, with the key that his calls are given. It returns nil where address,
// key and model are right, else the fault that tells which is not.
func (s *Service) ProbeModel(ctx context.Context, actor capability.Actor, name string) error {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return err
	}
	m, err := s.workspace.Model(ctx, actor, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	client, done, err := s.openModel(ctx, actor, m)
	defer done()
	if err != nil {
		return err
	}
	err = client.Probe(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "model_unreachable", "The model %s said nothing for %s.", name, probeTime).
			Do("Check that its server runs, and try again once it has loaded the model.")
	}
	return err
}

// priceOf is what the model costs, false where nobody said.
func priceOf(m workspace.Model) (model.Price, bool) {
	if m.Price.Input == "" && m.Price.Output == "" {
		return model.Price{}, false
	}
	price := model.PriceOf(model.Provider(m.Provider), microDollars(m.Price.Input), microDollars(m.Price.Output))
	if m.Price.Cached != "" {
		price.CachedInput = microDollars(m.Price.Cached)
	}
	return price, true
}

// microDollars reads a decimal of dollars, 0 for none.
func microDollars(text string) int64 {
	amount, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0
	}
	amount.Mul(amount, big.NewRat(1_000_000, 1))
	return new(big.Int).Quo(amount.Num(), amount.Denom()).Int64()
}
