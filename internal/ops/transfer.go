package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
)

// Import is what became of an import.
type Import = intake.Report

type importUpload struct {
	Name    string `query:"name" doc:"The file's name, for a skill at the archive's root."`
	Preview bool   `query:"preview" doc:"Only say what would be made."`
	Body    Upload `body:""`
}

type importAny struct {
	importUpload
	Visibility capability.Reach `query:"visibility" enum:"private,workspace,subset,public" doc:"Who reads what is new; each kind's default unless told. What exists keeps its own."`
	SharedWith []string         `query:"sharedWith" doc:"The workspaces of the reach subset."`
	Paths      []string         `query:"path" doc:"Publish only the items with these paths; all unless told."`
	Images     []string         `query:"image" doc:"PATH=IMAGE gives a container image to the item with that path, which wants one."`
	URLs       []string         `query:"url" doc:"PATH=URL gives an address to the item with that path, which wants one."`
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
	Format string `query:"format" enum:"skill,server-json,mcp-servers,vscode,claude-plugin,capstore" doc:"The kind's own format unless told: skill is an Agent Skills folder as a zip, mcp-servers and vscode are configurations of clients, capstore is this program's own."`
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
			Action: capability.ActWrite, Summary: "Publish what a file holds: skills, MCP server configurations, a plugin, an export of capstore.",
		}, s.importCapabilities),
		declare(Meta{
			Name: "export_capability_version", Method: http.MethodGet, Path: onVersion + "/export", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "A version as a file of a format that others read.",
		}, s.export),
		declare(Meta{
			Name: "export_capability", Method: http.MethodGet, Path: tenant + "/capabilities/{id}/export", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "A capability with all its live versions, as an export of capstore.",
		}, s.exportLine),
		declare(Meta{
			Name: "export_capabilities", Method: http.MethodGet, Path: tenant + "/export", Area: AreaCapabilities,
			Action: capability.ActRead, ReadOnly: true, Summary: "Everything of this workspace that one may read: a zip with an export of capstore for each capability.",
		}, s.exportWorkspace),
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

func (s Services) importCapabilities(ctx context.Context, who identity.Principal, in importAny) (Import, error) {
	if err := capability.May(who.Actor(), capability.ActWrite, capability.Fresh); err != nil {
		return Import{}, err
	}
	supply, err := in.supply()
	if err != nil {
		return Import{}, err
	}
	name := cmp.Or(in.Name, in.Body.Name)
	found, err := interchange.FromUpload(in.Body.Data, name, interchange.Options{Rules: s.Catalog.Rules(), Supply: supply})
	if err != nil {
		return Import{}, err
	}
	opts := intake.Options{Preview: in.Preview, Reach: in.Visibility, SharedWith: in.SharedWith, From: name}
	if len(in.Paths) > 0 {
		opts.Only = func(p string) bool { return slices.Contains(in.Paths, p) }
	}
	out := intake.NewReport(found.Notes)
	counts, err := intake.Run(ctx, s.Catalog, who.Actor(), found, opts, out.Add)
	if err != nil {
		return Import{}, err
	}
	out.Count(counts)
	return *out, nil
}

// supply reads what was given to items by their paths. A path may hold an equals
// sign of its own, an image never does.
func (in importAny) supply() (map[string]interchange.Supply, error) {
	out := map[string]interchange.Supply{}
	for _, pair := range in.Images {
		at := strings.LastIndex(pair, "=")
		if at < 0 {
			return nil, badSupply("image")
		}
		given := out[pair[:at]]
		given.Image = pair[at+1:]
		out[pair[:at]] = given
	}
	for _, pair := range in.URLs {
		at := strings.Index(pair, "=http")
		if at < 0 {
			return nil, badSupply("url")
		}
		given := out[pair[:at]]
		given.URL = pair[at+1:]
		out[pair[:at]] = given
	}
	return out, nil
}

func badSupply(parameter string) error {
	return fault.New(fault.Malformed, "bad_parameter", "The parameter %s is PATH=%s.", parameter, strings.ToUpper(parameter))
}

func (s Services) export(ctx context.Context, who identity.Principal, in exportVersion) (File, error) {
	c, err := s.Catalog.Get(ctx, who.Actor(), in.source(who), in.ID)
	if err != nil {
		return File{}, err
	}
	v, err := s.Catalog.Version(ctx, who.Actor(), in.source(who), in.ID, in.Version)
	if err != nil {
		return File{}, err
	}
	out, err := intake.Export(v, c.Tags, cmp.Or(intake.Form(in.Format), intake.Forms(v.Kind)[0]))
	return File{Name: out.Name, MediaType: out.MediaType, Data: out.Data}, err
}

func (s Services) exportLine(ctx context.Context, who identity.Principal, in named) (File, error) {
	for line, err := range s.Catalog.Lines(ctx, who.Actor(), in.source(who), in.ID) {
		if err != nil {
			return File{}, err
		}
		return File{Name: intake.LineName(in.ID), MediaType: "application/json", Write: func(w io.Writer) error { return intake.WriteLine(w, line) }}, nil
	}
	return File{}, fault.Missing()
}

func (s Services) exportWorkspace(ctx context.Context, who identity.Principal, _ Nothing) (File, error) {
	return File{Name: who.Workspace + ".capstore.zip", MediaType: "application/zip", Write: func(w io.Writer) error {
		_, err := intake.WriteZip(w, s.Catalog.Lines(ctx, who.Actor(), who.Workspace))
		return err
	}}, nil
}

// locationOf is the address below /api/v1 of something in the workspace.
func locationOf(workspace string, segments ...string) string {
	out := "/workspaces/" + url.PathEscape(workspace)
	for _, s := range segments {
		out += "/" + url.PathEscape(s)
	}
	return out
}
