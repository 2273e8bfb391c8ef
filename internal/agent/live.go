package agent

import (
	"sync"

	"github.com/google/uuid"
)

// Partial is what a model has said so far in the step that runs now. Its text
// is the whole of it and only grows, until the step's entry takes its place.
type Partial struct {
	Turn     uuid.UUID
	Text     string
	Thinking string
	// Calls are those whose names are known while their arguments are written.
	Calls []Announced
	// After is the newest entry that the step began with: the partial is over
	// for whoever has a later answer.
	After int64
}

// Announced is a call that a model is about to ask for.
type Announced struct{ Ref, Name string }

// live tells followers on this server that there is something new. What is in
// it is for their eyes alone: all that counts stands in the ledger.
type live struct {
	mu     sync.Mutex
	topics map[uuid.UUID]*topic // by conversation
	closed bool
}

type topic struct {
	wakes   map[chan struct{}]struct{}
	partial *Partial
	writes  int // grows with each entry that this server committed
}

// at runs fn on the conversation's topic, and drops a topic that nobody needs.
func (l *live) at(conversation uuid.UUID, fn func(t *topic)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[conversation]
	if t == nil {
		t = &topic{wakes: map[chan struct{}]struct{}{}}
		if l.topics == nil {
			l.topics = map[uuid.UUID]*topic{}
		}
		l.topics[conversation] = t
	}
	fn(t)
	if len(t.wakes) == 0 && t.partial == nil {
		delete(l.topics, conversation)
	}
}

func (t *topic) wake() {
	for w := range t.wakes {
		select {
		case w <- struct{}{}:
		default: // it looks at everything when it wakes
		}
	}
}

// wrote tells that entries of the conversation were committed here.
func (l *live) wrote(conversation uuid.UUID) {
	l.at(conversation, func(t *topic) { t.writes++; t.wake() })
}

// say shows what the step has said so far; nil when it is over.
func (l *live) say(conversation uuid.UUID, p *Partial) {
	l.at(conversation, func(t *topic) { t.partial = p; t.wake() })
}

// follow returns a channel that receives once after one or many changes, and
// is closed when the server stops.
func (l *live) follow(conversation uuid.UUID) (wake <-chan struct{}, end func()) {
	w := make(chan struct{}, 1)
	l.at(conversation, func(t *topic) {
		if l.closed {
			close(w)
			return
		}
		t.wakes[w] = struct{}{}
	})
	return w, func() { l.at(conversation, func(t *topic) { delete(t.wakes, w) }) }
}

// look returns what a follower compares.
func (l *live) look(conversation uuid.UUID) (writes int, partial *Partial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.topics[conversation]; t != nil {
		return t.writes, t.partial
	}
	return 0, nil
}

// close ends every follower: the server stops.
func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range l.topics {
		for w := range t.wakes {
			close(w)
			delete(t.wakes, w)
		}
	}
}

// open lets followers come, again.
func (l *live) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = false
}
