// Package mcppool keeps the MCP client sessions of members: opened when a call
// needs one, reused, watched, and closed when nobody does. Only demand opens a
// session. Members never share one, whatever their credentials are.
package mcppool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"capstore/internal/fault"
	"capstore/internal/lifecycle"
	"capstore/internal/netguard"
)

const (
	legacyVersion = "2025-11-25" // the last revision with sessions
	pingTimeout   = 5 * time.Second
	firstBackoff  = time.Second
	longestPause  = 5 * time.Minute
	reapEvery     = 30 * time.Second
)

var clientOptions = netguard.ClientOptions{MaxBody: 1 << 40, RequireTLS: true} // the wire bounds its own

// Key names a server as one member has it.
type Key struct{ Workspace, Subject, Server string }

// Target is where a server is and what it is sent. The pool tells targets apart
// by a fingerprint: another address or secret is another session.
type Target struct {
	URL     string
	Headers []Header
}

func (t Target) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", t.URL)
	for _, header := range t.Headers {
		fmt.Fprintf(h, "%q%q", header.name, header.value)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Options shape a pool; the zero value of each means its default.
type Options struct {
	Version     string        // of capstore, told to servers
	Idle        time.Duration // an unused session is closed after it: 10 minutes
	PingAfter   time.Duration // a session unused for so long is asked for a sign of life: 1 minute
	ConnectTime time.Duration // for the handshake: 15 seconds
	CallIdle    time.Duration // a call that shows no progress for so long is given up: 60 seconds
	CallTotal   time.Duration // no call takes longer: 10 minutes
	// Changed is told when a server says that its tools changed. It must not
	// block.
	Changed func(Key)
	// Now is the clock of idleness and backoff.
	Now func() time.Time
}

func (o Options) filled() Options {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	set(&o.Idle, 10*time.Minute)
	set(&o.PingAfter, time.Minute)
	set(&o.ConnectTime, 15*time.Second)
	set(&o.CallIdle, time.Minute)
	set(&o.CallTotal, 10*time.Minute)
	if o.Changed == nil {
		o.Changed = func(Key) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Pool is safe for parallel use. Its life is that of a lifecycle.Service: while
// it does not run, calls are refused.
type Pool struct {
	lifecycle.Base
	guard *netguard.Guard
	opts  Options

	mu      sync.Mutex
	running bool
	entries map[entryKey]*entry
	closing sync.WaitGroup // sessions and dials that are ending
}

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

// New returns a pool whose connections all pass the guard.
func New(guard *netguard.Guard, o Options) *Pool {
	return &Pool{guard: guard, opts: o.filled(), entries: map[entryKey]*entry{}}
}

// Start implements lifecycle.Service: it takes calls, and closes what is idle,
// until it is stopped. Stop closes every session.
func (p *Pool) Start(ctx context.Context) error {
	return p.Run(ctx, func(ctx context.Context, ready func()) {
		p.mu.Lock()
		p.running = true
		p.mu.Unlock()
		ready()
		tick := time.NewTicker(reapEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				p.closeAll()
				return
			case <-tick.C:
				p.reap()
			}
		}
	})
}

func (p *Pool) closeAll() {
	p.mu.Lock()
	p.running = false
	for key := range p.entries {
		p.removeLocked(key)
	}
	p.mu.Unlock()
	p.closing.Wait()
}

// Close ends the sessions of every server that the function names, and the
// calls in them, as when a capability is revoked. It does not wait for them.
func (p *Pool) Close(which func(Key) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.entries {
		if which(key.Key) {
			p.removeLocked(key)
		}
	}
}

func (p *Pool) removeLocked(key entryKey) {
	e := p.entries[key]
	delete(p.entries, key)
	if e.dial != nil {
		e.dial.cancel()
	}
	p.endLocked(e)
}

func (p *Pool) endLocked(e *entry) {
	if s := e.session; s != nil {
		e.session, e.suspect = nil, false
		s.cancel()
		p.retireLocked(s)
	}
}

// retireLocked closes a session once the calls in it are done: one that lost
// its server has others in flight, which learn that for themselves.
func (p *Pool) retireLocked(s *session) {
	if s.retired = true; s.users == 0 {
		p.closing.Go(s.close)
	}
}

// reap closes what nobody used for a while. The memory of a failure goes with
// it once its backoff is long over.
func (p *Pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.opts.Now()
	for key, e := range p.entries {
		if e.idle() && now.Sub(e.used) >= p.opts.Idle && now.After(e.retryAt) {
			p.removeLocked(key)
		}
	}
}

// Call runs a tool, named as its server names it, and returns its answer. The
// arguments reach the server as they are spelt. A lost session is renewed once
// without notice, where the server proves that the call was not carried out;
// any other failure is never repeated. The error is a fault: address_refused,
// tls_required, unreachable, wrong_address, connect_timed_out, no_handshake,
// server_unauthorized, server_forbidden, server_busy, server_failed,
// server_error, not_mcp, answer_too_large, bad_result, timed_out, disconnected
// or session_lost; or ctx's own.
func (p *Pool) Call(ctx context.Context, key Key, t Target, tool string, args json.RawMessage) (Result, error) {
	return use(ctx, p, key, t, func(s *session) (Result, outcome, error) { return s.callTool(ctx, tool, args) })
}

// Tools returns what the server offers, all pages of it, asking only when that
// is not known or was said to have changed. Faults are those of Call, and
// bad_list.
func (p *Pool) Tools(ctx context.Context, key Key, t Target) (Catalogue, error) {
	return use(ctx, p, key, t, func(s *session) (Catalogue, outcome, error) { return s.list(ctx) })
}

// use runs f in a session, a second time in a new one where the first proves to
// be lost.
func use[T any](ctx context.Context, p *Pool, key Key, t Target, f func(*session) (T, outcome, error)) (T, error) {
	k := entryKey{key, t.fingerprint()}
	var zero T
	for attempt := 0; ; attempt++ {
		s, err := p.acquire(ctx, k, t)
		if err != nil {
			return zero, err
		}
		got, o, err := f(s)
		p.release(k, s, err != nil && (unsent(o) || s.broken()), fault.HasCode(err, "disconnected"))
		if err == nil || !unsent(o) || attempt > 0 || ctx.Err() != nil {
			return got, err
		}
	}
}

// acquire returns a live session and counts the caller as its user.
func (p *Pool) acquire(ctx context.Context, k entryKey, t Target) (*session, error) {
	for {
		s, d, ping, err := p.claim(k, t)
		if err != nil {
			return nil, err
		}
		if s == nil {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-d.done:
			}
			if d.err != nil {
				return nil, d.err
			}
			continue
		}
		if !ping || s.alive(ctx) {
			return s, nil
		}
		p.release(k, s, true, false)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
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
		e.session, e.legacy, e.failures, e.reason = s, s.legacy(), 0, nil
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

// State is how a server of a member stands, for the report.
type State struct {
	Key       Key
	Connected bool
	Calls     int       // in flight
	Failures  int       // in a row
	RetryAt   time.Time // zero unless it is backing off
	Reason    error     // of the last failure
}

// States lists the servers that the pool knows, in no order.
func (p *Pool) States() []State {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]State, 0, len(p.entries))
	for k, e := range p.entries {
		s := State{Key: k.Key, Failures: e.failures, RetryAt: e.retryAt, Reason: e.reason}
		if e.session != nil {
			s.Connected, s.Calls = true, e.session.users
		}
		out = append(out, s)
	}
	return out
}
