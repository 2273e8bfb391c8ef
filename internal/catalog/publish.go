package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Published is what became of a Publication.
type Published struct {
	Version VersionInfo
	// Created says that there is a version that was not there before; an
	// idempotent repeat has it false.
	Created bool
	// NoChanges says that the content equals that of the version answered.
	NoChanges bool
	// Revived says that the version had been withdrawn and is live again.
	Revived bool
}

// publisher is who publishes. The system one is capstore itself, which asks
// nobody.
type publisher struct {
	capability.Actor
	system bool
}

func (p publisher) audiences() []string {
	if p.system {
		return []string{publicAudience}
	}
	return p.Viewer().Audiences()
}

// Publish makes a capability or the next version of one, in the actor's
// workspace. Equal content publishes nothing and answers what is there. It
// returns an Invalid fault that lists everything wrong with the input, Denied
// when the actor may not, and Conflict when the version exists with other
// content (version_exists), the id or name is taken, or the latest version is
// not the one that the author saw (changed_since).
func (s *Service) Publish(ctx context.Context, actor capability.Actor, p Publication) (Published, error) {
	if err := capability.May(actor, capability.ActWrite, capability.Fresh); err != nil {
		return Published{}, err
	}
	d, err := p.check(s.opts.Rules)
	if err != nil {
		return Published{}, err
	}
	return s.publish(ctx, publisher{Actor: actor}, d)
}

func (s *Service) publish(ctx context.Context, by publisher, d draft) (out Published, err error) {
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		out = Published{}
		err = queries.LockCapabilityKey(ctx, tx, db.LockCapabilityKeyParams{Source: by.Workspace, ID: d.ID})
		if err != nil {
			return fmt.Errorf("lock key: %w", err)
		}
		var version string
		row, err := queries.LockCapability(ctx, tx, db.LockCapabilityParams{Source: by.Workspace, ID: d.ID})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			version, err = s.create(ctx, tx, by, d)
			out.Created = true
		case err == nil:
			version, err = s.extend(ctx, tx, by, d, hold(row), &out)
		}
		if err != nil {
			return err
		}
		if err := forgetDraft(ctx, tx, by, d); err != nil {
			return err
		}
		out.Version, err = versionInfo(ctx, tx, by, d.ID, version)
		return err
	})
	return out, err
}

// create makes the capability with its first version.
func (s *Service) create(ctx context.Context, tx pgx.Tx, by publisher, d draft) (string, error) {
	access, err := s.firstReach(ctx, tx, by, d)
	if err != nil {
		return "", err
	}
	version, err := capability.NextVersion(nil, d.Version, d.Bump)
	if err != nil {
		return "", err
	}
	if err := checkName(ctx, tx, by, d); err != nil {
		return "", err
	}
	pk, err := queries.InsertCapability(ctx, tx, db.InsertCapabilityParams{
		Source: by.Workspace, ID: d.ID, Kind: string(d.kind), Reach: string(access.Reach), SharedWith: tagList(access.SharedWith),
		Audiences: access.Audiences(), NameFold: capability.FoldName(d.Name), Tags: tagList(d.Tags), CreatedBy: optionalID(by.Subject),
	})
	if err != nil {
		return "", fmt.Errorf("insert capability: %w", err)
	}
	h := &holding{LockCapabilityRow: db.LockCapabilityRow{Pk: pk, Source: by.Workspace, ID: d.ID, SharedWith: access.SharedWith}, access: access}
	return version.String(), addVersion(ctx, tx, by, d, h, version)
}

// firstReach decides the reach of a new capability.
func (s *Service) firstReach(ctx context.Context, tx pgx.Tx, by publisher, d draft) (capability.Access, error) {
	access := capability.Access{Source: by.Workspace, Reach: d.Visibility, SharedWith: d.SharedWith, CreatedBy: by.Subject}
	if by.system {
		access.Reach = capability.ReachPublic
		return access, nil
	}
	if access.Reach == "" {
		access.Reach = capability.DefaultReach(d.kind)
	}
	return access, s.checkTargets(ctx, tx, by.Actor, nil, access)
}

