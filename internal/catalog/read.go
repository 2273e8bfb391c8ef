package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Deprecation tells readers to look elsewhere. It changes nothing else.
type Deprecation struct {
	Successor string `json:"successor,omitempty"` // source/id, may be empty
	Note      string `json:"note"`
}

// Capability is one capability as its viewer sees it.
type Capability struct {
	Source      string
	ID          string
	Access      capability.Access
	Creator     Person
	Maintainers []Person
	Tags        []string
	Deprecated  *Deprecation
	Adopters    int
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// Revision is of the metadata, for conditional changes.
	Revision int64
	// Latest is nil when every version is withdrawn or blocked, which only the
	// owning workspace and those who pin one see at all.
	Latest *VersionDetail
	// Pinned is the version that the viewer's workspace adopted; "" for none.
	Pinned          string
	PinnedDigest    string
	UpdateAvailable bool // the latest version is newer than the pin
	// TakenAs is the id of the workspace's skill that was copied from it.
	TakenAs string
}

// BuiltIn reports whether it ships with capstore.
func (c Capability) BuiltIn() bool { return c.Source == capability.FirstPartyOwner }

// Get returns the capability with its latest version and the viewer's
// adoption of it, in one statement. Missing when there is none or the actor
// may not see it.
func (s *Service) Get(ctx context.Context, actor capability.Actor, source, id string) (Capability, error) {
	row, err := queries.CapabilityDetail(ctx, s.db, db.CapabilityDetailParams{
		Workspace: actor.Workspace, Source: source, ID: id, Audiences: actor.Viewer().Audiences(),
	})
	if err != nil {
		return Capability{}, pg.Fault(missing(err))
	}
	out := Capability{
		Source: row.Source, ID: row.ID, Creator: person(row.CreatedBy, row.Creator), Tags: row.Tags,
		Access: capability.Access{
			Source: row.Source, Reach: capability.Reach(row.Reach), SharedWith: row.SharedWith,
			CreatedBy: subject(row.CreatedBy), Maintainers: subjects(row.Maintainers),
		},
		Adopters: int(row.Adopters), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, Revision: row.Revision,
		Pinned: row.PinnedVersion, PinnedDigest: row.PinnedDigest, UpdateAvailable: row.UpdateAvailable, TakenAs: row.TakenAs,
	}
	for i, m := range row.Maintainers {
		out.Maintainers = append(out.Maintainers, Person{Subject: m.String(), Name: row.MaintainerNames[i]})
	}
	if out.Deprecated, err = deprecation(row.Deprecated); err != nil {
		return Capability{}, err
	}
	if row.VersionPk != nil {
		out.Latest, err = latestOf(row)
	}
	return out, err
}

func latestOf(row db.CapabilityDetailRow) (*VersionDetail, error) {
	info := VersionInfo{
		Source: row.Source, ID: row.ID, Version: text(row.Version), Digest: text(row.Digest), Kind: capability.Kind(text(row.Kind)),
		Name: text(row.Name), Description: text(row.Description), Note: text(row.Note), Tags: tagList(row.Labels), State: Live,
		Latest: true, Author: person(row.PublishedBy, row.Author), Provenance: row.Provenance, CreatedAt: *row.PublishedAt,
	}
	return detail(info, text(row.Content))
}

func deprecation(raw json.RawMessage) (*Deprecation, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var d Deprecation
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("stored deprecation: %w", err)
	}
	return &d, nil
}

func detail(info VersionInfo, content string) (*VersionDetail, error) {
	c, faults := capability.DecodeContent([]byte(content))
	if len(faults) > 0 {
		return nil, fmt.Errorf("stored content of %s/%s@%s does not decode: %v", info.Source, info.ID, info.Version, faults)
	}
	return &VersionDetail{VersionInfo: info, Content: c}, nil
}

// Version returns one version with its content. Missing when there is none,
// when the actor may not read the capability, and when the version is
// withdrawn and neither his workspace's own nor pinned by it.
func (s *Service) Version(ctx context.Context, actor capability.Actor, source, id, version string) (VersionDetail, error) {
	row, err := queries.VersionDetail(ctx, s.db, db.VersionDetailParams{
		Source: source, ID: id, Version: version, Audiences: actor.Viewer().Audiences(), Workspace: actor.Workspace,
	})
	if err != nil {
		return VersionDetail{}, pg.Fault(missing(err))
	}
	v, err := detail(infoOf(row), row.Content)
	if err != nil {
		return VersionDetail{}, err
	}
	return *v, nil
}

