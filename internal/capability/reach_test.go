package capability_test

import (
	"slices"
	"testing"

	"capstore/internal/capability"

	"pgregory.net/rapid"
)

// oracle is the table of the reaches, read off independently of audiences.
func oracle(a capability.Access, v capability.Viewer) bool {
	if v.Subject == "" || v.Workspace == "" {
		return false
	}
	owner := v.Workspace == a.Source
	switch a.Reach {
	case capability.ReachPrivate:
		return owner && (v.Subject == a.CreatedBy || slices.Contains(a.Maintainers, v.Subject))
	case capability.ReachWorkspace:
		return owner
	case capability.ReachSubset:
		return owner || slices.Contains(a.SharedWith, v.Workspace)
	case capability.ReachPublic:
		return true
	}
	return false
}

var (
	genWorkspace = rapid.SampledFrom([]string{"", "acme", "beta", "gamma", capability.FirstPartyOwner})
	genSubject   = rapid.SampledFrom([]string{"", "ann", "bob", "cy"})
	genAccess    = rapid.Custom(func(t *rapid.T) capability.Access {
		return capability.Access{
			Source:      genWorkspace.Draw(t, "source"),
			Reach:       rapid.SampledFrom(append([]capability.Reach{"", "secret"}, capability.Reaches...)).Draw(t, "reach"),
			SharedWith:  rapid.SliceOfN(genWorkspace, 0, 3).Draw(t, "shared"),
			CreatedBy:   genSubject.Draw(t, "creator"),
			Maintainers: rapid.SliceOfN(genSubject, 0, 2).Draw(t, "maintainers"),
		}
	})
	genViewer = rapid.Custom(func(t *rapid.T) capability.Viewer {
		return capability.Viewer{Workspace: genWorkspace.Draw(t, "workspace"), Subject: genSubject.Draw(t, "subject")}
	})
)

func TestCanConsumeIsTheTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, v := genAccess.Draw(t, "access"), genViewer.Draw(t, "viewer")
		if got, want := capability.CanConsume(a, v), oracle(a, v); got != want {
			t.Fatalf("%+v by %+v: %v, want %v", a, v, got, want)
		}
	})
}

// A listing holds a row per audience: two matches would show a capability twice.
func TestAtMostOneAudienceMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, v := genAccess.Draw(t, "access"), genViewer.Draw(t, "viewer")
		matches := 0
		for _, audience := range a.Audiences() {
			if slices.Contains(v.Audiences(), audience) {
				matches++
			}
		}
		want := 0
		if capability.CanConsume(a, v) {
			want = 1
		}
		if matches != want {
			t.Fatalf("%+v by %+v matches %d times", a, v, matches)
		}
	})
}

func TestDefaultReach(t *testing.T) {
	t.Parallel()
	for _, k := range capability.Kinds {
		want := capability.ReachPrivate
		if k == capability.KindEnvironment || k == capability.KindDelegation {
			want = capability.ReachWorkspace
		}
		if got := capability.DefaultReach(k); got != want {
			t.Errorf("%s: %s", k, got)
		}
	}
}
