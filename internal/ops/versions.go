package ops

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/identity"
)

// Version is one version with its content.
type Version struct {
	catalog.VersionInfo
	Spec json.RawMessage `json:"spec"`
}

// ETag is the version's digest.
func (v Version) ETag() string { return v.Digest }

func versionOf(v catalog.VersionDetail) Version {
	v.Tags = list(v.Tags)
	return Version{VersionInfo: v.VersionInfo, Spec: capability.EncodeSpec(v.Content.Spec)}
}

// Comparison is what lies between two versions.
type Comparison struct {
	Base        string              `json:"base"`
	Candidate   string              `json:"candidate"`
	TypeChanged bool                `json:"typeChanged"`
	Changes     []capability.Change `json:"changes"`
	Effects     []capability.Effect `json:"effects" doc:"What the change means for whoever uses the base, the gravest first."`
	// SuggestedBump is patch, minor or major.
	SuggestedBump string `json:"suggestedBump" doc:"The bump that semantic versioning asks for between the two: patch, minor or major."`
}

// namedVersion addresses one version of a capability.
type namedVersion struct {
	named
	Version string `path:"version" doc:"A semantic version."`
}

type tagVersion struct {
	namedVersion
	Body VersionTags `body:""`
}

// VersionTags are all labels of a version.
type VersionTags struct {
	Tags []string  `json:"tags"`
	Seen *[]string `json:"seen,omitempty" doc:"The labels that the change starts from. Where there are others by now it is refused with changed_since."`
}

type blockVersion struct {
	namedVersion
	Body BlockReason `body:""`
}

// BlockReason is why a version may not be used any more.
type BlockReason struct {
	Reason string `json:"reason" doc:"Shown to everyone who pins the version."`
}

type diffVersions struct {
	named
	Base      string `query:"base" required:"true" doc:"The version to start from."`
	Candidate string `query:"candidate" required:"true" doc:"The version to compare with it."`
	Path      string `query:"path" doc:"The path of one change: only it is answered, a long text by its lines even where it was replaced."`
	From      int    `query:"from" doc:"With path, how many changed lines of the text to leave out: from + given of the part before, until added + removed."`
}

const onVersion = tenant + "/capabilities/{id}/versions/{version}"

func versionOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_capability_versions", Method: http.MethodGet, Path: tenant + "/capabilities/{id}/versions", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "The version line, greatest first.",
		}, s.versions),
		declare(Meta{
			Name: "get_capability_version", Method: http.MethodGet, Path: onVersion, Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "One version with its content.",
		}, s.version),
		declare(Meta{
			Name: "withdraw_capability_version", Method: http.MethodDelete, Path: onVersion, Area: AreaCapabilities,
			Action: capability.ActDelete, Guarded: true, Success: http.StatusNoContent,
			Summary: "Take a version out of every list; whoever pins it keeps it.",
		}, s.withdraw),
		declare(Meta{
			Name: "set_capability_version_tags", Method: http.MethodPut, Path: onVersion + "/tags", Area: AreaCapabilities,
			Action: capability.ActWrite, Summary: "Set the labels of a version.", Example: `{"tags": ["stable"]}`,
		}, s.tagVersion),
		declare(Meta{
			Name: "block_capability_version", Method: http.MethodPost, Path: onVersion + "/block", Area: AreaCapabilities,
			Action: capability.ActWrite, Guarded: true, Example: `{"reason": "It rounds amounts the wrong way."}`,
			Summary: "Revoke a version: pins of it stop resolving at once, everywhere.",
		}, s.block),
		declare(Meta{
			Name: "unblock_capability_version", Method: http.MethodPost, Path: onVersion + "/unblock", Area: AreaCapabilities,
			Action: capability.ActWrite, Guarded: true, Summary: "Let pins of a blocked version resolve again.",
		}, s.unblock),
		declare(Meta{
			Name: "diff_capability_versions", Method: http.MethodGet, Path: tenant + "/capabilities/{id}/diff", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "Compare two versions, part by part.",
		}, s.diff),
	}
}

func (s Services) versions(ctx context.Context, who identity.Principal, in named) (List[catalog.VersionInfo], error) {
	line, err := s.Catalog.Versions(ctx, who.Actor(), in.source(who), in.ID)
	return List[catalog.VersionInfo]{Items: list(line)}, err
}

func (s Services) version(ctx context.Context, who identity.Principal, in namedVersion) (Version, error) {
	v, err := s.Catalog.Version(ctx, who.Actor(), in.source(who), in.ID, in.Version)
	if err != nil {
		return Version{}, err
	}
	return versionOf(v), nil
}

func (s Services) withdraw(ctx context.Context, who identity.Principal, in namedVersion) (Empty, error) {
	return Empty{}, s.Catalog.Withdraw(ctx, who.Actor(), in.source(who), in.ID, in.Version)
}

func (s Services) tagVersion(ctx context.Context, who identity.Principal, in tagVersion) (Version, error) {
	var err error
	if seen := in.Body.Seen; seen != nil {
		err = s.Catalog.Retag(ctx, who.Actor(), in.source(who), in.ID, in.Version, *seen, in.Body.Tags)
	} else {
		err = s.Catalog.SetVersionTags(ctx, who.Actor(), in.source(who), in.ID, in.Version, in.Body.Tags)
	}
	if err != nil {
		return Version{}, err
	}
	return s.version(ctx, who, in.namedVersion)
}

func (s Services) block(ctx context.Context, who identity.Principal, in blockVersion) (Version, error) {
	if err := s.Catalog.Block(ctx, who.Actor(), in.source(who), in.ID, in.Version, in.Body.Reason); err != nil {
		return Version{}, err
	}
	return s.version(ctx, who, in.namedVersion)
}

func (s Services) unblock(ctx context.Context, who identity.Principal, in namedVersion) (Version, error) {
	if err := s.Catalog.Unblock(ctx, who.Actor(), in.source(who), in.ID, in.Version); err != nil {
		return Version{}, err
	}
	return s.version(ctx, who, in)
}

func (s Services) diff(ctx context.Context, who identity.Principal, in diffVersions) (Comparison, error) {
	var view capability.View
	if in.Path != "" {
		view = capability.View{in.Path: {From: in.From}}
	}
	c, err := s.Catalog.Diff(ctx, who.Actor(), in.source(who), in.ID, in.Base, in.Candidate, view)
	if err != nil {
		return Comparison{}, err
	}
	if in.Path != "" {
		c.Changes.Changes = slices.DeleteFunc(c.Changes.Changes, func(change capability.Change) bool { return change.Path != in.Path })
	}
	bump, _ := capability.SuggestBump(c.Base.Content, c.Candidate.Content)
	return Comparison{
		Base: c.Base.Version, Candidate: c.Candidate.Version, TypeChanged: c.Changes.TypeChanged,
		Changes: list(c.Changes.Changes), Effects: list(c.Effects), SuggestedBump: bump,
	}, nil
}
