package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"
)

const (
	// errorBody is how much of a refusal is read: enough for its message.
	errorBody = 64 << 10
	// answerBody bounds one answer on the wire. The longest answers of today are
	// below 1 MiB of text, and each token travels in an envelope of its own.
	answerBody = 128 << 20
	silence    = 5 * time.Minute
)

// eventStream is what a request for a stream accepts. Servers that forget to
// say what they send are believed; what it is shows soon enough.
const eventStream = "text/event-stream"

var (
	errSilent  = errors.New("the provider fell silent")
	errEndless = errors.New("the answer does not end")
)

// statusError is an answer that is none: a status, or a body of another kind.
type statusError struct {
	Status int
	Header http.Header
	Body   []byte // its beginning
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the provider answered %d", e.Status)
}

// mediaError is a good status with a body that is neither a stream nor JSON
// where JSON was asked for.
type mediaError struct {
	Type string
	Body []byte // its beginning
}

func (e *mediaError) Error() string { return "the provider answered with " + e.Type }

// lostError is a connection that could not be made or that broke.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// wire carries the requests of both SDKs. It sees what they hide: a status
// whose body is no JSON, a page of HTML where a stream should be, and silence.
type wire struct {
	client  *http.Client
	silence time.Duration
}

func newWire(c Config) *wire {
	client := *c.HTTP
	// A redirect would take the key elsewhere, or turn the question into a GET.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w := &wire{client: &client, silence: c.Silence}
	if w.silence <= 0 {
		w.silence = silence
	}
	return w
}

// Do makes one request. The error is a *statusError or *mediaError for an
// answer that holds none, or a *lostError.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(w.silence, func() { cancel(errSilent) })
	stop := func() { timer.Stop(); cancel(nil) }
	res, err := w.client.Do(req.WithContext(ctx))
	if err != nil {
		err = causeOf(ctx, err)
		stop()
		return nil, err
	}
	body := &watched{ReadCloser: res.Body, ctx: ctx, heard: func() { timer.Reset(w.silence) }, stop: stop, left: answerBody}
	if err := refusal(res, body); err != nil {
		_ = body.Close()
		return nil, err
	}
	res.Body = body
	return res, nil
}

// refusal reads the beginning of an answer that holds none.
func refusal(res *http.Response, body io.Reader) error {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	good := res.StatusCode >= 200 && res.StatusCode < 300
	wanted := []string{"application/json"}
	if res.Request.Header.Get("Accept") == eventStream {
		wanted = []string{eventStream, "text/plain", "application/octet-stream", ""}
	}
	if good && slices.Contains(wanted, media) {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(body, errorBody))
	switch {
	case good && err != nil:
		return err
	case good:
		return &mediaError{Type: media, Body: text}
	}
	return &statusError{Status: res.StatusCode, Header: res.Header, Body: text}
}

// watched is a body that counts every byte as a sign of life.
type watched struct {
	io.ReadCloser
	ctx   context.Context
	heard func()
	stop  func()
	left  int64
}

func (b *watched) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errEndless
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if n > 0 {
		b.heard()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = causeOf(b.ctx, err)
	}
	return n, err
}

func (b *watched) Close() error {
	b.stop()
	return b.ReadCloser.Close()
}

// causeOf names silence where it, and not the caller, ended the request.
func causeOf(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		err = errSilent
	}
	return &lostError{err}
}
