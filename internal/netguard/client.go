package netguard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"capstore/internal/fault"
)

// MaxRedirects is how many redirects a client follows.
const MaxRedirects = 5

// ClientOptions shape a client. The zero value is for fetching public pages.
type ClientOptions struct {
	// Timeout bounds a whole exchange, body included; 0 means no bound, for
	// streams whose caller brings a context with a deadline.
	Timeout time.Duration
	// MaxBody is how many bytes of one response body are read, after
	// decompression; 0 means 16 MiB.
	MaxBody int64
	// RequireTLS refuses http, save to hosts that the operator allows.
	RequireTLS bool
}

// Client returns an HTTP client whose every hop, redirects included, passes the
// guard. It uses no proxy and no cookies. A redirect to another origin keeps
// only headers that say nothing about the caller. Its errors hold a fault:
// address_refused, scheme_refused, too_many_redirects or response_too_large.
// Call CloseIdleConnections when done with it.
func (g *Guard) Client(o ClientOptions) *http.Client {
	if o.MaxBody == 0 {
		o.MaxBody = 16 << 20
	}
	t := &http.Transport{
		Proxy:                  nil,
		DialContext:            g.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConns:           20,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{
		Transport:     &transport{Transport: t, guard: g, o: o},
		CheckRedirect: checkRedirect,
		Timeout:       o.Timeout,
	}
}

// transport checks each hop's URL and bounds its body. CloseIdleConnections is
// promoted, so that http.Client finds it.
type transport struct {
	*http.Transport
	guard *Guard
	o     ClientOptions
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.guard.checkURL(r.Context(), r.URL, t.o.RequireTLS); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper closes the body even when it refuses
		}
		return nil, err
	}
	resp, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, left: t.o.MaxBody, limit: t.o.MaxBody}
	return resp, nil
}

// ParseURL reads an address that a user gave: http or https, a host, and no
// user name in it. Addresses that are forbidden as they stand are refused here
// already; names are only resolved when they are dialled. With requireTLS http
// is left to hosts that the operator allows.
func (g *Guard) ParseURL(ctx context.Context, raw string, requireTLS bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" && (u.Scheme == "" || u.Scheme == "http" || u.Scheme == "https") {
		return nil, fault.New(fault.Invalid, "bad_url", "%q is not a web address.", clip(raw)).
			Do("Give an address that begins with https://.").Because(err)
	}
	if err := g.checkURL(ctx, u, requireTLS); err != nil {
		return nil, err
	}
	return u, nil
}

func (g *Guard) checkURL(ctx context.Context, u *url.URL, requireTLS bool) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fault.New(fault.Invalid, "scheme_refused", "Only http and https addresses are opened, not %q.", clip(u.Scheme))
	}
	if u.User != nil {
		return fault.New(fault.Invalid, "bad_url", "The address must not hold a user name or a password.").
			Do("Leave them out and bind a secret instead.")
	}
	name, err := NormalHost(u.Hostname())
	if err != nil {
		return g.refuse(ctx, u.Hostname(), err)
	}
	port, err := portOf(u)
	if err != nil {
		return g.refuse(ctx, u.Host, err)
	}
	literal, err := netip.ParseAddr(name)
	isLiteral := err == nil
	at := netip.AddrPortFrom(literal.Unmap(), port)
	if isLiteral && (literal.Zone() != "" || !g.permits(name, at)) {
		return g.refuse(ctx, name, fmt.Errorf("address %s", literal))
	}
	if requireTLS && u.Scheme == "http" && !g.plainAllowed(name, at) {
		return fault.New(fault.Invalid, "tls_required", "The address must begin with https://.").
			Do("Use https. The operator of this server can allow a host without it.")
	}
	return nil
}

// plainAllowed reports whether the operator's list lets http through: a name
// that is listed, or an address within a listed range. A name that merely
// resolves into a listed range needs https.
func (g *Guard) plainAllowed(name string, at netip.AddrPort) bool {
	return slices.ContainsFunc(g.rules, func(r rule) bool {
		return r.matches(name, at) && (r.name != "" || at.Addr().IsValid())
	})
}

func portOf(u *url.URL) (uint16, error) {
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		return uint16(n), err
	}
	if u.Scheme == "http" {
		return 80, nil
	}
	return 443, nil
}

// harmless are the request headers that a redirect to another origin keeps.
// Everything else may be a credential, whatever its name.
var harmless = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Content-Length", "User-Agent", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}

func checkRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > MaxRedirects {
		return fault.New(fault.Unavailable, "too_many_redirects", "The address redirects more than %d times.", MaxRedirects)
	}
	for _, hop := range append(via[1:len(via):len(via)], next) {
		if !SameOrigin(via[0].URL, hop.URL) {
			for h := range next.Header {
				if !slices.Contains(harmless, h) {
					next.Header.Del(h)
				}
			}
			break
		}
	}
	return nil
}

// SameOrigin reports whether a credential for the first address may go to the
// second: same host, scheme and port, or the same host's step from http to
// https on their usual ports.
func SameOrigin(first, second *url.URL) bool {
	a, errA := NormalHost(first.Hostname())
	b, errB := NormalHost(second.Hostname())
	if errA != nil || errB != nil || a != b {
		return false
	}
	pa, errA := portOf(first)
	pb, errB := portOf(second)
	if errA != nil || errB != nil {
		return false
	}
	upgrade := first.Scheme == "http" && pa == 80 && second.Scheme == "https" && pb == 443
	return upgrade || first.Scheme == second.Scheme && pa == pb
}

// limitedBody fails, rather than ends, when a body is longer than allowed.
type limitedBody struct {
	io.ReadCloser
	left, limit int64
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var probe [1]byte
		n, err := b.ReadCloser.Read(probe[:])
		if n > 0 {
			return 0, tooLarge(b.limit)
		}
		return 0, err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// ReadAll reads r to its end, and fails with the fault response_too_large where
// it holds more than limit bytes.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		if _, ok := errors.AsType[*fault.Fault](err); ok {
			return nil, err
		}
		return nil, fmt.Errorf("read response: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(limit)
	}
	return data, nil
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "response_too_large", "The answer is longer than the %d bytes that are read.", limit)
}
