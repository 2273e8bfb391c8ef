package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/interchange"
)

// Import is what became of an import. The numbers add up: found is made,
// unchanged, refused and ignored together.
type Import struct {
	Found     int                `json:"found"`
	Made      int                `json:"made"`
	Repaired  int                `json:"repaired" doc:"Of those made or unchanged, how many had to be mended to be read."`
	Unchanged int                `json:"unchanged"`
	Refused   int                `json:"refused"`
	Ignored   int                `json:"ignored"`
	Items     []ImportItem       `json:"items"`
	Notes     []interchange.Note `json:"notes"`
}

// ImportItem is one thing that was found.
type ImportItem struct {
	Path        string             `json:"path"`
	Status      string             `json:"status" enum:"made,unchanged,refused,ignored"`
	ID          string             `json:"id,omitempty"`
	Version     string             `json:"version,omitempty"`
	Name        string             `json:"name,omitempty"`
	Description string             `json:"description,omitempty"`
	Digest      string             `json:"digest,omitempty"`
	Repaired    bool               `json:"repaired"`
	Notes       []interchange.Note `json:"notes"`
	Code        string             `json:"code,omitempty" doc:"Why it was refused."`
	Message     string             `json:"message,omitempty"`
	Errors      []fault.Field      `json:"errors,omitempty"`
}

const (
	itemMade      = "made"
	itemUnchanged = "unchanged"
	itemRefused   = "refused"
	itemIgnored   = "ignored"
)

type importUpload struct {
	Name    string `query:"name" doc:"The file's name, for a skill at the archive's root."`
	Preview bool   `query:"preview" doc:"Only say what would be made."`
	Body    Upload `body:""`
}

type copyCapability struct {
	Body CopyOf `body:""`
}

// CopyOf names what to copy into the workspace.
type CopyOf struct {
	Source  string `json:"source"`
	ID      string `json:"id"`
	Version string `json:"version,omitempty" doc:"The latest unless told."`
	Name    string `json:"name,omitempty" doc:"What the copy is called; its id is made from it. The original's unless told."`
}

type exportVersion struct {
	namedVersion
	Format string `query:"format" enum:"skill" doc:"An Agent Skills folder as a zip."`
}

func transferOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "copy_capability", Method: http.MethodPost, Path: tenant + "/capabilities/copy", Area: AreaCapabilities,
			Action: capability.ActWrite, Success: http.StatusCreated, Example: `{"source": "globex", "id": "iban-check"}`,
			Summary: "Copy a version into this workspace as a private capability of one's own.",
		}, s.copyCapability),
		declare(Meta{
			Name: "import_capabilities", Method: http.MethodPost, Path: tenant + "/capabilities/import", Area: AreaCapabilities,
			Action: capability.ActWrite, Summary: "Publish the skills of a zip, a .skill file or a SKILL.md.",
		}, s.importCapabilities),
		declare(Meta{
			Name: "export_capability_version", Method: http.MethodGet, Path: onVersion + "/export", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "A skill as the folder that other agents read, zipped.",
		}, s.export),
	}
}

// copyCapability names a reach, so that an id which is taken refuses the copy
// instead of growing a version.
func (s Services) copyCapability(ctx context.Context, who identity.Principal, in copyCapability) (Published, error) {
	v, err := s.original(ctx, who, in.Body)
	if err != nil {
		return Published{}, err
	}
	origin, err := json.Marshal(map[string]string{"copiedFrom": v.Source + "/" + v.ID + "@" + v.Version, "digest": v.Digest})
	if err != nil {
		return Published{}, err
	}
	name := cmp.Or(in.Body.Name, v.Name)
	out, err := published(s.Catalog.Publish(ctx, who.Actor(), catalog.Publication{
		Name: name, Description: v.Description, Spec: capability.EncodeSpec(v.Content.Spec),
		Visibility: capability.ReachPrivate, Provenance: origin,
	}))
	if f := fault.From(err); f != nil && slices.ContainsFunc(f.Fields, func(f fault.Field) bool { return f.Code == "reach_on_existing" }) {
		return out, fault.New(fault.Conflict, "name_taken", "This workspace has a capability called %s already.", name).
			Do("Name the copy otherwise.")
	}
	return out, err
}

