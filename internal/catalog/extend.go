package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// extend publishes to a capability that exists. It returns the version that
// answers the publication, which may be an older one of equal content.
func (s *Service) extend(ctx context.Context, tx pgx.Tx, by publisher, d draft, h *holding, out *Published) (string, error) {
	if err := mayExtend(by, h, d.ID); err != nil {
		return "", err
	}
	line, err := queries.VersionLine(ctx, tx, h.Pk)
	if err != nil {
		return "", fmt.Errorf("version line: %w", err)
	}
	same, err := sameContent(line, d, h)
	if err != nil {
		return "", err
	}
	if err := keepsReach(d, h, same != nil); err != nil {
		return "", err
	}
	if same != nil {
		return same.Version, repeat(ctx, tx, by, h, same, out)
	}
	if err := matches(d.IfMatch, h, line); err != nil {
		return "", err
	}
	return s.addNext(ctx, tx, by, d, h, line, out)
}

func mayExtend(by publisher, h *holding, id string) error {
	if by.system {
		return nil
	}
	if h.TombstonedAt != nil || !capability.CanConsume(h.access, by.Viewer()) {
		return idTaken(id)
	}
	return capability.MayWrite(by.Actor, h.access)
}

// idTaken answers for a deleted capability and for one that the publisher may
// not see alike: the id is the one thing about them that cannot be hidden.
func idTaken(id string) error {
	return fault.New(fault.Conflict, "id_taken", "The id %s cannot be used in this workspace.", id).
		With("id", id).Do("Choose another id.")
}

// sameContent finds the version that already is what the draft wants to be:
// the one of its number, else the newest live one when the content is equal;
// nil when the draft is news. A number with other content is a conflict, and
// so is content that was blocked.
func sameContent(line []db.VersionLineRow, d draft, h *holding) (*db.VersionLineRow, error) {
	newest := true
	for i, row := range line {
		state := stateOf(row.WithdrawnAt, row.BlockedAt)
		switch {
		case row.Version == d.Version && (row.Digest != d.digest || state == Blocked):
			return nil, versionExists(h, row, state)
		case row.Version == d.Version:
			return &line[i], nil
		case state == Blocked && row.Digest == d.digest:
			return nil, versionExists(h, row, state)
		}
	}
	for i, row := range line {
		if stateOf(row.WithdrawnAt, row.BlockedAt) != Live {
			continue
		}
		if newest && row.Digest == d.digest {
			return &line[i], nil
		}
		newest = false
	}
	return nil, nil
}

func versionExists(h *holding, row db.VersionLineRow, state State) error {
	message, do := "exists already with other content", "Publish under a greater version, or leave the version out to get the next one."
	if state == Blocked {
		message, do = "was blocked and cannot be published again", "Change the content and publish it under a greater version."
	}
	return fault.New(fault.Conflict, "version_exists", "Version %s of %s %s.", row.Version, h.name(), message).
		With("version", row.Version).With("digest", row.Digest).With("state", state).Do(do)
}

// keepsReach refuses a reach that comes with a publication to something that
// exists. A repeat of the very publication that made it is no such thing.
func keepsReach(d draft, h *holding, repeated bool) error {
	given := d.Visibility != "" || len(d.SharedWith) > 0
	unchanged := d.Visibility == h.access.Reach && sameSet(d.SharedWith, h.SharedWith)
	if !given || repeated && unchanged {
		return nil
	}
	return fault.Fields([]fault.Field{{
		Path: "/visibility", Code: "reach_on_existing",
		Message: "A new version never changes who may read the capability. Leave this out and set the reach apart.",
	}})
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// repeat answers a publication of what is there. A withdrawn version comes
// back to life.
func repeat(ctx context.Context, tx pgx.Tx, by publisher, h *holding, same *db.VersionLineRow, out *Published) error {
	out.NoChanges = true
	if stateOf(same.WithdrawnAt, same.BlockedAt) != Withdrawn {
		return nil
	}
	out.NoChanges, out.Revived = false, true
	if err := queries.SetVersionState(ctx, tx, db.SetVersionStateParams{Pk: same.Pk}); err != nil {
		return fmt.Errorf("revive version: %w", err)
	}
	return afterVersions(ctx, tx, by.Actor, h, "version.revive", same.Version, map[string]any{"digest": same.Digest})
}

// matches holds the author to the latest version that he saw.
func matches(ifMatch string, h *holding, line []db.VersionLineRow) error {
	if ifMatch == "" {
		return nil
	}
	for _, row := range line {
		if h.LatestPk != nil && row.Pk == *h.LatestPk && row.Digest == ifMatch {
			return nil
		}
	}
	return fault.New(fault.Conflict, "changed_since", "A newer version than the one you edited was published; nothing was overwritten.").
		With("latest", text(h.LatestVersion)).Do("Compare your change with the latest version and publish again.")
}

func (s *Service) addNext(ctx context.Context, tx pgx.Tx, by publisher, d draft, h *holding, line []db.VersionLineRow, out *Published) (string, error) {
	newest, err := capability.ParseVersion(line[0].Version)
	if err != nil {
		return "", fmt.Errorf("stored version %q: %w", line[0].Version, err)
	}
	version, err := capability.NextVersion(&newest, d.Version, d.Bump)
	if err != nil {
		return "", err
	}
	if err := checkName(ctx, tx, by, d); err != nil {
		return "", err
	}
	if d.Tags != nil && !slices.Equal(d.Tags, h.Tags) {
		if err := queries.SetCapabilityTags(ctx, tx, db.SetCapabilityTagsParams{Tags: d.Tags, Pk: h.Pk}); err != nil {
			return "", fmt.Errorf("set tags: %w", err)
		}
		if _, err := queries.TouchCapability(ctx, tx, h.Pk); err != nil {
			return "", fmt.Errorf("touch capability: %w", err)
		}
	}
	out.Created = true
	return version.String(), addVersion(ctx, tx, by, d, h, version)
}
