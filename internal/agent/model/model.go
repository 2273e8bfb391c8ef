package model

import (
	"context"
	"net/http"
	"time"
)

// Provider is a protocol that models are served by.
type Provider string

const (
	// Anthropic is the Messages protocol.
	Anthropic Provider = "anthropic"
	// OpenAI is Chat Completions, as OpenAI, Ollama, vLLM, llama.cpp, LM Studio
	// and most gateways serve it.
	OpenAI Provider = "openai"
)

// Config says which model to speak to, and how.
type Config struct {
	Provider Provider
	// BaseURL is where the provider is served, with or without /v1; "" is the
	// provider's own address.
	BaseURL string
	// Name is the underlying model.
	Name string
	// Key is the credential. It may be empty for a server of one's own.
	Key string
	// HTTP makes the requests. A member steers BaseURL, so it comes from
	// netguard, without a bound on the whole exchange.
	HTTP *http.Client
	// Images says that an OpenAI-compatible model takes images. OpenAI's own
	// are known to.
	Images bool
	// Backoff is the wait before the first retry, doubled by each further one;
	// 0 means half a second.
	Backoff time.Duration
	// Silence is how long a provider may say nothing, its signs of life
	// included; 0 means five minutes, in which a local server loads its model.
	Silence time.Duration
}

// Model answers conversations.
type Model interface {
	// Stream asks for the next answer and tells on of each piece as it comes,
	// from the calling goroutine. On an error, Output holds what had come. A
	// cancelled context is returned as its own error, anything else as a fault:
	// model_unauthorized, model_not_found, model_limited, model_too_long,
	// model_refused, model_unreachable, model_answer_unreadable, or
	// provider_died for an answer that broke off.
	Stream(ctx context.Context, r Request, on func(Delta)) (Output, error)
}
