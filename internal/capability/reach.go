package capability

import "slices"

// Reach says who may read a capability.
type Reach string

const (
	ReachPrivate   Reach = "private"
	ReachWorkspace Reach = "workspace"
	ReachSubset    Reach = "subset"
	ReachPublic    Reach = "public"
)

// Reaches lists every reach from narrowest to widest.
var Reaches = []Reach{ReachPrivate, ReachWorkspace, ReachSubset, ReachPublic}

// FirstPartyOwner is the reserved source of what ships with capstore.
const FirstPartyOwner = "_capstore"

// Viewer is who asks, acting in one workspace. The zero Viewer is a stranger
// and sees nothing.
type Viewer struct {
	Workspace string
	Subject   string
}

// Access is the part of a capability that decides who may read it.
type Access struct {
	Source      string
	Reach       Reach
	SharedWith  []string // workspaces, subset only
	CreatedBy   string
	Maintainers []string
}

// CanConsume decides whether the viewer may read, and so adopt and run, the
// capability. It is the only authority; SQL carries the same rule by
// audiences, and a test holds the two equal.
func CanConsume(a Access, v Viewer) bool {
	if v.Subject == "" || v.Workspace == "" {
		return false
	}
	seen := v.Audiences()
	return slices.ContainsFunc(a.Audiences(), func(audience string) bool {
		return slices.Contains(seen, audience)
	})
}

// The audience of everyone who is signed in.
const audiencePublic = "*"

func workspaceAudience(slug string) string       { return "w:" + slug }
func personAudience(slug, subject string) string { return "p:" + slug + ":" + subject }

// Audiences spells who may read the capability as a set of opaque keys that
// the store indexes. A viewer may read it when one of his own Audiences is
// among them; at most one ever is, so a listing joined by audience repeats
// nothing. An unknown reach has no audience: it fails closed.
func (a Access) Audiences() []string {
	switch a.Reach {
	case ReachPublic:
		return []string{audiencePublic}
	case ReachWorkspace:
		return []string{workspaceAudience(a.Source)}
	case ReachSubset:
		out := []string{workspaceAudience(a.Source)}
		for _, slug := range a.SharedWith {
			if key := workspaceAudience(slug); !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
		return out
	case ReachPrivate:
		out := []string{personAudience(a.Source, a.CreatedBy)}
		for _, subject := range a.Maintainers {
			if key := personAudience(a.Source, subject); !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
		return out
	}
	return nil
}

// Audiences lists the keys under which the viewer reads. Empty for a stranger.
func (v Viewer) Audiences() []string {
	if v.Subject == "" || v.Workspace == "" {
		return nil
	}
	return []string{audiencePublic, workspaceAudience(v.Workspace), personAudience(v.Workspace, v.Subject)}
}

// DefaultReach is the first version's reach when the author names none.
func DefaultReach(k Kind) Reach {
	if k == KindEnvironment || k == KindDelegation {
		return ReachWorkspace
	}
	return ReachPrivate
}
