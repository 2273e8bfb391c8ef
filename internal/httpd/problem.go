package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"capstore/internal/fault"
)

// statuses is the one table from a fault's kind to HTTP.
var statuses = map[fault.Kind]int{
	fault.NotFound:        http.StatusNotFound,
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.Malformed:       http.StatusBadRequest,
	fault.TooLarge:        http.StatusRequestEntityTooLarge,
	fault.Conflict:        http.StatusConflict,
	fault.Denied:          http.StatusForbidden,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Revoked:         http.StatusForbidden,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Internal:        http.StatusInternalServerError,
}

// Status is the HTTP status of the fault within err.
func Status(err error) int { return statuses[fault.From(err).Kind] }

// Problem is an RFC 9457 document with capstore's members.
type Problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Code      string         `json:"code"`
	Detail    string         `json:"detail"`
	Action    string         `json:"action,omitempty"`
	Reference string         `json:"reference,omitempty"`
	Errors    []fault.Field  `json:"errors,omitempty"`
	Facts     map[string]any `json:"facts,omitempty"`
}

// ProblemOf renders the fault within err for the request.
func ProblemOf(req *http.Request, err error) Problem {
	f := fault.From(err)
	return Problem{
		Type: "about:blank", Title: http.StatusText(statuses[f.Kind]), Status: statuses[f.Kind],
		Code: f.Code, Detail: f.Message, Action: f.Action,
		Reference: Reference(req.Context()), Errors: f.Fields, Facts: f.Detail,
	}
}

// WriteProblem answers with the fault within err as a problem document.
func WriteProblem(w http.ResponseWriter, req *http.Request, err error) {
	ProblemOf(req, err).Write(w)
}

// Write answers with the document.
func (p Problem) Write(w http.ResponseWriter) { p.WriteAs(w, "application/problem+json", p) }

// WriteAs answers with another document that tells the same, for clients that
// know errors of their own.
func (p Problem) WriteAs(w http.ResponseWriter, mediaType string, body any) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="capstore"`)
	}
	retryAfter(h, p.Facts)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(body)
}

// RetryAfter says in the header when the limit that err holds ends; without
// one it does nothing.
func RetryAfter(h http.Header, err error) { retryAfter(h, fault.From(err).Detail) }

func retryAfter(h http.Header, facts map[string]any) {
	if secs, ok := facts["retryAfterSec"].(int); ok {
		h.Set("Retry-After", strconv.Itoa(secs))
	}
}

// LogFault writes what a user must not see to the log, under the reference
// that he does see. Faults of the caller's making are not logged as errors,
// and his leaving before the answer is one of them.
func (r *Root) LogFault(req *http.Request, err error) {
	f := fault.From(err)
	level := slog.LevelDebug
	left := req.Context().Err() != nil && errors.Is(err, context.Canceled)
	if !left && (f.Kind == fault.Internal || f.Kind == fault.Unavailable) {
		level = slog.LevelError
	}
	r.Log.Log(req.Context(), level, "httpd: fault", "ref", Reference(req.Context()),
		"pattern", req.Pattern, "code", f.Code, "error", f.Error())
}
