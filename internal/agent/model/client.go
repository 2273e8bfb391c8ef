package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/sethvargo/go-retry"

	"capstore/internal/fault"
)

// dialect is one provider's protocol: a single attempt, and its raw errors.
type dialect interface {
	stream(ctx context.Context, r Request, on func(Delta)) (Output, error)
	models(ctx context.Context) ([]string, error)
}

// Client is a Model at a provider. It is safe for parallel use.
type Client struct {
	config Config
	base   address
	speak  dialect
}

var _ Model = (*Client)(nil)

// New returns the client of a model. The fault is model_key_missing where the
// provider's own address is used without a key, model_address_invalid or
// model_provider_unknown. Nothing is asked yet.
func New(c Config) (*Client, error) {
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	if c.Provider == Anthropic {
		client.speak = newAnthropic(c, client.base)
	} else {
		client.speak = newOpenAI(c, client.base)
	}
	return client, nil
}

func newClient(c Config) (*Client, error) {
	if c.HTTP == nil {
		return nil, errors.New("model: a Config without HTTP client")
	}
	base, err := addressOf(c.Provider, c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Key == "" && base.own {
		return nil, fault.New(fault.Unavailable, "model_key_missing",
			"The model %s needs a key, and none is set.", c.Name).
			Do("An admin of the workspace can set the secret that the model names.")
	}
	return &Client{config: c, base: base}, nil
}

// Stream implements Model. An attempt that fails before anything was told is
// made again, four times at most.
func (c *Client) Stream(ctx context.Context, r Request, on func(Delta)) (Output, error) {
	r.Messages = settle(r.Messages)
	var out Output
	begun := false
	err := c.persist(ctx, &begun, func(ctx context.Context) (err error) {
		out, err = c.speak.stream(ctx, r, func(d Delta) {
			begun = true
			on(d)
		})
		return err
	})
	return out, err
}

// persist makes attempts until one succeeds, fails for good, or has begun. The
// error is the context's own or a fault.
func (c *Client) persist(ctx context.Context, begun *bool, attempt func(context.Context) error) error {
	var last failure
	err := retry.Do(ctx, waits(c.config.Backoff, &last), func(ctx context.Context) error {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		last = c.judge(err, *begun)
		if last.retry {
			return retry.RetryableError(last.fault)
		}
		return last.fault
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("ask the model %s: %w", c.config.Name, ctx.Err())
	}
	return err
}
