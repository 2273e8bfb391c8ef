package intake

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange"
)

// Form is a format that a capability can be exported as.
type Form string

const (
	FormOwn        Form = "capstore"      // capstore's own: every kind, nothing lost
	FormSkill      Form = "skill"         // an Agent Skills folder as a zip
	FormServerJSON Form = "server-json"   // the MCP registry's server.json
	FormServers    Form = "mcp-servers"   // the mcpServers of a client
	FormVSCode     Form = "vscode"        // VS Code's mcp.json
	FormPlugin     Form = "claude-plugin" // a Claude Code plugin as a zip
)

// Forms lists the formats that have a place for the kind, the kind's own ones
// first and capstore's last.
func Forms(k capability.Kind) []Form {
	var out []Form
	switch k {
	case capability.KindSkill:
		out = []Form{FormSkill}
	case capability.KindMCP:
		out = []Form{FormServerJSON, FormServers, FormVSCode}
	}
	if interchange.InPlugin(k) {
		out = append(out, FormPlugin)
	}
	return append(out, FormOwn)
}

// File is an export that is one file.
type File struct {
	Name      string
	MediaType string
	Data      []byte
}

const (
	zipType  = "application/zip"
	jsonType = "application/json"
)

// Export writes one version in the form; tags are the capability's, for the own
// one. The fault is for a kind that the form has no place for.
func Export(v catalog.VersionDetail, tags []string, form Form) (File, error) {
	if !slices.Contains(Forms(v.Kind), form) {
		return File{}, noPlace(v.Kind, form)
	}
	var b bytes.Buffer
	switch form {
	case FormSkill:
		err := interchange.ExportZip(&b, v.Content)
		return File{interchange.FolderName(v.Name) + ".zip", zipType, b.Bytes()}, err
	case FormServerJSON:
		raw, err := interchange.ExportServerJSON(v.Content, interchange.ServerName{Name: registryName(v), Version: v.Version})
		return File{v.ID + ".server.json", jsonType, raw}, err
	case FormServers, FormVSCode:
		return servers(v.Content, form)
	case FormPlugin:
		err := interchange.ExportPluginZip(&b, v.Name, []capability.Content{v.Content}, interchange.PluginMeta{Version: v.Version, Description: v.Description, Author: v.Source})
		return File{interchange.PluginName(v.Name) + "-plugin.zip", zipType, b.Bytes()}, err
	}
	err := WriteLine(&b, catalog.Line{Source: v.Source, ID: v.ID, Tags: tags, Versions: []catalog.VersionDetail{v}})
	return File{v.ID + "-" + v.Version + interchange.ExportSuffix, jsonType, b.Bytes()}, err
}

// servers writes an mcp capability as the configuration of a client.
func servers(c capability.Content, form Form) (File, error) {
	dialect, name := interchange.DialectClaude, ".mcp.json"
	if form == FormVSCode {
		dialect, name = interchange.DialectVSCode, "mcp.json"
	}
	raw, err := interchange.ExportServers([]capability.Content{c}, dialect)
	return File{name, jsonType, raw}, err
}

// registryName is what a server.json calls a capability of this store.
func registryName(v catalog.VersionDetail) string {
	return "capstore." + strings.Trim(strings.ReplaceAll(v.Source, "_", "-"), "-") + "/" + v.ID
}

func noPlace(k capability.Kind, form Form) error {
	var can []string
	for _, f := range Forms(k) {
		can = append(can, string(f))
	}
	return fault.New(fault.Invalid, "no_place_in_format", "The format %s has no place for the kind %s.", form, k).
		Do("Export it as " + strings.Join(can, " or ") + ".")
}

// WriteLine writes one capability with all its versions as an export of its own.
func WriteLine(w io.Writer, line catalog.Line) error {
	out := interchange.NewExportWriter(w)
	if err := out.Add(exported(line)); err != nil {
		return err
	}
	return out.Close()
}

// LineName is the name of the file of one line.
func LineName(id string) string { return id + interchange.ExportSuffix }

// Lines are capabilities to be exported, as they are read.
type Lines = iter.Seq2[catalog.Line, error]

// WriteZip writes the lines as a zip with an export for each capability, while
// they are read. It returns how many there were.
func WriteZip(w io.Writer, lines Lines) (int, error) {
	z, n := zip.NewWriter(w), 0
	for line, err := range lines {
		if err != nil {
			return n, err
		}
		entry, err := z.CreateHeader(&zip.FileHeader{Name: LineName(line.ID), Method: zip.Deflate})
		if err == nil {
			err = WriteLine(entry, line)
		}
		if err != nil {
			return n, fmt.Errorf("export: %w", err)
		}
		n++
	}
	if err := z.Close(); err != nil {
		return n, fmt.Errorf("export: %w", err)
	}
	return n, nil
}

// WriteAll writes the lines as one export, while they are read. It returns how
// many there were.
func WriteAll(w io.Writer, lines Lines) (int, error) {
	out, n := interchange.NewExportWriter(w), 0
	for line, err := range lines {
		if err == nil {
			err = out.Add(exported(line))
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, out.Close()
}

func exported(line catalog.Line) interchange.Exported {
	out := interchange.Exported{Source: line.Source, ID: line.ID, Tags: line.Tags, Versions: []interchange.ExportedVersion{}}
	for _, v := range line.Versions {
		out.Kind = v.Kind
		tags := v.Tags
		if tags == nil {
			tags = []string{}
		}
		out.Versions = append(out.Versions, interchange.ExportedVersion{
			Version: v.Version, Name: v.Name, Description: v.Description, Spec: capability.EncodeSpec(v.Content.Spec), Note: v.Note, Tags: tags,
			Digest: v.Digest, CreatedAt: v.CreatedAt.UTC(), Provenance: v.Provenance,
		})
	}
	return out
}
