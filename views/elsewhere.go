package views

import (
	"encoding/json"
	"strings"
)

// Elsewhere is how other programs use what the workspace has.
type Elsewhere struct {
	Workspace string
	Origin    string // the server's address, without a slash at its end
	// Archives says that Claude Code fetches plugins from this address: it wants
	// https, and not the machine's own.
	Archives bool
}

// MarketplaceName is what the workspace's marketplace is called where it is
// added.
func MarketplaceName(ws, of string) string {
	if of == OfCarried {
		return "capstore-" + ws + "-carried"
	}
	return "capstore-" + ws
}

// tokenPlace stands where the reader puts his token.
const tokenPlace = "YOUR_TOKEN"

// bearer is a request that fetches the address, as one types it.
func (v Elsewhere) bearer(path string) string {
	return "curl -H 'Authorization: Bearer " + tokenPlace + "' '" + v.Origin + path + "'"
}

// registry is the address that clients take for a registry.
func (v Elsewhere) registry() string { return v.Origin + RegistryPath(v.Workspace) }

// settings is the part of Claude Code's settings that adds the marketplace with
// its token.
func (v Elsewhere) settings() string {
	type source struct {
		Source  string            `json:"source"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	of := func(of string) map[string]source {
		return map[string]source{"source": {"url", v.Origin + MarketplacePath(v.Workspace, of), map[string]string{"Authorization": "Bearer " + tokenPlace}}}
	}
	out, err := json.MarshalIndent(map[string]any{"extraKnownMarketplaces": map[string]any{
		MarketplaceName(v.Workspace, OfPublished): of(""),
		MarketplaceName(v.Workspace, OfCarried):   of(OfCarried),
	}}, "", "  ")
	if err != nil {
		return ""
	}
	return string(out)
}

// install is what installs a plugin of the marketplace.
func (v Elsewhere) install() string {
	return "claude plugin install NAME@" + MarketplaceName(v.Workspace, OfPublished)
}

// folder is what adds the marketplace from an unpacked archive.
func (v Elsewhere) folder() string {
	name := MarketplaceName(v.Workspace, OfPublished)
	return strings.Join([]string{
		"curl -H 'Authorization: Bearer " + tokenPlace + "' -o " + name + ".zip '" + v.Origin + MarketplaceFolderPath(v.Workspace, "") + "'",
		"unzip " + name + ".zip", "claude plugin marketplace add ./" + name, "claude plugin install NAME@" + name,
	}, "\n")
}
