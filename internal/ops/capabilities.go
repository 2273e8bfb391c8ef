package ops

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

// CapabilityItem is one capability in a list.
type CapabilityItem struct {
	Source          string               `json:"source"`
	ID              string               `json:"id"`
	Kind            capability.Kind      `json:"kind"`
	Name            string               `json:"name"`
	Description     string               `json:"description"`
	Version         string               `json:"version" doc:"The latest version; empty when none is live."`
	Visibility      capability.Reach     `json:"visibility"`
	Tags            []string             `json:"tags"`
	Domains         []string             `json:"domains"`
	Adopters        int                  `json:"adopters" doc:"How many workspaces adopted it."`
	Author          Person               `json:"author"`
	CreatedAt       time.Time            `json:"createdAt"`
	PublishedAt     time.Time            `json:"publishedAt"`
	Deprecated      *catalog.Deprecation `json:"deprecated"`
	BuiltIn         bool                 `json:"builtIn"`
	AdoptedVersion  string               `json:"adoptedVersion,omitempty" doc:"The version that this workspace pins."`
	UpdateAvailable bool                 `json:"updateAvailable"`
	TakenAs         string               `json:"takenAs,omitempty" doc:"The workspace's skill that was copied from it."`
}

// Person is somebody as others see him.
type Person = catalog.Person

// Capability is one capability with its latest version.
type Capability struct {
	Source          string               `json:"source"`
	ID              string               `json:"id"`
	Visibility      capability.Reach     `json:"visibility"`
	SharedWith      []string             `json:"sharedWith,omitempty" doc:"Only the owning workspace is told."`
	Tags            []string             `json:"tags"`
	Creator         Person               `json:"creator"`
	Maintainers     []Person             `json:"maintainers"`
	Deprecated      *catalog.Deprecation `json:"deprecated"`
	Adopters        int                  `json:"adopters"`
	BuiltIn         bool                 `json:"builtIn"`
	CreatedAt       time.Time            `json:"createdAt"`
	UpdatedAt       time.Time            `json:"updatedAt"`
	Latest          *Version             `json:"latest" doc:"Null when every version is withdrawn or blocked."`
	AdoptedVersion  string               `json:"adoptedVersion,omitempty"`
	AdoptedDigest   string               `json:"adoptedDigest,omitempty"`
	UpdateAvailable bool                 `json:"updateAvailable"`
	TakenAs         string               `json:"takenAs,omitempty"`

	tag string
}

// ETag is of the metadata and of the latest version together.
func (c Capability) ETag() string { return c.tag }

// Published is the version that a publication ended in.
type Published struct {
	catalog.VersionInfo
	Created   bool `json:"created" doc:"There is a version that was not there before."`
	NoChanges bool `json:"noChanges" doc:"The content equals that of the version answered."`
	Revived   bool `json:"revived" doc:"The version had been withdrawn and is live again."`
}

