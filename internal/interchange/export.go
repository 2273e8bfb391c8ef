package interchange

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"

	"go.yaml.in/yaml/v4"
)

// exportMark is a comment in front matter that capstore wrote itself. A file
// that still is what was written is read back as fields, not as an original.
const exportMark = "# written by capstore"

// ExportFile is one file of a skill's folder.
type ExportFile struct {
	Path       string
	Data       []byte
	Executable bool
}

// ExportFolder gives the files of a skill's folder in the order of their paths:
// the SKILL.md byte for byte as its author wrote it, or written from the fields
// where there is no original. The fault is for content that is no skill, and
// for stored paths that may not be written.
func ExportFolder(c capability.Content) ([]ExportFile, error) {
	spec, ok := c.Spec.(*capability.SkillSpec)
	if !ok {
		return nil, fault.New(fault.Invalid, "not_a_skill", "Only a skill can be exported as a folder.")
	}
	doc := []byte(spec.Raw)
	if spec.Raw == "" {
		doc = writeDocument(c)
	}
	out := []ExportFile{{Path: capability.SkillFileName, Data: doc}}
	paths := capability.NewPathTree()
	paths.Add(capability.SkillFileName)
	var side sidecar
	for _, f := range spec.Files {
		if code, message := capability.PathFault(f.Path); code != "" {
			return nil, fault.New(fault.Invalid, "stored_path", "The stored file %q cannot be written. %s", clip(f.Path, 120), message)
		}
		if other := paths.Add(f.Path); other != "" {
			return nil, fault.New(fault.Invalid, "stored_path", "The stored files %q and %q cannot lie beside each other.", clip(f.Path, 120), clip(other, 120))
		}
		data, err := f.Bytes()
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		side.keep(f, FileOf(f.Path, data, f.Executable))
		out = append(out, ExportFile{f.Path, data, f.Executable})
	}
	if extra, needed := side.write(); needed && paths.Add(sidecarName) == "" {
		out = append(out, ExportFile{Path: sidecarName, Data: extra})
	}
	slices.SortFunc(out, func(a, b ExportFile) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// ExportZip writes the folder as a zip with one folder at its top. The same
// skill always gives the same bytes.
func ExportZip(w io.Writer, c capability.Content) error {
	files, err := ExportFolder(c)
	if err != nil {
		return err
	}
	return WriteZip(w, FolderName(c.Name), files)
}

// WriteZip writes files as a zip, below one folder where top is not empty. The
// same files always give the same bytes.
func WriteZip(w io.Writer, top string, files []ExportFile) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(top, f.Path), Method: zip.Deflate}
		if len(f.Data) == 0 || poorly(f.Path) {
			h.Method = zip.Store
		}
		h.SetMode(0o644)
		if f.Executable {
			h.SetMode(0o755)
		}
		entry, err := z.CreateHeader(h)
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if _, err := entry.Write(f.Data); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// poorly tells files that are packed already.
func poorly(p string) bool {
	for _, ext := range []string{".png", ".jpg", ".jpeg", ".gz", ".tgz", ".docx", ".xlsx", ".pptx", ".woff2", ".mp4"} {
		if strings.HasSuffix(p, ext) {
			return true
		}
	}
	return false
}

// FolderName is what a skill's folder is called: its name where that can be a
// folder, as the format wants it, else an id made from it.
func FolderName(name string) string {
	if code, _ := capability.PathFault(name); code == "" && !strings.Contains(name, "/") {
		return name
	}
	return capability.IDFromName(name)
}

// writeDocument writes a SKILL.md from the fields. Every value is text to YAML,
// whatever it looks like.
func writeDocument(c capability.Content) []byte {
	spec := c.Spec.(*capability.SkillSpec)
	var b bytes.Buffer
	b.WriteString("---\n" + exportMark + "\n")
	line := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + yamlText(value) + "\n")
		}
	}
	line("name", c.Name)
	line("description", c.Description)
	line("license", spec.License)
	line("compatibility", spec.Compatibility)
	metadata := map[string]string{}
	for k, v := range spec.Metadata {
		metadata[k] = v
	}
	if len(spec.Serves) > 0 {
		metadata["serves"] = strings.Join(spec.Serves, " ")
	}
	if len(spec.Requires) > 0 {
		metadata["requires"] = strings.Join(spec.Requires, " ")
	}
	if len(metadata) > 0 {
		b.WriteString("metadata:\n")
		for _, k := range sortedKeys(metadata) {
			b.WriteString("  " + yamlText(k) + ": " + yamlText(metadata[k]) + "\n")
		}
	}
	line("allowed-tools", spec.AllowedTools)
	b.WriteString("---\n\n" + spec.Instructions)
	return b.Bytes()
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// yamlText writes a text plainly where it reads back as itself, else quoted as
// JSON does, which is YAML too.
func yamlText(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	if strings.ContainsAny(s, "\n\r\t\"'#:{}[]&*!|>%@`\\") || strings.TrimSpace(s) != s || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "?") {
		return string(quoted)
	}
	var n yaml.Node
	if err := yaml.Load([]byte(s), &n); err != nil || n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return string(quoted)
	}
	if v := n.Content[0]; v.Kind != yaml.ScalarNode || v.Tag != "!!str" || v.Value != s {
		return string(quoted)
	}
	return s
}
