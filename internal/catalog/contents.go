package catalog

import (
	"context"
	"fmt"
	"time"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Stocked is a version with its content and what holds of its capability.
type Stocked struct {
	VersionDetail
	UpdatedAt  time.Time // of the capability
	Deprecated *Deprecation
}

// Contents returns the versions that the references name, in their order, each
// line greatest first, in one statement: one version, or the whole line where a
// reference names none. latestOnly keeps the latest of each. What is missing,
// hidden, or withdrawn and not the actor's to see is left out. Withdrawn and
// blocked versions are marked as such.
func (s *Service) Contents(ctx context.Context, actor capability.Actor, refs []capability.Ref, latestOnly bool) ([]Stocked, error) {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.Source + "/" + r.ID
		if r.Version != "" {
			names[i] += "/" + r.Version
		}
	}
	rows, err := queries.StockOf(ctx, s.db, db.StockOfParams{
		Refs: names, Audiences: actor.Viewer().Audiences(), Workspace: actor.Workspace, LatestOnly: latestOnly,
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("contents: %w", err))
	}
	out := make([]Stocked, 0, len(rows))
	for _, r := range rows {
		v, err := detail(VersionInfo{
			Source: r.Source, ID: r.ID, Version: r.Version, Digest: r.Digest, Kind: capability.Kind(r.Kind), Name: r.Name,
			Description: r.Description, Note: r.Note, Tags: tagList(r.Labels), State: stateOf(r.WithdrawnAt, r.BlockedAt),
			BlockedReason: r.BlockedReason, Latest: r.Latest, CreatedAt: r.PublishedAt,
		}, r.Content)
		if err != nil {
			return nil, err
		}
		item := Stocked{VersionDetail: *v, UpdatedAt: r.UpdatedAt}
		if item.Deprecated, err = deprecation(r.Deprecated); err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}
