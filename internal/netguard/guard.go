// Package netguard is the only way out of the server for a connection that a
// user can steer. It resolves a name once, refuses addresses inside private
// networks however they are spelt, and dials exactly the address it checked.
package netguard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"capstore/internal/fault"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// Resolver looks names up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Guard decides which addresses may be reached. It is safe for parallel use.
type Guard struct {
	rules    []rule
	resolver Resolver
	dialer   net.Dialer
	public   *ssrf.Guardian
	refused  func(ctx context.Context, host string)
}

// Option adjusts a Guard.
type Option func(*Guard)

// WithResolver sets the name resolver; the system's is used otherwise.
func WithResolver(r Resolver) Option { return func(g *Guard) { g.resolver = r } }

// WithRefused sets a function that is told the host of every refused address,
// for the audit. It must not block.
func WithRefused(f func(ctx context.Context, host string)) Option {
	return func(g *Guard) { g.refused = f }
}

// New returns a guard that lets public addresses through and what the operator
// allows besides: a host, a host:port, an address or a CIDR range each. The
// error names the entry that cannot be read or may never be allowed.
func New(allow []string, opts ...Option) (*Guard, error) {
	g := &Guard{
		resolver: net.DefaultResolver,
		public:   ssrf.New(ssrf.WithAnyPort()),
		refused:  func(context.Context, string) {},
	}
	for _, entry := range allow {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		r, err := parseRule(strings.TrimSpace(entry))
		if err != nil {
			return nil, fmt.Errorf("allowed host %q: %w", entry, err)
		}
		g.rules = append(g.rules, r)
	}
	for _, o := range opts {
		o(g)
	}
	g.dialer = net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return g, nil
}

// Resolve looks the host up once and returns the addresses that may be dialled,
// in the resolver's order. It refuses when any one of them is forbidden, for a
// name with a public and a private address is set to be used for the private.
// What does not exist and what is forbidden get the same fault,
// address_refused, so that the answer tells nothing about inner networks.
func (g *Guard) Resolve(ctx context.Context, host string, port uint16) ([]netip.AddrPort, error) {
	name, err := NormalHost(host)
	if err != nil {
		return nil, g.refuse(ctx, host, err)
	}
	ips, err := g.lookup(ctx, name)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, g.refuse(ctx, name, err)
	}
	out := make([]netip.AddrPort, 0, len(ips))
	for _, ip := range ips {
		at := netip.AddrPortFrom(ip.Unmap().WithZone(""), port)
		if ip.Zone() != "" || !g.permits(name, at) {
			return nil, g.refuse(ctx, name, fmt.Errorf("address %s", ip))
		}
		out = append(out, at)
	}
	if len(out) == 0 {
		return nil, g.refuse(ctx, name, fmt.Errorf("no address"))
	}
	return out, nil
}

func (g *Guard) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{ip}, nil
	}
	ips, err := g.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, fmt.Errorf("look up: %w", err)
	}
	return ips, nil
}

func (g *Guard) permits(name string, at netip.AddrPort) bool {
	if neverAllowed(at.Addr()) {
		return false
	}
	return g.allowed(name, at) || g.isPublic(at)
}

func (g *Guard) isPublic(at netip.AddrPort) bool {
	network := "tcp6"
	if at.Addr().Is4() {
		network = "tcp4"
	}
	return g.public.Safe(network, at.String(), nil) == nil
}

func (g *Guard) allowed(name string, at netip.AddrPort) bool {
	for _, r := range g.rules {
		if r.matches(name, at) {
			return true
		}
	}
	return false
}

func (g *Guard) refuse(ctx context.Context, host string, cause error) error {
	g.refused(ctx, host)
	return fault.New(fault.Invalid, "address_refused",
		"The address %q does not exist or lies in a network that this server does not connect to.", clip(host)).
		Do("Check the address. The operator of this server can allow a host of an inner network.").
		With("host", host).Because(cause)
}

// DialContext connects to "host:port" by one of the addresses that Resolve
// returned, trying them in turn. Only TCP is dialled.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, p, err := net.SplitHostPort(address)
	if err != nil {
		return nil, g.refuse(ctx, address, err)
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil || port == 0 || !strings.HasPrefix(network, "tcp") {
		return nil, g.refuse(ctx, host, fmt.Errorf("%s port %q", network, p))
	}
	addresses, err := g.Resolve(ctx, host, uint16(port))
	if err != nil {
		return nil, err
	}
	var last error
	for _, at := range addresses {
		d := g.dialer
		d.Control = pin(at)
		conn, err := d.DialContext(ctx, "tcp", at.String())
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, fault.New(fault.Unavailable, "unreachable", "The server at %q does not answer.", clip(host)).
		Do("Check that it runs, then try again.").Because(last)
}

// pin refuses any other address than the one that was checked, at the last
// moment before the connection is made.
func pin(at netip.AddrPort) func(string, string, syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		got, err := netip.ParseAddrPort(address)
		if err != nil || netip.AddrPortFrom(got.Addr().Unmap(), got.Port()) != at {
			return fmt.Errorf("about to dial %s instead of %s", address, at)
		}
		return nil
	}
}

// NormalHost spells a host in its one way: lower case, ASCII by IDNA, without a
// trailing dot or brackets. The error is for what is no host, such as the
// decimal, octal, hexadecimal and short spellings of an IPv4 address.
func NormalHost(host string) (string, error) {
	host = strings.TrimSuffix(strings.TrimSpace(host), ".")
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String(), nil
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", fmt.Errorf("host name: %w", err)
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if ip, err := netip.ParseAddr(name); err == nil { // ①②⑦.0.0.1 folds to digits
		return ip.String(), nil
	}
	if name == "" || looksNumeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", fmt.Errorf("%q is neither a name nor an address", host)
	}
	return name, nil
}

// looksNumeric tells a last label that some resolvers read as a number: no
// public top-level domain is one.
func looksNumeric(label string) bool {
	if strings.HasPrefix(label, "0x") {
		return true
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

func clip(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
