package capability

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/jsonx"
)

var (
	imagePattern = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?/)?` +
		`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*` +
		`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`)
	envPattern     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	settingPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	domainPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	hostPattern    = regexp.MustCompile(`^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`)
	tokenPattern   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")
	toolRefPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (f *faults) image(path, image string) {
	if len(image) > 512 || !imagePattern.MatchString(image) {
		f.add(path, "bad_image", "%q is not an image reference such as ghcr.io/acme/tool:1.2.", cut(image, 60))
	}
}

// unique checks a list of words: its length, each one by check, no repetition.
func (f *faults) unique(path, label string, words []string, limit int, check func(path, word string)) {
	f.count(path, label, len(words), limit)
	seen := map[string]bool{}
	for i, word := range words {
		at := jsonx.Pointer(path, strconv.Itoa(i))
		if seen[word] {
			f.add(at, "repeated", "%q is listed twice.", cut(word, 60))
			continue
		}
		seen[word] = true
		check(at, word)
	}
}

func (f *faults) leans(l Leans) {
	f.unique("/spec/serves", "domains", l.Serves, 20, f.domain)
	f.unique("/spec/requires", "requirements", l.Requires, 50, func(path, word string) {
		if !validRequirement(word) {
			f.add(path, "bad_requirement", "A requirement is source/id or the name of a tool as the agent calls it.")
		}
	})
}

func (f *faults) domain(path, word string) {
	if !domainPattern.MatchString(word) {
		f.add(path, "bad_domain", "A domain is 1 to 40 lower-case letters, digits and hyphens, such as live-data.")
	}
}

func validRequirement(s string) bool {
	source, id, pair := strings.Cut(s, "/")
	if !pair {
		return toolRefPattern.MatchString(s)
	}
	return (source == FirstPartyOwner || slugPattern.MatchString(source)) && ValidID(id)
}

// forbiddenVariables are what the sandbox and the loader of the machine mean
// something by; a secret there would take the run over or break it.
var forbiddenVariables = []string{"PATH", "HOME", "IFS", "ENV", "BASH_ENV", "SHELL", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "NODE_OPTIONS", "NODE_PATH"}

// ReservedVariable reports whether no capability may set the variable.
func ReservedVariable(name string) bool {
	return slices.Contains(forbiddenVariables, name) || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "CAPSTORE_")
}

func (f *faults) variable(path, name string) {
	switch {
	case !envPattern.MatchString(name):
		f.add(path, "bad_variable", "A variable's name is letters, digits and underscores, with no digit first.")
	case ReservedVariable(name):
		f.add(path, "reserved", "The variable %s belongs to the runtime; choose another.", name)
	}
}

// secrets checks the declared secrets; overHTTP says that their values travel
// in headers.
func (f *faults) secrets(list []RequiredSecret, overHTTP bool) {
	const path = "/spec/requiredSecrets"
	f.count(path, "secrets", len(list), 50)
	names, variables, headers := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, s := range list {
		at := jsonx.Pointer(path, strconv.Itoa(i))
		f.secretName(at+"/name", s.Name)
		f.plain(at+"/description", "The description", s.Description, MaxDescription)
		f.first(names, at+"/name", s.Name)
		if overHTTP {
			f.header(at, s, headers)
			continue
		}
		if s.Header != "" || s.Scheme != "" {
			f.add(at+"/header", "not_allowed", "Only a server that is reached by URL takes secrets in headers.")
		}
		f.variable(at+"/env", s.Variable())
		f.first(variables, at+"/env", s.Variable())
	}
}

func (f *faults) secretName(path, name string) {
	if !ValidSecretName(name) {
		f.add(path, "bad_secret_name", "A secret's name is 1 to 64 capital letters, digits and underscores, with a letter first.")
	}
}

// first reports a value that was there before.
func (f *faults) first(seen map[string]bool, path, value string) {
	if seen[value] && value != "" {
		f.add(path, "repeated", "%s is declared twice.", cut(value, 64))
	}
	seen[value] = true
}

// ownHeaders are set by the client itself or by the hops on the way; a secret
// there would break or fool the connection.
var ownHeaders = []string{
	"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive",
	"proxy-authenticate", "proxy-authorization", "proxy-connection", "upgrade", "te", "trailer", "expect", "origin",
	"accept", "accept-encoding", "last-event-id",
}

// SettableHeader reports whether a request to an mcp server may carry a bound
// value in the header of this name, in any case.
func SettableHeader(name string) bool {
	name = strings.ToLower(name)
	return len(name) <= 128 && tokenPattern.MatchString(name) && !slices.Contains(ownHeaders, name) && !strings.HasPrefix(name, "mcp-")
}

func (f *faults) header(at string, s RequiredSecret, seen map[string]bool) {
	header := strings.ToLower(s.Header)
	if header == "" {
		header = "authorization"
		if seen[header] {
			f.add(at+"/header", "required", "Name the header of this secret; Authorization carries another one already.")
			return
		}
	} else if !SettableHeader(header) {
		f.add(at+"/header", "bad_header", "%q cannot carry a secret; name a header such as X-Api-Key.", cut(s.Header, 40))
	}
	if s.Scheme != "" && !tokenPattern.MatchString(s.Scheme) {
		f.add(at+"/scheme", "bad_scheme", "A scheme is one word such as Bearer.")
	}
	f.first(seen, at+"/header", header)
}

func (f *faults) settings(list []Setting) {
	const path = "/spec/settings"
	f.count(path, "settings", len(list), 50)
	seen := map[string]bool{}
	for i, s := range list {
		at := jsonx.Pointer(path, strconv.Itoa(i))
		if !settingPattern.MatchString(s.Name) {
			f.add(at+"/name", "bad_setting_name", "A setting's name is 1 to 64 letters, digits and underscores, with no digit first.")
		} else {
			f.variable(at+"/name", s.Name)
		}
		f.plain(at+"/description", "The description", s.Description, MaxDescription)
		f.plain(at+"/default", "The default", s.Default, 4096)
		f.first(seen, at+"/name", s.Name)
	}
}

// hosts checks the hosts that a code tool asks to reach. There are no
// wildcards: what is approved is exactly what is listed.
func (f *faults) hosts(path string, hosts []string) {
	f.unique(path, "hosts", hosts, 50, func(path, host string) {
		if !ValidHost(host) {
			f.add(path, "bad_host", "%q is not a host name such as api.example.com, without scheme, port, path or wildcard.", cut(host, 60))
		}
	})
}

// ValidHost reports whether s is a lower-case host name or an IP address, with
// nothing around it.
func ValidHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return len(s) <= 253 && hostPattern.MatchString(s)
}

// isLoopback reports whether the host of a URL can only be this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
