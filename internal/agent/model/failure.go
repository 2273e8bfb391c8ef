package model

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"capstore/internal/fault"
)

// errBrokenOff is a stream that ended before it said that it was over.
var errBrokenOff = errors.New("the connection was closed before the answer was complete")

// causeLength is how many bytes of a raw error go to the log.
const causeLength = 2 << 10

// failure is what an attempt came to, in words for people.
type failure struct {
	fault *fault.Fault
	retry bool          // another attempt may go better
	after time.Duration // what the provider asked to wait; 0 when it did not
}

// judge reads the error of one attempt. Once the answer had begun, whatever
// ends it is a death: the member has read the beginning, and a second attempt
// would say something else.
func (c *Client) judge(err error, begun bool) failure {
	var status *statusError
	var media *mediaError
	var lost *lostError
	var f failure
	switch {
	case errors.As(err, &status) && begun:
		f = c.died(c.said(status.Body).orText(status.Error()))
	case errors.As(err, &status):
		f = c.refused(status)
	case errors.As(err, &media):
		f = c.unreadable(fmt.Sprintf("it is %s, not a stream", orUnnamed(media.Type)), c.said(media.Body))
	case errors.Is(err, errEndless):
		f = c.unreadable(err.Error(), said{})
	case errors.Is(err, errBrokenOff), errors.As(err, &lost):
		f = c.lost(err, begun)
	default:
		f = c.unreadable("what came is not in the protocol's form", said{})
	}
	// The cause goes to the log, and some libraries put whole requests into it.
	f.fault = f.fault.Because(errors.New(hideKey(c.config.Key, cut(err.Error(), causeLength))))
	return f
}

func (c *Client) died(why string) failure {
	return failure{fault: fault.New(fault.Unavailable, "provider_died",
		"The answer of %s broke off: %s", c.config.Name, sentence(why)).
		Do("Ask again; what had come is kept.")}
}

func (c *Client) lost(err error, begun bool) failure {
	why := err.Error()
	if errors.Is(err, errSilent) {
		why = fmt.Sprintf("nothing came for %s", c.silence())
	}
	if begun {
		return c.died(hideKey(c.config.Key, why))
	}
	var refused *fault.Fault
	if errors.As(err, &refused) { // by the guard of outgoing connections
		return failure{fault: fault.New(fault.Unavailable, "model_unreachable",
			"%s may not be reached: %s", c.base.host, sentence(refused.Message)).Do(refused.Action)}
	}
	return failure{retry: true, fault: fault.New(fault.Unavailable, "model_unreachable",
		"%s cannot be reached: %s", c.base.host, sentence(hideKey(c.config.Key, why))).
		Do("Check that the server runs and that the address of the model is right.")}
}

func (c *Client) unreadable(why string, said said) failure {
	return failure{fault: fault.New(fault.Unavailable, "model_answer_unreadable",
		"The answer of %s cannot be read: %s.%s", c.base.host, why, said.quoted()).
		Do("Check that the address is that of the provider's API, and the right provider is chosen.")}
}

// refused reads a status that came instead of an answer.
func (c *Client) refused(e *statusError) failure {
	said := c.said(e.Body)
	f := failure{after: retryAfter(e.Header, time.Now())}
	as := func(kind fault.Kind, code, action, format string, args ...any) failure {
		f.fault = fault.New(kind, code, "%s%s", fmt.Sprintf(format, args...), said.quoted()).
			Do(action).With("status", e.Status)
		return f
	}
	switch {
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return as(fault.Unavailable, "model_unauthorized", "An admin of the workspace can check the secret that the model names.",
			"%s does not accept the key (%d).", c.base.host, e.Status)
	case e.Status == http.StatusPaymentRequired, said.isAny("insufficient_quota", "billing", "credit balance"):
		return as(fault.Limited, "model_limited", "Whoever pays for the account can add credit at the provider.",
			"The account at %s has nothing left to spend.", c.base.host)
	case said.isTooLong(e.Status):
		return as(fault.TooLarge, "model_too_long", "Begin a new conversation, or choose a model with a larger context.",
			"The conversation is longer than %s can read.", c.config.Name)
	case e.Status == http.StatusNotFound, said.isAny("model_not_found"):
		return as(fault.Unavailable, "model_not_found", "An admin of the workspace can check the model's name and address.",
			"%s has no model %s at this address.", c.base.host, c.config.Name)
	}
	f.retry = retriable(e)
	switch {
	case e.Status == http.StatusTooManyRequests:
		action := "Ask again in a while."
		if f.after > 0 {
			action = fmt.Sprintf("Ask again in %s.", f.after.Round(time.Second))
		}
		return as(fault.Limited, "model_limited", action, "%s takes no more questions just now.", c.base.host)
	case e.Status >= 300 && e.Status < 400:
		return as(fault.Unavailable, "model_unreachable", "Register the model with the address that it leads to.",
			"%s leads to another address.", c.base.host)
	case e.Status >= 500, f.retry:
		return as(fault.Unavailable, "model_unreachable", "Ask again in a while.",
			"%s cannot answer just now (%d).", c.base.host, e.Status)
	}
	return as(fault.Unavailable, "model_refused", "An admin of the workspace can check how the model is registered.",
		"%s does not take the question (%d).", c.base.host, e.Status)
}

func (c *Client) said(body []byte) said {
	s := readSaid(body)
	s.Message = hideKey(c.config.Key, s.Message)
	return s
}

func (c *Client) silence() time.Duration {
	if c.config.Silence > 0 {
		return c.config.Silence
	}
	return silence
}

// sentence ends a text that somebody else wrote.
func sentence(s string) string {
	s = clean(s)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

func orUnnamed(media string) string {
	if media == "" {
		return "of no named type"
	}
	return media
}
