package catalog

import (
	"context"
	"fmt"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Reliance is how many rest on a capability: counted, never named, so that
// whoever ends something knows what it ends.
type Reliance struct {
	// Adopters are the workspaces that adopted it and can read it; Pinned are
	// those of them whose pin is the version asked about.
	Adopters int
	Pinned   int
	// Copies are the workspaces that copied it as a skill. A copy is theirs.
	Copies int
	// Switched are the members of the owning workspace who switched it on for
	// themselves; SwitchedPinned are those of them who pin the version asked
	// about.
	Switched       int
	SwitchedPinned int
	Maintainers    int
	// Here says that the owning workspace is one of the adopters, PinnedHere
	// that its pin is the version asked about.
	Here       bool
	PinnedHere bool
}

// Reliance counts who rests on the capability, and with a version on that
// version too, in one statement. Missing when the actor may not see the
// capability or there is no such version; Denied when he may not write to it.
func (s *Service) Reliance(ctx context.Context, actor capability.Actor, source, id, version string) (Reliance, error) {
	row, err := queries.Reliance(ctx, s.db, db.RelianceParams{
		Source: source, ID: id, Version: version, Audiences: actor.Viewer().Audiences(),
	})
	if err != nil {
		return Reliance{}, pg.Fault(missing(err))
	}
	err = capability.MayWrite(actor, capability.Access{
		Source: source, Reach: capability.Reach(row.Reach), SharedWith: row.SharedWith, CreatedBy: subject(row.CreatedBy),
		Maintainers: subjects(row.Maintainers),
	})
	if err != nil {
		return Reliance{}, err
	}
	if row.Version != version {
		return Reliance{}, fault.Missing()
	}
	return Reliance{
		Adopters: int(row.Adopters), Pinned: int(row.Pinned), Copies: int(row.Copies), Switched: int(row.Switched),
		SwitchedPinned: int(row.SwitchedPinned), Maintainers: len(row.Maintainers), Here: row.Here, PinnedHere: row.PinnedHere,
	}, nil
}

// Known is a capability that something refers to by name, as a reader sees it.
type Known struct {
	Source     string
	ID         string
	Kind       capability.Kind
	Name       string
	Reach      capability.Reach
	Version    string // the latest
	Pinned     string // by the reader's workspace, "" for none
	Deprecated *Deprecation
	// SuccessorSeen says that the reader sees the capability that follows a
	// deprecated one.
	SuccessorSeen bool
}

// Lookup returns what the actor may see of the capabilities that the
// references (source/id) name, in one statement. What is missing or hidden is
// left out, and so is one without a live version.
func (s *Service) Lookup(ctx context.Context, actor capability.Actor, refs []string) (map[string]Known, error) {
	out := map[string]Known{}
	if len(refs) == 0 {
		return out, nil
	}
	rows, err := queries.VisibleAmong(ctx, s.db, db.VisibleAmongParams{
		Workspace: actor.Workspace, Refs: refs, Audiences: actor.Viewer().Audiences(),
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("look references up: %w", err))
	}
	for _, row := range rows {
		k, err := knownOf(row)
		if err != nil {
			return nil, err
		}
		out[name(k.Source, k.ID)] = k
	}
	return out, nil
}

func knownOf(row db.VisibleAmongRow) (Known, error) {
	d, err := deprecation(row.Deprecated)
	return Known{
		Source: row.Source, ID: row.ID, Kind: capability.Kind(row.Kind), Name: row.Name, Reach: capability.Reach(row.Reach),
		Version: row.Version, Pinned: row.Pinned, Deprecated: d, SuccessorSeen: row.SuccessorSeen,
	}, err
}
