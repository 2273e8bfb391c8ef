package web

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/agent"
	"capstore/internal/i18n"
)

// watchEvery is how often a page that watches a try looks again.
const watchEvery = 250 * time.Millisecond

// watch answers with what a try prints for as long as it runs, and with what
// came of it in the end, each as a fragment in place of the one before. A
// reader who leaves ends the watching, not the try.
func (s *Site) watch(c *Ctx, look func() (agent.Trial, error), draw func(agent.Trial) templ.Component) error {
	events := events{c: c}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		trial, err := look()
		if err != nil {
			return events.fail(err)
		}
		if err := events.send(draw(trial)); err != nil || trial.Ended() {
			return events.fail(err)
		}
		select {
		case <-trial.Done:
		case <-tick.C:
		case <-c.R.Context().Done():
			return nil
		}
	}
}

// events is a stream of fragments, each of which htmx swaps in.
type events struct {
	c     *Ctx
	begun bool
	last  []byte
}

// open begins the stream, so that the reader knows that it is listened to.
func (e *events) open() error {
	h := e.c.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	e.c.W.WriteHeader(http.StatusOK)
	e.begun = true
	// A comment, since a server between may hold back what has no body yet.
	if _, err := e.c.W.Write([]byte(":\n\n")); err != nil {
		return err
	}
	return http.NewResponseController(e.c.W).Flush()
}

// send sends the fragment unless it is the one that was sent last.
func (e *events) send(fragment templ.Component) error { return e.sendAs("", fragment) }

// sendAs is send with an id from which the reader can go on after a break. What
// shows nothing tells the id alone.
func (e *events) sendAs(id string, fragment templ.Component) error {
	var body bytes.Buffer
	if err := fragment.Render(i18n.With(e.c.R.Context(), e.c.Locale), &body); err != nil {
		return err
	}
	if id == "" && e.last != nil && bytes.Equal(e.last, body.Bytes()) {
		return nil
	}
	if !e.begun {
		if err := e.open(); err != nil {
			return context.Cause(e.c.R.Context())
		}
	}
	e.last = body.Bytes()
	var out bytes.Buffer
	if id != "" {
		out.WriteString("id: " + id + "\n")
	}
	// A stream's lines end at a carriage return too, which printed text may hold.
	for line := range bytes.Lines(bytes.ReplaceAll(e.last, []byte("\r"), []byte("&#13;"))) {
		out.WriteString("data: ")
		out.Write(bytes.TrimRight(line, "\n"))
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	if _, err := e.c.W.Write(out.Bytes()); err != nil {
		return context.Cause(e.c.R.Context()) // a reader who has left is nobody's fault
	}
	return http.NewResponseController(e.c.W).Flush()
}

// fail is the error as long as the answer has not begun; afterwards only the
// log can be told.
func (e *events) fail(err error) error {
	if err != nil && e.begun {
		e.c.site.Root.LogFault(e.c.R, err)
		return nil
	}
	return err
}
