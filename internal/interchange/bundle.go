package interchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// exportEdition is the edition of capstore's own export that this program
// writes and the newest that it reads.
const exportEdition = 1

// ExportSuffix ends the name of a file that holds capstore's own export, so
// that it is found within a folder.
const ExportSuffix = ".capstore.json"

func isExportFile(p string) bool { return strings.HasSuffix(strings.ToLower(p), ExportSuffix) }

// Exported is a capability as capstore's own export holds it.
type Exported struct {
	Source   string            `json:"source"`
	ID       string            `json:"id"`
	Kind     capability.Kind   `json:"kind"`
	Tags     []string          `json:"tags"`
	Versions []ExportedVersion `json:"versions"` // oldest first
}

// ExportedVersion is one version of it, whole.
type ExportedVersion struct {
	Version     string          `json:"version"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Spec        json.RawMessage `json:"spec"`
	Note        string          `json:"note,omitempty"`
	Tags        []string        `json:"tags"`
	// Digest is what the content had when it was exported: a reader knows by it
	// that nothing was changed on the way.
	Digest     string          `json:"digest"`
	CreatedAt  time.Time       `json:"createdAt,omitzero"`
	Provenance json.RawMessage `json:"provenance,omitempty"`
}

// ExportWriter writes an export capability by capability, so that one of any
// size needs little memory.
type ExportWriter struct {
	w   io.Writer
	n   int
	err error
}

// NewExportWriter begins an export. Close ends it.
func NewExportWriter(w io.Writer) *ExportWriter {
	_, err := fmt.Fprintf(w, "{\"capstore\":%d,\"capabilities\":[", exportEdition)
	return &ExportWriter{w: w, err: err}
}

// Add writes one capability. After an error there is only that error.
func (e *ExportWriter) Add(c Exported) error {
	if e.err != nil {
		return e.err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		e.err = fmt.Errorf("export: %w", err)
		return e.err
	}
	before := ",\n"
	if e.n == 0 {
		before = "\n"
	}
	e.n++
	if _, err := io.WriteString(e.w, before); err != nil {
		e.err = err
		return err
	}
	_, e.err = e.w.Write(raw)
	return e.err
}

// Close ends the export; without it a reader takes it for cut off. It does not
// close the writer below.
func (e *ExportWriter) Close() error {
	if e.err == nil {
		_, e.err = io.WriteString(e.w, "\n]}\n")
	}
	return e.err
}

// isExport tells capstore's own export, which may be larger than any other
// document, by how it begins.
func isExport(raw []byte) bool {
	const space = " \t\r\n"
	text, opened := bytes.CutPrefix(bytes.TrimLeft(bytes.TrimPrefix(raw, []byte(byteOrderMark)), space), []byte("{"))
	key, found := bytes.CutPrefix(bytes.TrimLeft(text, space), []byte(`"capstore"`))
	return opened && found && bytes.HasPrefix(bytes.TrimLeft(key, space), []byte(":"))
}

// readExport reads capstore's own export: an item for each version, those of one
// capability in order. What cannot be read is refused alone.
func readExport(p string, raw []byte, o Options) []Item {
	var doc struct {
		Capstore     json.RawMessage `json:"capstore"`
		Capabilities []exportedEntry `json:"capabilities"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte(byteOrderMark)), &doc); err != nil {
		return []Item{refusedExport(p, fault.New(fault.Invalid, "export_damaged", "The export cannot be read: it is cut off, or was changed by hand into something that is no export.").Because(err))}
	}
	var edition int
	if json.Unmarshal(doc.Capstore, &edition) != nil || edition < 1 || edition > exportEdition {
		return []Item{refusedExport(p, fault.New(fault.Invalid, "export_edition", "The export has the edition %s; this capstore reads edition %d.", clip(string(doc.Capstore), 20), exportEdition).
			Do("Import it with the capstore that wrote it, or a newer one."))}
	}
	var out []Item
	seen := map[string]int{}
	for _, c := range doc.Capabilities {
		for _, item := range c.items(p, o) {
			if seen[item.Path]++; seen[item.Path] > 1 {
				item.Path = fmt.Sprintf("%s (%d)", item.Path, seen[item.Path])
			}
			out = append(out, item)
		}
	}
	if len(out) == 0 {
		return []Item{refusedExport(p, fault.New(fault.Invalid, "export_empty", "There is no capability in the export."))}
	}
	return out
}

