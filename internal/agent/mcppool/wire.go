package mcppool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"capstore/internal/fault"
	"capstore/internal/netguard"
)

// exchange is what one request of ours went through. It rides the context, so
// that the wire can hand back what the SDK would re-spell (every number becomes
// a float64 there) or refuse whole (an unknown content block).
type exchange struct {
	mu sync.Mutex
	outcome
}

// outcome is what is known of an exchange afterwards.
type outcome struct {
	sent    bool            // a request may have reached the server
	session bool            // it carried a session id
	status  int             // of the last answer
	rpcErr  *rpcError       // that the server answered
	result  json.RawMessage // as the server spelt it
	refused error           // why the wire refused the answer
}

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// exchangeOf returns the request's exchange, one that nobody reads when the
// request is not of a call.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

func (x *exchange) note(f func(*outcome)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f(&x.outcome)
}

func (x *exchange) refuse(err error) error {
	x.note(func(o *outcome) { o.refused = err })
	return err
}

func (x *exchange) read() outcome {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.outcome
}

// wire carries the requests of one session: it adds the bound headers, keeps
// them on their origin, bounds what comes back and keeps raw results.
type wire struct {
	next    http.RoundTripper
	origin  *url.URL
	headers []Header
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if netguard.SameOrigin(w.origin, r.URL) {
		for _, h := range w.headers {
			r.Header.Set(h.name, h.value)
		}
	}
	switch {
	case r.Method == http.MethodPost:
		return w.post(r)
	case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "":
		return w.listen(r), nil
	case r.Method == http.MethodGet:
		return w.resume(r)
	}
	return w.next.RoundTrip(r)
}

// CloseIdleConnections lets http.Client reach those of the transport below.
func (w *wire) CloseIdleConnections() {
	if c, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (w *wire) post(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r.Context())
	request, err := requestOf(r)
	if err != nil {
		return nil, err
	}
	x.note(func(o *outcome) { o.sent, o.session = true, r.Header.Get("Mcp-Session-Id") != "" })
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			// The guard refused it, or nobody listens: it was not sent.
			x.note(func(o *outcome) { o.sent = false })
			return nil, x.refuse(f)
		}
		return nil, err
	}
	switch resp.StatusCode / 100 {
	case 2:
		x.note(func(o *outcome) { o.status = resp.StatusCode })
		if request.ID == nil {
			return resp, nil // a notification: nobody reads the body
		}
		return tapped(x, resp, request)
	case 3:
		return resp, nil // the client follows it and comes back here
	}
	return failed(x, resp), nil
}

func (w *wire) resume(r *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(r)
	if err != nil || resp.StatusCode/100 != 2 {
		return resp, err
	}
	return tapped(exchangeOf(r.Context()), resp, rpc{})
}

func requestOf(r *http.Request) (rpc, error) {
	var m rpc
	if r.GetBody == nil {
		return m, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return m, fmt.Errorf("read request: %w", err)
	}
	defer func() { _ = body.Close() }() // it lies in memory
	if err := json.NewDecoder(body).Decode(&m); err != nil {
		return m, fmt.Errorf("read request: %w", err)
	}
	return m, nil
}
