package model

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// chat speaks Chat Completions, OpenAI's and that of its likenesses.
type chat struct {
	config  Config
	own     bool // OpenAI's own server
	service sdk.ChatCompletionService
	list    sdk.ModelService
	// What this server was found not to take, of what others must be given.
	usageRefused atomic.Bool
	otherLimit   atomic.Bool // the other of the two names for the longest answer
}

func newOpenAI(c Config, base address) *chat {
	options := openAIOptions(c, base)
	return &chat{config: c, own: base.own,
		service: sdk.NewChatCompletionService(options...), list: sdk.NewModelService(options...)}
}

// openAIOptions are for services made one by one: the SDK's client would read
// a key, an address and headers of the operator's out of the environment.
func openAIOptions(c Config, base address) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(base.root),
		option.WithHTTPClient(newWire(c)),
		option.WithMaxRetries(0),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	return options
}

func (d *chat) stream(ctx context.Context, r Request, on func(Delta)) (Output, error) {
	for {
		out, err := d.once(ctx, r, on)
		if !d.learns(err) {
			return out, err
		}
	}
}

// learns reports whether a refusal shows how to ask so that it is taken.
func (d *chat) learns(err error) bool {
	var status *statusError
	if !errors.As(err, &status) || (status.Status != http.StatusBadRequest && status.Status != http.StatusUnprocessableEntity) {
		return false
	}
	said := readSaid(status.Body)
	if said.isAny("stream_options", "include_usage") {
		return d.usageRefused.CompareAndSwap(false, true)
	}
	return said.isAny("max_tokens", "max_completion_tokens") && !said.isTooLong(status.Status) &&
		d.otherLimit.CompareAndSwap(false, true)
}

func (d *chat) once(ctx context.Context, r Request, on func(Delta)) (Output, error) {
	stream := d.service.NewStreaming(ctx, d.params(r), option.WithHeader("Accept", eventStream))
	defer func() { _ = stream.Close() }()
	a := &chatAnswer{config: d.config, ids: idsOf(r.Messages), on: on}
	for stream.Next() {
		a.take(stream.Current())
	}
	out := a.output()
	var told *ssestream.StreamError
	switch err := stream.Err(); {
	case a.reason != "": // what may be missing is the count of tokens
		return out, nil
	case errors.As(err, &told):
		return out, toldError(told.Event.Data)
	case err != nil:
		return out, err
	}
	return out, errBrokenOff
}

// toldError reads an error that came in the stream. Its code is the status
// with some servers.
func toldError(body []byte) error {
	said := readSaid(body)
	status, err := strconv.Atoi(said.Code)
	switch {
	case err == nil && status >= 400 && status < 600:
	case said.isAny("rate_limit"):
		status = http.StatusTooManyRequests
	case said.isAny("invalid_api_key"):
		status = http.StatusUnauthorized
	case said.isAny("invalid_request"):
		status = http.StatusBadRequest
	default:
		status = http.StatusInternalServerError
	}
	return &statusError{Status: status, Header: http.Header{}, Body: body}
}

func (d *chat) models(ctx context.Context) ([]string, error) {
	page, err := d.list.List(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(page.Data))
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