// HTTPStatus tells a new version from a repeat.
func (p Published) HTTPStatus() int {
	if p.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// ETag is the version's digest.
func (p Published) ETag() string { return p.Digest }

// Location is that of the version.
func (p Published) Location(workspace string) string {
	return locationOf(workspace, "capabilities", p.ID, "versions", p.Version)
}

// named addresses one capability.
type named struct {
	ID     string `path:"id" doc:"The capability's id."`
	Source string `query:"source" doc:"The workspace that owns it; this one unless told."`
}

func (n named) source(who identity.Principal) string {
	if n.Source == "" {
		return who.Workspace
	}
	return n.Source
}

type listCapabilities struct {
	Q       string             `query:"q" doc:"Words, all of which must be found."`
	Kinds   []capability.Kind  `query:"kind" doc:"Any of these kinds; repeat it for several." enum:"mcp,code,skill,environment,delegation,hook,command"`
	Tags    []string           `query:"tag" doc:"All of these tags."`
	Reach   []capability.Reach `query:"reach" doc:"Any of these reaches." enum:"private,workspace,subset,public"`
	Sources []string           `query:"source" doc:"Any of these owners."`
	Domains []string           `query:"domain" doc:"All of these domains."`
	Works   bool               `query:"worksHere" doc:"Only what this server can run."`
	Scope   catalog.Scope      `query:"scope" doc:"Everything visible unless told." enum:"visible,store,mine"`
	Sort    catalog.Sort       `query:"sort" doc:"In the order of creation unless told, oldest first." enum:"created,newest,adopted,relevance"`
	Limit   int                `query:"limit" doc:"Rows of a page, 1 to 200; 30 unless told."`
	Cursor  string             `query:"cursor" doc:"The nextCursor of the page before."`
}

type createCapability struct {
	IfMatch string         `header:"If-Match" doc:"ETag of the latest version that the author saw."`
	Body    NewPublication `body:""`
}

// NewPublication is a capability that is new, or the next version of one.
type NewPublication struct {
	ID          string           `json:"id,omitempty" doc:"Made from the name unless told. One that exists gets a new version."`
	Name        string           `json:"name" doc:"What the agent sees; 1 to 64 characters."`
	Description string           `json:"description" doc:"1 to 1024 characters."`
	Spec        json.RawMessage  `json:"spec" doc:"An object whose type is the kind."`
	Visibility  capability.Reach `json:"visibility,omitempty" enum:"private,workspace,subset,public" doc:"Of a new capability; a fault for one that exists."`
	SharedWith  []string         `json:"sharedWith,omitempty" doc:"The workspaces of the visibility subset."`
	Tags        []string         `json:"tags,omitempty"`
	Version     string           `json:"version,omitempty" doc:"A semantic version above the newest one, instead of bump."`
	Bump        string           `json:"bump,omitempty" enum:"patch,minor,major"`
	Note        string           `json:"note,omitempty" doc:"What is new in this version."`
	VersionTags []string         `json:"versionTags,omitempty" doc:"Labels of the version, no part of its content."`
}

// Faults are those of the content, by the loosest rules that a server has.
func (p NewPublication) Faults() []fault.Field {
	spec, faults := capability.DecodeSpec(p.Spec)
	content := capability.Content{Name: p.Name, Description: p.Description, Spec: spec}
	for _, f := range content.Validate(capability.Rules{AllowLoopbackHTTP: true}) {
		if spec != nil || !strings.HasPrefix(f.Path, "/spec") {
			faults = append(faults, f)
		}
	}
	return faults
}

type patchCapability struct {
	named
	IfMatch string          `header:"If-Match" doc:"ETag of the capability that the author saw."`
	Body    CapabilityPatch `body:""`
}

// CapabilityPatch changes metadata; what is left out stays as it is.
type CapabilityPatch struct {
	Visibility  *capability.Reach             `json:"visibility,omitempty" enum:"private,workspace,subset,public"`
	SharedWith  *[]string                     `json:"sharedWith,omitempty"`
	Tags        *[]string                     `json:"tags,omitempty"`
	Maintainers *[]string                     `json:"maintainers,omitempty" doc:"Subjects of members."`
	Deprecated  Nullable[catalog.Deprecation] `json:"deprecated,omitzero" doc:"Null takes the deprecation away."`
}

func capabilityOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_capabilities", Method: http.MethodGet, Path: tenant + "/capabilities", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "List what the member may read, filtered and page by page.",
		}, s.listCapabilities),
		declare(Meta{
			Name: "create_capability", Method: http.MethodPost, Path: tenant + "/capabilities", Area: AreaCapabilities,
			Action: capability.ActWrite, Success: http.StatusCreated,
			Summary: "Publish a capability, or the next version of one that exists.", Example: examplePublication,
		}, s.publish),
		declare(Meta{
			Name: "get_capability", Method: http.MethodGet, Path: tenant + "/capabilities/{id}", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "One capability with its latest version.",
		}, s.getCapability),
		declare(Meta{
			Name: "set_capability_visibility", Method: http.MethodPatch, Path: tenant + "/capabilities/{id}", Area: AreaCapabilities,
			Action: capability.ActWrite, Guarded: true, Example: `{"visibility": "workspace", "tags": ["logistics"]}`,
			Summary: "Change who may read it, its tags, its maintainers or its deprecation; none of it makes a version.",
		}, s.patchCapability),
		declare(Meta{
			Name: "delete_capability", Method: http.MethodDelete, Path: tenant + "/capabilities/{id}", Area: AreaCapabilities,
			Action: capability.ActDelete, Guarded: true, Success: http.StatusNoContent,
			Summary: "Delete a capability for good: its versions stop resolving everywhere and its id stays taken.",
		}, s.deleteCapability),
	}
}

const examplePublication = `{
  "name": "Add up",
  "description": "Adds two whole numbers.",
  "visibility": "workspace",
  "tags": ["arithmetic"],
  "spec": {
    "type": "code",
    "language": "python",
    "isReadOnly": true,
    "parametersSchema": {
      "type": "object",
      "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
      "required": ["a", "b"]
    },
    "code": "import json, sys\nargs = json.load(sys.stdin)\nprint(json.dumps({\"sum\": args[\"a\"] + args[\"b\"]}))"
  }
}`