func infoOf(row db.VersionDetailRow) VersionInfo {
	return VersionInfo{
		Source: row.Source, ID: row.ID, Version: row.Version, Digest: row.Digest, Kind: capability.Kind(row.Kind), Name: row.Name,
		Description: row.Description, Note: row.Note, Tags: tagList(row.Labels), State: stateOf(row.WithdrawnAt, row.BlockedAt),
		BlockedReason: row.BlockedReason, Latest: row.Latest, Author: person(row.PublishedBy, row.Author),
		Provenance: row.Provenance, CreatedAt: row.PublishedAt,
	}
}

// versionInfo reads one version within a transaction of its publisher.
func versionInfo(ctx context.Context, tx pgx.Tx, by publisher, id, version string) (VersionInfo, error) {
	row, err := queries.VersionDetail(ctx, tx, db.VersionDetailParams{
		Source: by.Workspace, ID: id, Version: version, Audiences: by.audiences(), Workspace: by.Workspace,
	})
	if err != nil {
		return VersionInfo{}, missing(err)
	}
	return infoOf(row), nil
}

// Versions returns the version line, greatest first. Missing as for Get.
func (s *Service) Versions(ctx context.Context, actor capability.Actor, source, id string) ([]VersionInfo, error) {
	rows, err := queries.VersionsOf(ctx, s.db, db.VersionsOfParams{
		Source: source, ID: id, Audiences: actor.Viewer().Audiences(), Workspace: actor.Workspace,
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list versions: %w", err))
	}
	if len(rows) == 0 {
		return nil, fault.Missing()
	}
	out := make([]VersionInfo, len(rows))
	for i, r := range rows {
		out[i] = VersionInfo{
			Source: r.Source, ID: r.ID, Version: r.Version, Digest: r.Digest, Kind: capability.Kind(r.Kind), Name: r.Name,
			Description: r.Description, Note: r.Note, Tags: tagList(r.Labels), State: stateOf(r.WithdrawnAt, r.BlockedAt),
			BlockedReason: r.BlockedReason, Latest: r.Latest, Author: person(r.PublishedBy, r.Author),
			Provenance: r.Provenance, CreatedAt: r.PublishedAt,
		}
	}
	return out, nil
}

// Comparison is two versions and what lies between them.
type Comparison struct {
	Base, Candidate VersionDetail
	Changes         capability.Changes
	// Effects is what the change means for who adopted the base.
	Effects []capability.Effect
}

// Diff compares two versions of a capability, in the parts of long texts that
// the view asks for. Missing when either is.
func (s *Service) Diff(ctx context.Context, actor capability.Actor, source, id, base, candidate string, view capability.View) (Comparison, error) {
	from, err := s.Version(ctx, actor, source, id, base)
	if err != nil {
		return Comparison{}, err
	}
	to, err := s.Version(ctx, actor, source, id, candidate)
	if err != nil {
		return Comparison{}, err
	}
	return Comparison{
		Base: from, Candidate: to,
		Changes: capability.DiffWithin(from.Content, to.Content, view), Effects: capability.Effects(from.Content, to.Content),
	}, nil
}

// HiddenCount is how many capabilities of a kind an admin knows of without
// seeing them.
type HiddenCount struct {
	Kind capability.Kind
	N    int
}

// HiddenPrivate counts, by kind, the private capabilities of the actor's
// workspace that are others'. Denied unless he is an admin.
func (s *Service) HiddenPrivate(ctx context.Context, actor capability.Actor) ([]HiddenCount, error) {
	if err := capability.May(actor, capability.ActSettings, capability.Ownership{}); err != nil {
		return nil, err
	}
	rows, err := queries.HiddenPrivate(ctx, s.db, db.HiddenPrivateParams{
		Source: actor.Workspace, Audiences: actor.Viewer().Audiences(),
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("count hidden: %w", err))
	}
	out := make([]HiddenCount, len(rows))
	for i, r := range rows {
		out[i] = HiddenCount{Kind: capability.Kind(r.Kind), N: int(r.N)}
	}
	return out, nil
}
