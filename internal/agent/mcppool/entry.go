package mcppool

import (
	"context"
	"math/rand/v2"
	"time"

	"capstore/internal/fault"
)

type entryKey struct {
	Key
	fingerprint string
}

// entry is one server of one member: at most one session and one dial.
type entry struct {
	session  *session // nil while there is none
	dial     *dial    // nil while nobody connects
	legacy   bool     // the server is known to speak only older revisions
	used     time.Time
	suspect  bool // a call lost its connection: ask for a sign of life first
	failures int
	retryAt  time.Time
	reason   error // of the last failure, nil after a success
}

func (e *entry) idle() bool { return e.dial == nil && (e.session == nil || e.session.users == 0) }

// dial is a connection being made, that any number of calls wait for.
type dial struct {
	done    chan struct{}
	cancel  context.CancelFunc
	session *session
	err     error
}

// claim gives the entry's session, or the dial to wait for, or the reason why
// there is neither: the last failure, until its backoff is over.
func (p *Pool) claim(k entryKey, t Target) (s *session, d *dial, ping bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running {
		return nil, nil, false, fault.New(fault.Unavailable, "not_running", "The server is starting or stopping.").Do("Try again in a moment.")
	}
	e := p.entries[k]
	if e == nil {
		e = &entry{}
		p.entries[k] = e
	}
	now := p.opts.Now()
	if e.session != nil && e.session.broken() {
		p.retireLocked(e.session)
		e.session = nil
	}
	if e.session != nil {
		ping = e.suspect || e.session.users == 0 && now.Sub(e.used) >= p.opts.PingAfter
		e.suspect = false
		e.session.users++
		p.closing.Add(1) // until release: a stop waits for the calls that it ends
		e.used = now
		return e.session, nil, ping, nil
	}
	if e.dial == nil {
		if now.Before(e.retryAt) {
			return nil, nil, false, e.reason
		}
		p.dialLocked(k, e, t)
	}
	return nil, e.dial, false, nil
}

// release counts the caller out. A lost session is retired; a suspect one is
// asked before its next use.
func (p *Pool) release(k entryKey, s *session, lost, suspect bool) {
	defer p.closing.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	s.users--
	if e := p.entries[k]; e != nil && e.session == s {
		e.used = p.opts.Now()
		e.suspect = e.suspect || suspect
		if lost {
			e.session, e.suspect, s.retired = nil, false, true
		}
	}
	if s.retired && s.users == 0 {
		p.closing.Go(s.close)
	}
}

// dialLocked connects in the background: the dial outlives a caller that gives
// up, since others may wait for it.
func (p *Pool) dialLocked(k entryKey, e *entry, t Target) {
	ctx, cancel := context.WithTimeout(context.Background(), p.opts.ConnectTime)
	d := &dial{done: make(chan struct{}), cancel: cancel}
	e.dial, e.used = d, p.opts.Now()
	legacy := e.legacy
	p.closing.Go(func() {
		defer cancel()
		s, err := p.connect(ctx, k.Key, t, legacy)
		p.mu.Lock()
		defer p.mu.Unlock()
		defer close(d.done)
		if p.entries[k] != e { // closed meanwhile
			if err == nil {
				p.closing.Go(s.close)
			}
			d.err = disconnected(err)
			return
		}
		e.dial, d.session, d.err = nil, s, err
		e.connected(s, err, p.opts.Now())
	})
}

// connected notes how a dial ended.
func (e *entry) connected(s *session, err error, now time.Time) {
	e.used = now
	if err == nil {
		e.session, e.legacy, e.failures, e.reason, e.retryAt = s, s.legacy(), 0, nil, time.Time{}
		return
	}
	e.legacy, e.reason = false, err
	e.retryAt = now.Add(backoff(e.failures))
	e.failures++
}

// backoff doubles from a second to five minutes, give or take a fifth, so that
// many members of one server do not come back at once.
func backoff(failures int) time.Duration {
	d := longestPause
	if failures < 9 {
		d = min(firstBackoff<<failures, longestPause)
	}
	return d - d/5 + rand.N(d*2/5)
}
