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
	c    *Ctx
	last []byte
}

// send sends the fragment unless it is the one that was sent last.
func (e *events) send(fragment templ.Component) error {
	var body bytes.Buffer
	if err := fragment.Render(i18n.With(e.c.R.Context(), e.c.Locale), &body); err != nil {
		return err
	}
	if e.last != nil && bytes.Equal(e.last, body.Bytes()) {
		return nil
	}
	first := e.last == nil
	e.last = body.Bytes()
	w := e.c.W
	if first {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Accel-Buffering", "no")
		w.WriteHeader(http.StatusOK)
	}
	// A stream's lines end at a carriage return too, which printed text may hold.
	for line := range bytes.Lines(bytes.ReplaceAll(e.last, []byte("\r"), []byte("&#13;"))) {
		line = bytes.TrimRight(line, "\n")
		if _, err := w.Write(bytes.Join([][]byte{[]byte("data: "), line, []byte("\n")}, nil)); err != nil {
			return context.Cause(e.c.R.Context()) // a reader who has left is nobody's fault
		}
	}
	if _, err := w.Write([]byte("\n")); err != nil {
		return context.Cause(e.c.R.Context())
	}
	return http.NewResponseController(w).Flush()
}

// fail is the error as long as the answer has not begun; afterwards only the
// log can be told.
func (e *events) fail(err error) error {
	if err != nil && e.last != nil {
		e.c.site.Root.LogFault(e.c.R, err)
		return nil
	}
	return err
}
