package catalog

import (
	"context"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Retag sets the labels of a version, unless they are others by now than its
// author saw: Conflict changed_since then, and nothing is overwritten.
func (s *Service) Retag(ctx context.Context, actor capability.Actor, source, id, version string, seen, tags []string) error {
	return s.setLabels(ctx, actor, source, id, version, tags, func(ctx context.Context, tx pgx.Tx) error {
		row, err := queries.VersionDetail(ctx, tx, db.VersionDetailParams{
			Source: source, ID: id, Version: version, Audiences: actor.Viewer().Audiences(), Workspace: actor.Workspace,
		})
		if err != nil {
			return missing(err)
		}
		if !sameSet(row.Labels, seen) {
			return fault.New(fault.Conflict, "changed_since", "Someone set other tags after you opened this; nothing was overwritten.").
				Do("Look at the tags that are there now and save again.")
		}
		return nil
	})
}

// SetVersionTags sets the labels of a version, which are no part of its
// content, whatever they were.
func (s *Service) SetVersionTags(ctx context.Context, actor capability.Actor, source, id, version string, tags []string) error {
	return s.setLabels(ctx, actor, source, id, version, tags, func(context.Context, pgx.Tx) error { return nil })
}

// setLabels sets them once the check, made under the capability's lock, lets
// it.
func (s *Service) setLabels(ctx context.Context, actor capability.Actor, source, id, version string, tags []string,
	check func(context.Context, pgx.Tx) error,
) error {
	tags, faults := capability.NormalizeTags(tags)
	if err := fault.Fields(faults); err != nil {
		return err
	}
	return s.versionChange(ctx, actor, source, id, version, change{action: "version.tag", may: capability.MayWrite},
		func(ctx context.Context, tx pgx.Tx, row db.VersionLineRow) (map[string]any, error) {
			if err := check(ctx, tx); err != nil {
				return nil, err
			}
			err := queries.SetVersionLabels(ctx, tx, db.SetVersionLabelsParams{Tags: tags, Pk: row.Pk})
			return map[string]any{"tags": tags}, err
		})
}
