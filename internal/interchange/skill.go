package interchange

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

var (
	specFields   = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
	portableName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// reading is a SKILL.md on its way to a skill.
type reading struct {
	content  capability.Content
	spec     *capability.SkillSpec
	notes    []Note
	repaired bool
}

func (r *reading) note(code, format string, args ...any) {
	r.notes = append(r.notes, Note{Code: code, Message: fmt.Sprintf(format, args...)})
}

// readSkill makes a skill of a SKILL.md. folder is the name to take where it
// gives none, and sure says that it has to be the same. The bytes are kept as
// they are.
func readSkill(raw []byte, folder string, sure bool) (*reading, error) {
	d, err := splitDocument(raw)
	if err != nil {
		return nil, err
	}
	m, err := readMatter(d.matter, d.line)
	if err != nil {
		return nil, err
	}
	r := &reading{spec: &capability.SkillSpec{Raw: string(raw)}, notes: d.notes}
	m.foldKeys(r)
	if m.repaired != "" {
		r.repaired = true
		r.notes = append(r.notes, Note{Code: "front_matter_repaired", Detail: m.repaired,
			Message: "The front matter is no valid YAML and was read line by line."})
	}
	r.spec.Instructions = strings.TrimSpace(d.body)
	r.identity(m, folder, sure)
	r.fields(m)
	r.content.Spec = r.spec
	r.recognise(raw, m)
	return r, nil
}

// foldKeys takes "Name" for "name" and "allowed_tools" for "allowed-tools".
func (m *matter) foldKeys(r *reading) {
	for i, k := range m.keys {
		folded := strings.ToLower(strings.ReplaceAll(k, "_", "-"))
		if folded == k || m.values[folded] != nil || !isSpecField(folded) {
			continue
		}
		r.note("field_spelling", "%q was read as %q.", clip(k, 60), folded)
		m.keys[i], m.values[folded] = folded, m.values[k]
	}
}

func isSpecField(k string) bool {
	for _, f := range specFields {
		if f == k {
			return true
		}
	}
	return false
}

func (r *reading) identity(m *matter, folder string, sure bool) {
	name := capability.PlainText(m.text("name"))
	switch {
	case name == "" && folder != "":
		name = folder
		r.note("name_from_folder", "The front matter gives no name; the folder's is taken.")
	case name != "" && sure && name != folder:
		r.note("name_differs", "The name %q is not that of the folder, %q.", clip(name, 80), clip(folder, 80))
	}
	if name != "" && !portableName.MatchString(name) {
		r.note("name_not_portable", "Other readers want a name of lower-case letters, digits and single hyphens.")
	}
	description := capability.PlainText(m.text("description"))
	if description == "" {
		description = firstParagraph(r.spec.Instructions)
		r.note("description_derived", "The front matter gives no description; the beginning of the text is taken.")
	}
	if short := shorten(description, capability.MaxDescription); short != description {
		description = short
		r.note("description_cut", "The description is longer than %d characters and was cut.", capability.MaxDescription)
	}
	r.content.Name, r.content.Description = name, description
}

func (r *reading) fields(m *matter) {
	r.spec.License = capability.PlainText(m.text("license"))
	r.spec.Compatibility = capability.PlainText(m.text("compatibility"))
	if short := shorten(r.spec.Compatibility, 500); short != r.spec.Compatibility {
		r.spec.Compatibility = short
		r.note("compatibility_cut", "The compatibility is longer than 500 characters and was cut.")
	}
	r.spec.AllowedTools = capability.PlainText(m.words("allowed-tools"))
	metadata, dropped := m.metadata()
	if len(dropped) > 0 {
		r.note("metadata_dropped", "Metadata is texts by name; left out: %s.", clip(strings.Join(dropped, ", "), 200))
	}
	r.spec.Serves = words(metadata["serves"])
	r.spec.Requires = words(metadata["requires"])
	delete(metadata, "serves")
	delete(metadata, "requires")
	if len(metadata) > 0 {
		r.spec.Metadata = metadata
	}
	if more := m.others(specFields); len(more) > 0 {
		r.note("other_fields", "These fields are kept in the file but not used here: %s.", clip(strings.Join(more, ", "), 200))
	}
	if m.values["hooks"] != nil {
		r.note("hooks_not_run", "The hooks in the front matter do not run: a hook is a capability of its own.")
	}
}

// words splits a text at its spaces; nil for none, as a spec without them has.
func words(s string) []string {
	if out := strings.Fields(s); len(out) > 0 {
		return out
	}
	return nil
}

// recognise takes the original away where the file is exactly what an export
// writes of the fields: the author wrote fields then, not a file, and export
// then import gives the same digest.
func (r *reading) recognise(raw []byte, m *matter) {
	_, body, ok := strings.Cut(string(raw), "\n---\n\n")
	if !ok || !strings.HasPrefix(string(raw), "---\n"+exportMark) {
		return
	}
	written := *r.spec
	written.Raw, written.Instructions = "", body
	written.License, written.Compatibility, written.AllowedTools = m.text("license"), m.text("compatibility"), m.text("allowed-tools")
	c := capability.Content{Name: m.text("name"), Description: m.text("description"), Spec: &written}
	if string(writeDocument(c)) == string(raw) {
		r.content, r.spec = c, &written
	}
}

// skillAt reads a skill. folder is the name of its folder, or that of the
// archive when it is not sure.
func skillAt(p *part, folder string, sure bool, o Options) Item {
	doc := p.docs[0]
	item := Item{Path: doc.Path, Format: FormatSkill, Kind: capability.KindSkill, Status: Refused}
	if len(p.docs) > 1 {
		item.Fault = docFault("document_twins", "%q and %q stand side by side; one of them must go.", path.Base(doc.Path), path.Base(p.docs[1].Path))
		return item
	}
	raw, err := readWithin(doc, MaxDocument)
	if err != nil {
		item.Fault = fault.From(err)
		return item
	}
	r, err := readSkill(raw, folder, sure)
	if err != nil {
		item.Fault = fault.From(err)
		return item
	}
	item.Notes, item.Repaired = at(doc.Path, r.notes), r.repaired
	if base := path.Base(doc.Path); base != capability.SkillFileName {
		item.Notes = append(item.Notes, Note{Path: doc.Path, Code: "document_name", Message: fmt.Sprintf("The file is called %q instead of %s.", base, capability.SkillFileName)})
	}
	dir := strings.TrimSuffix(doc.Path, path.Base(doc.Path))
	if r.spec.Files, err = beside(dir, p.files); err != nil {
		item.Fault = fault.From(err)
		return item
	}
	item.Notes = append(item.Notes, p.notes...)
	if err := fault.Fields(r.content.Validate(o.Rules)); err != nil {
		item.Fault = fault.From(err)
		return item
	}
	item.Status, item.Content = Ready, r.content
	return item
}

func at(p string, notes []Note) []Note {
	for i := range notes {
		notes[i].Path = p
	}
	return notes
}

func readWithin(f TreeFile, limit int64) ([]byte, error) {
	if f.Size > limit {
		return nil, docFault("document_too_large", "The file is %d bytes long; at most %d are read.", f.Size, limit)
	}
	data, err := f.read()
	if err != nil {
		return nil, fault.New(fault.Invalid, "file_unreadable", "The file %q cannot be read.", clip(f.Path, 120)).Because(err)
	}
	return data, nil
}

// beside reads the files of a skill, relative to its folder.
func beside(dir string, files []TreeFile) ([]capability.File, error) {
	if len(files) > capability.MaxFiles {
		return nil, fault.New(fault.TooLarge, "too_many_files", "The skill has %d files; at most %d are taken.", len(files), capability.MaxFiles)
	}
	var total int64
	for _, f := range files {
		if total += f.Size; total > capability.MaxFilesTotal {
			return nil, fault.New(fault.TooLarge, "files_too_large", "The files of the skill are larger than %d MiB together.", capability.MaxFilesTotal>>20)
		}
	}
	var out []capability.File
	var side sidecar
	for _, f := range files {
		data, err := readWithin(f, capability.MaxFilesTotal)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(f.Path, dir)
		if name == sidecarName && side.read(data) {
			continue
		}
		out = append(out, FileOf(name, data, f.Executable))
	}
	side.apply(out)
	return out, nil
}