// checkTargets holds a reach that is about to be set to the gate of public
// ones and to the memberships of who sets it.
func (s *Service) checkTargets(ctx context.Context, tx pgx.Tx, actor capability.Actor, current []string, want capability.Access) error {
	if want.Reach == capability.ReachPublic {
		return capability.MayPublishPublic(actor, s.opts.Policy)
	}
	if len(want.SharedWith) == 0 {
		return nil
	}
	id, err := subjectOf(actor)
	if err != nil {
		return err
	}
	memberships, err := queries.MembershipsOf(ctx, tx, id)
	if err != nil {
		return fmt.Errorf("memberships: %w", err)
	}
	return fault.Fields(capability.CheckSharedWith(current, want.SharedWith, memberships, want.Source))
}

// checkName refuses a name that would be confused with another one of the
// same kind in the workspace, as far as the publisher can see.
func checkName(ctx context.Context, tx pgx.Tx, by publisher, d draft) error {
	other, err := queries.SameName(ctx, tx, db.SameNameParams{
		Source: by.Workspace, NameFold: capability.FoldName(d.Name), Kind: string(d.kind), ID: d.ID, Audiences: by.audiences(),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the name: %w", err)
	}
	return nameTaken(by, other)
}

func nameTaken(by publisher, other string) error {
	return fault.New(fault.Conflict, "name_taken", "The name is, or reads like, that of %s.", name(by.Workspace, other)).
		With("id", other).Do("Choose another name, or publish a new version of " + other + ".")
}

// addVersion inserts the version and leaves everything that follows from it as
// it should be.
func addVersion(ctx context.Context, tx pgx.Tx, by publisher, d draft, h *holding, version capability.Version) error {
	_, err := queries.InsertVersion(ctx, tx, db.InsertVersionParams{
		CapabilityPk: h.Pk, Version: version.String(), SortKey: version.SortKey(), Kind: string(d.kind), Name: d.Name,
		Description: d.Description, Content: d.canonical, Digest: d.digest, Note: d.Note, Tags: tagList(d.VersionTags),
		Provenance: d.Provenance, Serves: d.domains(), CreatedBy: optionalID(by.Subject),
	})
	if err != nil {
		return fmt.Errorf("insert version: %w", err)
	}
	return afterVersions(ctx, tx, by.Actor, h, "capability.publish", version.String(), map[string]any{"digest": d.digest, "kind": d.kind})
}

// afterVersions follows any change of the version line: the latest version,
// the index, the audit and the feed.
func afterVersions(ctx context.Context, tx pgx.Tx, actor capability.Actor, h *holding, action, version string, detail map[string]any) error {
	if err := relatest(ctx, tx, h.Pk); err != nil {
		return err
	}
	if err := reindex(ctx, tx, h.Pk); err != nil {
		return err
	}
	err := pg.Audit(ctx, tx, pg.Entry{
		Workspace: actor.Workspace, Subject: actor.Subject, Action: action, Target: h.name() + "@" + version, Detail: detail,
	})
	if err != nil {
		return err
	}
	return tell(ctx, tx, TopicCapability, h.name(), h.readers())
}

// relatest stores which version is the latest: the kernel's choice among the
// live ones, none when there is none.
func relatest(ctx context.Context, tx pgx.Tx, pk int64) error {
	line, err := queries.VersionLine(ctx, tx, pk)
	if err != nil {
		return fmt.Errorf("version line: %w", err)
	}
	byVersion := map[string]db.VersionLineRow{}
	var live []capability.Version
	for _, row := range line {
		if stateOf(row.WithdrawnAt, row.BlockedAt) != Live {
			continue
		}
		v, err := capability.ParseVersion(row.Version)
		if err != nil {
			return fmt.Errorf("stored version %q: %w", row.Version, err)
		}
		live = append(live, v)
		byVersion[row.Version] = row
	}
	set := db.SetLatestParams{Pk: pk}
	if latest, ok := capability.Latest(live); ok {
		row := byVersion[latest.String()]
		fold := capability.FoldName(row.Name)
		set.LatestPk, set.LatestVersion, set.Kind, set.NameFold = &row.Pk, &row.Version, &row.Kind, &fold
	}
	if err := queries.SetLatest(ctx, tx, set); err != nil {
		return fmt.Errorf("set latest: %w", err)
	}
	return nil
}
