package model

import (
	"net/url"
	"strings"

	"capstore/internal/fault"
)

// address is where a provider is served.
type address struct {
	root string // what the SDK appends its path to
	host string // for messages
	own  bool   // the provider's own, which wants a key
}

var ownAddresses = map[Provider]string{
	Anthropic: "https://api.anthropic.com",
	OpenAI:    "https://api.openai.com/v1",
}

// addressOf reads a base URL as people paste it: with or without /v1, with a
// slash at its end, or with the path of the one call that its manual shows.
func addressOf(p Provider, raw string) (address, error) {
	own, known := ownAddresses[p]
	if !known {
		return address{}, fault.New(fault.Invalid, "model_provider_unknown",
			"There is no provider %q; there are anthropic and openai.", string(p))
	}
	if raw = strings.TrimSpace(raw); raw == "" {
		raw = own
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return address{}, fault.New(fault.Invalid, "model_address_invalid",
			"The model's address must begin with https:// or http:// and name a host, and nothing before it.")
	}
	u.Path = rootPath(p, u.Path)
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	ours, _ := url.Parse(own)
	return address{root: u.String(), host: u.Host, own: u.Host == ours.Host}, nil
}

func rootPath(p Provider, path string) string {
	path = strings.TrimRight(path, "/")
	for _, call := range []string{"/chat/completions", "/completions", "/messages", "/embeddings", "/models"} {
		path = strings.TrimSuffix(path, call)
	}
	if p == Anthropic {
		return strings.TrimSuffix(path, "/v1") + "/"
	}
	if path == "" {
		path = "/v1"
	}
	return path + "/"
}