func (s Services) original(ctx context.Context, who identity.Principal, of CopyOf) (catalog.VersionDetail, error) {
	if of.Version != "" {
		return s.Catalog.Version(ctx, who.Actor(), of.Source, of.ID, of.Version)
	}
	c, err := s.Catalog.Get(ctx, who.Actor(), of.Source, of.ID)
	if err == nil && c.Latest == nil {
		err = fault.Missing()
	}
	if err != nil {
		return catalog.VersionDetail{}, err
	}
	return *c.Latest, nil
}

func (s Services) importCapabilities(ctx context.Context, who identity.Principal, in importUpload) (Import, error) {
	if err := capability.May(who.Actor(), capability.ActWrite, capability.Fresh); err != nil {
		return Import{}, err
	}
	return importSkills(in, s.Catalog.Rules(), func(c capability.Content) (ImportItem, error) {
		p, err := s.Catalog.Publish(ctx, who.Actor(), catalog.Publication{
			Name: c.Name, Description: c.Description, Spec: capability.EncodeSpec(c.Spec),
		})
		item := ImportItem{Status: itemMade, ID: p.Version.ID, Version: p.Version.Version}
		if !p.Created && !p.Revived {
			item.Status = itemUnchanged
		}
		return item, err
	})
}

// importSkills reads the upload and hands every readable skill to make. One
// that is refused leaves the others alone; an error that is not about the
// skill itself ends the import.
func importSkills(in importUpload, rules capability.Rules, make func(capability.Content) (ImportItem, error)) (Import, error) {
	name := in.Name
	if name == "" {
		name = in.Body.Name
	}
	found, err := interchange.FromUpload(in.Body.Data, name, interchange.Options{Rules: rules})
	if err != nil {
		return Import{}, err
	}
	out := Import{Items: []ImportItem{}, Notes: list(found.Notes)}
	for _, item := range found.Each() {
		made, err := importOne(item, in.Preview, make)
		if err != nil {
			return Import{}, err
		}
		out.count(made)
		out.Items = append(out.Items, made)
	}
	return out, nil
}

func importOne(item interchange.Item, preview bool, make func(capability.Content) (ImportItem, error)) (ImportItem, error) {
	out := ImportItem{Status: itemIgnored}
	switch item.Status {
	case interchange.Refused:
		out.refuse(item.Fault)
	case interchange.Ready:
		out.Status, out.ID = itemMade, capability.IDFromName(item.Content.Name)
		if !preview {
			made, err := make(item.Content)
			if f := fault.From(err); f != nil {
				if f.Kind != fault.Invalid && f.Kind != fault.Conflict {
					return ImportItem{}, err
				}
				made.refuse(f)
			}
			out = made
		}
		out.Name, out.Description, out.Digest = item.Content.Name, item.Content.Description, item.Content.Digest()
	}
	out.Path, out.Repaired, out.Notes = item.Path, item.Repaired, list(item.Notes)
	return out, nil
}

func (i *ImportItem) refuse(f *fault.Fault) {
	i.Status, i.Code, i.Message, i.Errors = itemRefused, f.Code, f.Message, f.Fields
}

func (i *Import) count(item ImportItem) {
	i.Found++
	switch item.Status {
	case itemMade:
		i.Made++
	case itemUnchanged:
		i.Unchanged++
	case itemRefused:
		i.Refused++
	default:
		i.Ignored++
	}
	if item.Repaired && (item.Status == itemMade || item.Status == itemUnchanged) {
		i.Repaired++
	}
}

func (s Services) export(ctx context.Context, who identity.Principal, in exportVersion) (File, error) {
	v, err := s.Catalog.Version(ctx, who.Actor(), in.source(who), in.ID, in.Version)
	if err != nil {
		return File{}, err
	}
	var b bytes.Buffer
	if err := interchange.ExportZip(&b, v.Content); err != nil {
		return File{}, err
	}
	return File{Name: interchange.FolderName(v.Name) + ".zip", MediaType: "application/zip", Data: b.Bytes()}, nil
}

// locationOf is the address below /api/v1 of something in the workspace.
func locationOf(workspace string, segments ...string) string {
	out := "/workspaces/" + url.PathEscape(workspace)
	for _, s := range segments {
		out += "/" + url.PathEscape(s)
	}
	return out
}
