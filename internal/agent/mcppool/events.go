package mcppool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// eventTap passes a stream of server-sent events on, each message through tap.
// It bounds one event and, where limit is not 0, the whole.
type eventTap struct {
	src   io.ReadCloser
	in    *bufio.Reader
	x     *exchange
	out   bytes.Buffer
	err   error
	left  int64
	bound bool
}

func newEventTap(src io.ReadCloser, limit int64, x *exchange) *eventTap {
	return &eventTap{src: src, in: bufio.NewReaderSize(src, 32<<10), x: x, left: limit, bound: limit > 0}
}

// Close implements io.Closer.
func (t *eventTap) Close() error { return t.src.Close() }

// Read implements io.Reader.
func (t *eventTap) Read(p []byte) (int, error) {
	for t.out.Len() == 0 {
		if t.err != nil {
			return 0, t.err
		}
		t.next()
	}
	return t.out.Read(p)
}

// resumeSoon follows an id that can be resumed from, where the server may give
// no delay of its own: a dead server is then noticed within the second.
const resumeSoon = "retry: 200\n"

// next reads one event and writes it anew. One that was cut short is dropped.
func (t *eventTap) next() {
	var head, data []byte
	some := false
	for {
		line, err := t.line()
		if err != nil {
			t.err = err
			return
		}
		if len(line) == 0 {
			t.write(head, data, some)
			return
		}
		some = true
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch string(field) {
		case "data":
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		case "id":
			head = append(append(head, line...), "\n"+resumeSoon...)
		default:
			head = append(append(head, line...), '\n')
		}
		if len(data) > MaxMessage || len(head) > 64<<10 {
			t.err = t.x.refuse(answerTooLarge())
			return
		}
	}
}

func (t *eventTap) write(head, data []byte, some bool) {
	if !some {
		t.out.WriteByte('\n')
		return
	}
	if len(data) > 0 {
		edited, err := tap(t.x, data)
		if err != nil {
			t.err = t.x.refuse(brokenAnswer(err))
			return
		}
		for line := range bytes.SplitSeq(edited, []byte("\n")) {
			head = append(append(append(head, "data: "...), line...), '\n')
		}
	}
	t.out.Write(head)
	t.out.WriteByte('\n')
}

// line reads one line without its end. A line longer than a message may be is
// an error after that many bytes, whether or not it ever ends.
func (t *eventTap) line() ([]byte, error) {
	var line []byte
	for {
		part, err := t.in.ReadSlice('\n')
		line = append(line, part...)
		t.left -= int64(len(part))
		if t.bound && t.left < 0 || len(line) > MaxMessage+16 {
			return nil, t.x.refuse(answerTooLarge())
		}
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// listen answers the request for the server's own stream at once, and fills it
// when and while there is one. A server that holds back the headers, has no
// such stream or ends it when it is quiet then neither delays nor ends a
// session.
func (w *wire) listen(r *http.Request) *http.Response {
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(w.follow(r, out)) }()
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: in, ContentLength: -1, Request: r,
	}
}

// followPause is how long a stream that ended rests before it is asked for anew.
const followPause = 15 * time.Second

func (w *wire) follow(r *http.Request, out io.Writer) error {
	ctx := r.Context()
	for {
		offered, err := w.copyStream(r.Clone(ctx), out)
		if errors.Is(err, io.ErrClosedPipe) || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var again <-chan time.Time
		if offered {
			again = time.After(followPause)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-again:
		}
	}
}

// copyStream follows one stream to its end and reports whether the server
// offers one at all.
func (w *wire) copyStream(r *http.Request, out io.Writer) (bool, error) {
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = resp.Body.Close() }() // the stream is over
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || err != nil || kind != "text/event-stream" {
		return false, nil
	}
	body := newEventTap(resp.Body, 0, &exchange{})
	_, err = io.Copy(out, body)
	return true, err
}
