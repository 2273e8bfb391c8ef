// Package mcppool keeps the MCP client sessions of members: opened when a call
// needs one, reused, watched, and closed when nobody does. Only demand opens a
// session. Members never share one, whatever their credentials are.
package mcppool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

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
	closing sync.WaitGroup // calls, dials and sessions that are not over yet
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
