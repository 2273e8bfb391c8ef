package netguard

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// rule is one entry of the operator's list: a name or a range, and a port or 0
// for every port.
type rule struct {
	name  string
	block netip.Prefix
	port  uint16
}

func (r rule) matches(name string, at netip.AddrPort) bool {
	if r.port != 0 && r.port != at.Port() {
		return false
	}
	if r.name != "" {
		return r.name == name
	}
	return r.block.Contains(at.Addr())
}

func parseRule(entry string) (rule, error) {
	if block, err := netip.ParsePrefix(entry); err == nil {
		return rangeRule(block.Masked(), 0)
	}
	host, port := entry, uint16(0)
	if h, p, err := net.SplitHostPort(entry); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return rule{}, errors.New("the port must be a number from 1 to 65535")
		}
		host, port = h, uint16(n)
	}
	if strings.ContainsAny(host, "/*@?#") {
		return rule{}, errors.New("give a host, host:port, address or CIDR range")
	}
	name, err := NormalHost(host)
	if err != nil {
		return rule{}, err
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		ip = ip.Unmap()
		return rangeRule(netip.PrefixFrom(ip, ip.BitLen()), port)
	}
	return rule{name: name, port: port}, nil
}

func rangeRule(block netip.Prefix, port uint16) (rule, error) {
	if block.Addr().Is4In6() && block.Bits() >= 96 {
		block = netip.PrefixFrom(block.Addr().Unmap(), block.Bits()-96)
	}
	for _, n := range never {
		if n.Bits() <= block.Bits() && n.Contains(block.Addr()) {
			return rule{}, errors.New("link-local, metadata, multicast and unspecified addresses are never allowed")
		}
	}
	return rule{block: block, port: port}, nil
}

// never are the ranges that no operator can open: link-local, the metadata
// services of clouds (some of which stand elsewhere), multicast, unspecified.
var never = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::254/128"),  // AWS
	netip.MustParsePrefix("fd20:ce::254/128"),   // Google
	netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
	netip.MustParsePrefix("168.63.129.16/32"),   // Azure
	netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("ff00::/8"),
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("255.255.255.255/32"),
}

// neverAllowed looks at the address and at the IPv4 address within it.
func neverAllowed(ip netip.Addr) bool {
	return slices.ContainsFunc(append(embedded(ip), ip), func(a netip.Addr) bool {
		return slices.ContainsFunc(never, func(n netip.Prefix) bool { return n.Contains(a) })
	})
}

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	nat64Own  = netip.MustParsePrefix("64:ff9b:1::/48")
	sixToFour = netip.MustParsePrefix("2002::/16")
	teredo    = netip.MustParsePrefix("2001::/32")
	oldCompat = netip.MustParsePrefix("::/96")
)

// embedded lists the IPv4 addresses that an IPv6 one leads to by translation.
func embedded(ip netip.Addr) []netip.Addr {
	if !ip.Is6() {
		return nil
	}
	b := ip.As16()
	var out []netip.Addr
	if ip.Is4In6() || nat64.Contains(ip) || nat64Own.Contains(ip) || oldCompat.Contains(ip) {
		out = append(out, netip.AddrFrom4([4]byte(b[12:16])))
	}
	if sixToFour.Contains(ip) {
		out = append(out, netip.AddrFrom4([4]byte(b[2:6])))
	}
	if teredo.Contains(ip) {
		out = append(out, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	return out
}
