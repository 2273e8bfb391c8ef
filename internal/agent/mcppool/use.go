package mcppool

import (
	"context"
	"encoding/json"

	"capstore/internal/fault"
)

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
