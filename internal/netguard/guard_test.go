package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"capstore/internal/fault"
	"capstore/internal/netguard"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver with fixed answers: the nth lookup gets the nth list.
type names struct {
	answers map[string][][]string
	lookups atomic.Int32
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	i := int(n.lookups.Add(1)) - 1
	lists, ok := n.answers[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for _, s := range lists[min(i, len(lists)-1)] {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

func guard(t *testing.T, allow []string, opts ...netguard.Option) *netguard.Guard {
	t.Helper()
	g, err := netguard.New(allow, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func answers(m map[string][]string) *names {
	n := &names{answers: map[string][][]string{}}
	for k, v := range m {
		n.answers[k] = [][]string{v}
	}
	return n
}

func TestForbiddenSpellings(t *testing.T) {
	t.Parallel()
	r := answers(map[string][]string{
		"localhost":                {"127.0.0.1", "::1"},
		"metadata.google.internal": {"169.254.169.254"},
		"both.example":             {"93.184.215.14", "10.0.0.7"},
		"inner.example":            {"192.168.1.1"},
		"six.example":              {"fd12::1"},
		"none.example":             {},
	})
	var told atomic.Int32
	g := guard(t, nil, netguard.WithResolver(r), netguard.WithRefused(func(context.Context, string) { told.Add(1) }))
	hosts := []string{
		"[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "64:ff9b:1::a9fe:a9fe", "0.0.0.0", "[::]", "::1",
		"127.1", "127.0.0.1", "127.0.0.1.", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "0177.0.0.1", "100.100.100.200",
		"fd00:ec2::254", "localhost", "localhost.", "LOCALHOST", "metadata.google.internal", "ⓛocalhost", "127.0.0.1%2eexample",
		"①②⑦.⓪.⓪.①", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.1.1", "fe80::1", "fe80::1%eth0", "fc00::1", "224.0.0.1", "ff02::1",
		"255.255.255.255", "100.64.0.1", "198.18.0.1", "168.63.129.16", "2002:7f00:1::", "::127.0.0.1", "2001:0:1:2:3:4:80ff:fffe",
		"both.example", "inner.example", "six.example", "none.example", "missing.example", "", ".", "a b", "exa\x00mple",
	}
	for _, h := range hosts {
		_, err := g.Resolve(t.Context(), h, 443)
		if !fault.HasCode(err, "address_refused") {
			t.Errorf("%q: %v", h, err)
			continue
		}
		shape := strings.ReplaceAll(fault.From(err).Message, h, "")
		if !strings.Contains(shape, "does not exist or lies in a network") {
			t.Errorf("%q: the message tells why: %s", h, shape)
		}
	}
	if int(told.Load()) != len(hosts) {
		t.Errorf("%d refusals were told of, want %d", told.Load(), len(hosts))
	}
}

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	g := guard(t, nil, netguard.WithResolver(answers(map[string][]string{
		"ok.example": {"93.184.215.14", "2606:2800:21f:cb07::1"}, "xn--bcher-kva.example": {"8.8.8.8"},
	})))
	for host, want := range map[string]string{
		"ok.example":     "93.184.215.14:8443 [2606:2800:21f:cb07::1]:8443",
		"OK.example.":    "93.184.215.14:8443 [2606:2800:21f:cb07::1]:8443",
		"bücher.example": "8.8.8.8:8443",
		"1.1.1.1":        "1.1.1.1:8443",
	} {
		got, err := g.Resolve(t.Context(), host, 8443)
		var parts []string
		for _, a := range got {
			parts = append(parts, a.String())
		}
		if err != nil || strings.Join(parts, " ") != want {
			t.Errorf("%s: %v, %v", host, parts, err)
		}
	}
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	r := answers(map[string][]string{"lan.example": {"10.0.0.7"}, "trap.example": {"169.254.169.254"}, "other.example": {"10.0.0.7"}, "nat.example": {"64:ff9b::a9fe:a9fe"}})
	g := guard(t, []string{"lan.example:8080", "trap.example", "192.168.0.0/16", "10.9.9.9:81", "nat.example", " "}, netguard.WithResolver(r))
	for at, ok := range map[string]bool{
		"lan.example:8080": true, "LAN.example.:8080": true, "lan.example:8081": false, "other.example:8080": false,
		"trap.example:80": false, "nat.example:80": false, "192.168.3.4:22": true, "10.9.9.9:81": true, "10.9.9.9:82": false, "10.0.0.7:8080": false,
	} {
		host, port, err := net.SplitHostPort(at)
		if err != nil {
			t.Fatal(err)
		}
		p := uint16(0)
		for _, d := range port {
			p = p*10 + uint16(d-'0')
		}
		if _, err := g.Resolve(t.Context(), host, p); (err == nil) != ok {
			t.Errorf("%s: %v, want ok=%v", at, err, ok)
		}
	}
	all := guard(t, []string{"0.0.0.0/0", "::/0"})
	for host, ok := range map[string]bool{"127.0.0.1": true, "10.0.0.1": true, "169.254.169.254": false, "100.100.100.200": false, "fd00:ec2::254": false, "0.0.0.0": false, "::ffff:169.254.169.254": false} {
		if _, err := all.Resolve(t.Context(), host, 80); (err == nil) != ok {
			t.Errorf("everything allowed, %s: %v", host, err)
		}
	}
	for _, bad := range []string{"169.254.169.254", "169.254.0.0/16", "fe80::/10", "[fe80::1]:80", "::ffff:169.254.169.254", "fd00:ec2::254", "a:b:c", "host:0", "host:http", "http://x", "10.0.0.0/40", "127.1", "*.example", "user@host"} {
		if _, err := netguard.New([]string{bad}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q was taken: %v", bad, err)
		}
	}
}

// A name is looked up once per connection: a second, different answer has no
// way in.
func TestOneLookupPerDial(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := &names{answers: map[string][][]string{"flip.example": {{"127.0.0.1"}, {"10.0.0.1"}}}}
	g := guard(t, []string{"127.0.0.0/8"}, netguard.WithResolver(r))
	_, port, _ := net.SplitHostPort(l.Addr().String())
	conn, err := g.DialContext(t.Context(), "tcp", "flip.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if n := r.lookups.Load(); n != 1 {
		t.Errorf("%d lookups", n)
	}
	if _, err := g.DialContext(t.Context(), "tcp", "flip.example:"+port); !fault.HasCode(err, "address_refused") {
		t.Errorf("the changed answer: %v", err)
	}
}

func TestDialFaults(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	g := guard(t, []string{"127.0.0.1"})
	if _, err := g.DialContext(t.Context(), "tcp", closed); !fault.HasCode(err, "unreachable") {
		t.Errorf("nobody listens: %v", err)
	}
	for _, c := range [][2]string{{"udp", closed}, {"unix", "/tmp/x"}, {"tcp", "127.0.0.1"}, {"tcp", "127.0.0.1:0"}, {"tcp", "127.0.0.1:http"}} {
		if _, err := g.DialContext(t.Context(), c[0], c[1]); !fault.HasCode(err, "address_refused") {
			t.Errorf("%v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g = guard(t, nil, netguard.WithResolver(answers(nil)))
	if _, err := g.Resolve(ctx, "x.example", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
