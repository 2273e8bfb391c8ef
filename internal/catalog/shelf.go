package catalog

import (
	"slices"

	"capstore/internal/capability"
)

// A shelf is an audience as the index spells it. It differs from the kernel's
// key in one thing: what another workspace shared lies on a shelf apart from
// the workspace's own, so that the store and "mine" are separate ranges.
const sharedMark = "shared "

// shelves lists where a capability lies whose audiences these are.
func shelves(source string, reach capability.Reach, audiences []string) []string {
	own := workspaceAudience(source)
	out := slices.Clone(audiences)
	for i, a := range out {
		if reach == capability.ReachSubset && a != own {
			out[i] = sharedMark + a
		}
	}
	return out
}

func workspaceAudience(slug string) string {
	return capability.Access{Source: slug, Reach: capability.ReachWorkspace}.Audiences()[0]
}

var publicAudience = capability.Access{Reach: capability.ReachPublic}.Audiences()[0]

// Scope narrows a list to what a page is about.
type Scope string

const (
	// ScopeVisible is everything that the viewer may read.
	ScopeVisible Scope = "visible"
	// ScopeStore is what there is to discover: public, first-party and shared
	// from elsewhere.
	ScopeStore Scope = "store"
	// ScopeMine is what the viewer's own workspace published.
	ScopeMine Scope = "mine"
)

// shelvesOf lists the shelves that the viewer reads in the scope. At most one
// of them holds any capability. None for a stranger.
func shelvesOf(v capability.Viewer, scope Scope) []string {
	var out []string
	own := workspaceAudience(v.Workspace)
	for _, a := range v.Audiences() {
		if a == publicAudience || scope != ScopeStore {
			out = append(out, a)
		}
		if a == own && scope != ScopeMine {
			out = append(out, sharedMark+a)
		}
	}
	return out
}
