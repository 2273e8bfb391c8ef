package model

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// defaultMaxTokens is asked for where nobody says, since Messages wants a
// number: what every model of today may write.
const defaultMaxTokens = 16_384

// messages speaks Anthropic's Messages.
type messages struct {
	config  Config
	service sdk.MessageService
	list    sdk.ModelService
	// eager is set once the server has refused deferred tools, which older
	// models and some likenesses do not know. Then it gets the loaded ones.
	eager atomic.Bool
	// most is what the model may write at most, once it has refused more; 0
	// before. Older ones write less than is asked for here by itself.
	most atomic.Int64
}

// tooMany finds the limit in a refusal of max_tokens.
var tooMany = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)

func newAnthropic(c Config, base address) *messages {
	// The services are made one by one: the SDK's client would read a key, an
	// address and headers of the operator's out of the environment.
	options := []option.RequestOption{
		option.WithBaseURL(base.root),
		option.WithHTTPClient(newWire(c)),
		option.WithMaxRetries(0),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	if c.Key != "" && !base.own { // likenesses and gateways look in either place
		options = append(options, option.WithAuthToken(c.Key))
	}
	return &messages{config: c, service: sdk.NewMessageService(options...), list: sdk.NewModelService(options...)}
}

func (d *messages) stream(ctx context.Context, r Request, on func(Delta)) (Output, error) {
	for {
		out, err := d.once(ctx, r, on)
		if !d.learns(err) {
			return out, err
		}
	}
}

// learns reports whether a refusal shows how to ask so that it is taken.
func (d *messages) learns(err error) bool {
	var status *statusError
	if !errors.As(err, &status) || status.Status != http.StatusBadRequest {
		return false
	}
	said := readSaid(status.Body)
	if found := tooMany.FindStringSubmatch(said.Message); found != nil {
		most, err := strconv.ParseInt(found[1], 10, 64)
		return err == nil && most > 0 && d.most.CompareAndSwap(0, most)
	}
	return said.isAny("defer_loading", "tool_reference", "deferred") && d.eager.CompareAndSwap(false, true)
}

func (d *messages) once(ctx context.Context, r Request, on func(Delta)) (Output, error) {
	stream := d.service.NewStreaming(ctx, d.params(r), option.WithHeader("Accept", eventStream))
	defer func() { _ = stream.Close() }()
	a := &messagesAnswer{config: d.config, ids: idsOf(r.Messages), on: on}
	for !a.over && stream.Next() {
		a.take(stream.Current())
	}
	out := a.output()
	switch err := stream.Err(); {
	case a.over:
		return out, nil
	case err != nil:
		return out, streamError(err)
	}
	return out, errBrokenOff
}

// streamError reads an error that came as an event of the stream.
func streamError(err error) error {
	var api *sdk.Error
	if !errors.As(err, &api) {
		return err
	}
	body := []byte(api.RawJSON())
	return &statusError{Status: statusOfType(readSaid(body).Type), Header: http.Header{}, Body: body}
}

// statusOfType gives the status that an error of this type has when it comes
// before the stream.
func statusOfType(typ string) int {
	switch typ {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error":
		return http.StatusTooManyRequests
	}
	return http.StatusInternalServerError
}

func (d *messages) models(ctx context.Context) ([]string, error) {
	page, err := d.list.List(ctx, sdk.ModelListParams{Limit: sdk.Int(100)})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(page.Data))
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