func (s Services) listCapabilities(ctx context.Context, who identity.Principal, in listCapabilities) (List[CapabilityItem], error) {
	page, err := s.Catalog.Browse(ctx, who.Actor(), catalog.Query{
		Q: in.Q, Kinds: in.Kinds, Tags: in.Tags, Reach: in.Reach, Sources: in.Sources, Domains: in.Domains,
		WorksHere: in.Works, Scope: in.Scope, Sort: in.Sort, Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return List[CapabilityItem]{}, err
	}
	out := listOf(page.Items, capabilityItem)
	out.NextCursor = page.NextCursor
	return out, nil
}

func capabilityItem(r catalog.Row) CapabilityItem {
	return CapabilityItem{
		Source: r.Source, ID: r.ID, Kind: r.Kind, Name: r.Name, Description: r.Description, Version: r.Version,
		Visibility: r.Reach, Tags: list(r.Tags), Domains: list(r.Domains), Adopters: r.Adopters, Author: r.Author,
		CreatedAt: r.CreatedAt, PublishedAt: r.PublishedAt, Deprecated: r.Deprecated, BuiltIn: r.BuiltIn(),
		AdoptedVersion: r.Pinned, UpdateAvailable: r.UpdateAvailable, TakenAs: r.TakenAs,
	}
}

func (s Services) publish(ctx context.Context, who identity.Principal, in createCapability) (Published, error) {
	digest, err := digestOf(in.IfMatch)
	if err != nil {
		return Published{}, err
	}
	b := in.Body
	return published(s.Catalog.Publish(ctx, who.Actor(), catalog.Publication{
		ID: b.ID, Name: b.Name, Description: b.Description, Spec: b.Spec, Visibility: b.Visibility, SharedWith: b.SharedWith,
		Tags: b.Tags, Version: b.Version, Bump: b.Bump, Note: b.Note, VersionTags: b.VersionTags, IfMatch: digest,
	}))
}

func published(p catalog.Published, err error) (Published, error) {
	return Published{VersionInfo: p.Version, Created: p.Created, NoChanges: p.NoChanges, Revived: p.Revived}, err
}

func (s Services) getCapability(ctx context.Context, who identity.Principal, in named) (Capability, error) {
	c, err := s.Catalog.Get(ctx, who.Actor(), in.source(who), in.ID)
	if err != nil {
		return Capability{}, err
	}
	out := Capability{
		Source: c.Source, ID: c.ID, Visibility: c.Access.Reach, Tags: list(c.Tags), Creator: c.Creator,
		Maintainers: list(c.Maintainers), Deprecated: c.Deprecated, Adopters: c.Adopters, BuiltIn: c.BuiltIn(),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, AdoptedVersion: c.Pinned, AdoptedDigest: c.PinnedDigest,
		UpdateAvailable: c.UpdateAvailable, TakenAs: c.TakenAs,
	}
	if c.Source == who.Workspace {
		out.SharedWith = c.Access.SharedWith
	}
	digest := ""
	if c.Latest != nil {
		latest := versionOf(*c.Latest)
		out.Latest, digest = &latest, latest.Digest
	}
	out.tag = capabilityTag(c.Revision, digest)
	return out, nil
}

// patchCapability answers the capability as it then is, or nil when who
// changed it can no longer read it.
func (s Services) patchCapability(ctx context.Context, who identity.Principal, in patchCapability) (*Capability, error) {
	revision, err := revisionOf(in.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := catalog.Patch{
		Reach: in.Body.Visibility, SharedWith: in.Body.SharedWith, Tags: in.Body.Tags,
		Maintainers: in.Body.Maintainers, IfRevision: revision,
	}
	if in.Body.Deprecated.Set {
		patch.Deprecated = &catalog.Deprecation{}
		if v := in.Body.Deprecated.Value; v != nil {
			patch.Deprecated = v
		}
	}
	if err := s.Catalog.Update(ctx, who.Actor(), in.source(who), in.ID, patch); err != nil {
		return nil, err
	}
	out, err := s.getCapability(ctx, who, in.named)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return &out, err
}

func (s Services) deleteCapability(ctx context.Context, who identity.Principal, in named) (Empty, error) {
	return Empty{}, s.Catalog.Delete(ctx, who.Actor(), in.source(who), in.ID)
}

// list is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
