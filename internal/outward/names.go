package outward

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
)

// namespace is what the names of this store's servers begin with in a registry:
// the host the other way round, as such names go, or "capstore" where the
// server has no name of its own.
type namespace string

func namespaceOf(origin *url.URL) namespace {
	host := strings.ToLower(strings.TrimSuffix(origin.Hostname(), "."))
	labels := strings.Split(host, ".")
	if net.ParseIP(host) != nil || len(labels) < 2 || !plainHost(host) {
		return "capstore"
	}
	slices.Reverse(labels)
	return namespace(strings.Join(labels, "."))
}

func plainHost(host string) bool {
	return strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" && !strings.Contains(host, "..")
}

// name is the name of a capability in a registry. What ships with capstore
// stands in the namespace itself, every other below the workspace that owns it.
func (n namespace) name(source, id string) string {
	if source == capability.FirstPartyOwner {
		return string(n) + "/" + id
	}
	return string(n) + "." + source + "/" + id
}

// parse takes a name apart, false for what is none of this store's.
func (n namespace) parse(name string) (source, id string, ok bool) {
	space, id, ok := strings.Cut(name, "/")
	if !ok || !capability.ValidID(id) {
		return "", "", false
	}
	if space == string(n) {
		return capability.FirstPartyOwner, id, true
	}
	source, ok = strings.CutPrefix(space, string(n)+".")
	return source, id, ok && source != "" && !strings.Contains(source, ".") && source != capability.FirstPartyOwner
}
