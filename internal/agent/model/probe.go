package model

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// probeTokens is what a probe may cost: the least that thinking models take.
const probeTokens = 16

// Probe asks the model for a few tokens, with a tool at hand, and returns nil
// or the fault of Stream. A list of models would be cheaper, but many servers
// give it to anybody, leave names out, and say nothing of tools. With
// model_not_found comes the nearest name that the server has, if any.
func (c *Client) Probe(ctx context.Context) error {
	_, err := c.Stream(ctx, Request{
		Messages:  []Message{{Role: User, Text: "Say ok."}},
		Tools:     []Tool{{Name: "nothing", Description: "Does nothing.", Schema: json.RawMessage(`{"type":"object"}`)}},
		MaxTokens: probeTokens,
	}, func(Delta) {})
	if !fault.HasCode(err, "model_not_found") {
		return err
	}
	names, listErr := c.Models(ctx)
	if listErr != nil {
		return err
	}
	found := fault.From(err)
	if near := jsonx.Nearest(c.config.Name, names); near != "" {
		found = found.Do("Did you mean "+near+"?").With("nearest", near)
	}
	return found.With("models", names)
}

// Models lists the names of the models that the server offers, sorted, or the
// fault of Stream.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	var names []string
	begun := false
	err := c.persist(ctx, &begun, func(ctx context.Context) (err error) {
		names, err = c.speak.models(ctx)
		return err
	})
	names = slices.DeleteFunc(names, func(name string) bool { return strings.TrimSpace(name) == "" })
	slices.Sort(names)
	return slices.Compact(names), err
}