func refusedExport(p string, f *fault.Fault) Item {
	return Item{Path: p, Format: FormatExport, Status: Refused, Fault: f}
}

// exportedEntry is a capability whose versions are read one by one.
type exportedEntry struct {
	Source   string            `json:"source"`
	ID       string            `json:"id"`
	Tags     []string          `json:"tags"`
	Versions []json.RawMessage `json:"versions"`
}

func (c exportedEntry) items(p string, o Options) []Item {
	if len(c.Versions) == 0 {
		return []Item{refusedExport(p+"#"+clip(c.Source+"/"+c.ID, 120), fault.New(fault.Invalid, "export_no_version", "%s/%s has no version in the export.", clip(c.Source, 60), clip(c.ID, 80)))}
	}
	var out []Item
	var numbers []capability.Version
	for _, raw := range c.Versions {
		item, number := c.item(p, raw, o)
		at := len(out)
		for at > 0 && number.Compare(numbers[at-1]) < 0 {
			at--
		}
		out, numbers = slices.Insert(out, at, item), slices.Insert(numbers, at, number)
	}
	return out
}

// item reads one version, and returns its number for the order; the zero one
// where it has none.
func (c exportedEntry) item(p string, raw json.RawMessage, o Options) (Item, capability.Version) {
	out := refusedExport(p+"#"+clip(c.Source+"/"+c.ID, 120), nil)
	var v ExportedVersion
	if err := jsonx.Check(raw, MaxArchive); err != nil {
		out.Fault = fault.From(err)
		return out, capability.Version{}
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		out.Fault = fault.New(fault.Invalid, "export_damaged", "A version of %s/%s is not written as exports are.", clip(c.Source, 60), clip(c.ID, 80)).Because(err)
		return out, capability.Version{}
	}
	out.Path += "@" + clip(v.Version, 60)
	number, err := capability.ParseVersion(v.Version)
	if err != nil {
		out.Fault = fault.From(err)
		return out, number
	}
	spec, fields := capability.DecodeSpec(v.Spec)
	content := capability.Content{Name: v.Name, Description: v.Description, Spec: spec}
	if spec != nil {
		out.Kind = spec.Kind()
		fields = append(fields, content.Validate(o.Rules)...)
	}
	if len(fields) > 0 {
		out.Fault = fault.From(fault.Fields(fields))
		return out, number
	}
	if digest := content.Digest(); v.Digest != "" && v.Digest != digest {
		out.Fault = fault.New(fault.Invalid, "export_changed", "The content of %s/%s@%s is not the one that was exported: it has another digest.", clip(c.Source, 60), clip(c.ID, 80), v.Version).
			With("exported", v.Digest).With("found", digest).
			Do("Export it again; or, if you changed it on purpose, take the digest out of the file.")
		return out, number
	}
	out.Status, out.Content = Ready, content
	out.As = Published{ID: c.ID, Version: v.Version, Note: v.Note, VersionTags: v.Tags, Tags: c.Tags}
	out.Provenance = v.Provenance
	if len(v.Provenance) == 0 || string(v.Provenance) == "null" {
		out.Provenance = exportedFrom(c, v)
	}
	if v.Digest == "" {
		out.Notes = append(out.Notes, Note{Path: out.Path, Code: "export_no_digest", Message: "It carries no digest, so nothing tells whether it was changed on the way."})
	}
	return out, number
}

func exportedFrom(c exportedEntry, v ExportedVersion) json.RawMessage {
	raw, err := json.Marshal(struct {
		Format Format `json:"format"`
		From   string `json:"from"`
	}{FormatExport, c.Source + "/" + c.ID + "@" + v.Version})
	if err != nil {
		return nil
	}
	return raw
}
