package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/workspace"
	"capstore/views"
)

// readDocument reads a SKILL.md as an import does. What is wrong with it is a
// fault at the text itself.
func (s *Site) readDocument(raw string) (interchange.Item, error) {
	found, err := interchange.FromDocument([]byte(raw), capability.SkillFileName, interchange.Options{Rules: s.Catalog.Rules()})
	var item interchange.Item
	if err == nil {
		item, err = found.Only()
	}
	if err == nil && item.Kind != capability.KindSkill {
		err = fault.New(fault.Invalid, "not_a_skill", "This is no SKILL.md.")
	}
	if err != nil {
		f := withFields(fault.From(err))
		if f.Kind == fault.Internal {
			return item, err
		}
		return item, fault.Fields([]fault.Field{{Path: "/spec/raw", Code: f.Code, Message: f.Message}})
	}
	return item, nil
}

// takeDocument brings fields and SKILL.md into step: where the file itself is
// written, or one was uploaded, the fields are read from it; where it is asked
// for, it is written from the fields. The file that the fields were read from
// is staged, since a form would lose its line ends.
func (s *Site) takeDocument(c *Ctx, a author, form url.Values) error {
	if a.kind != capability.KindSkill {
		return nil
	}
	kept, err := s.keptDocument(c, a, form)
	if err != nil {
		return err
	}
	a.files.document = kept
	op, sent := form.Get("op"), form.Get(views.DocumentSent)
	form.Del(views.DocumentSent)
	switch {
	case sent != "":
		a.files.document = sent
	case form.Get(views.DocumentMode) == views.DocumentAsFile:
		a.files.document = asBefore(kept, form.Get(views.DocumentRaw))
	case op == views.OpDocumentFile:
		form.Set(views.DocumentMode, views.DocumentAsFile)
		form.Set(views.DocumentRaw, a.document(form))
		return nil
	default:
		return nil
	}
	return s.readIntoForm(c, a.files.document, form)
}

// readIntoForm makes the fields say what the SKILL.md says, and keeps it.
func (s *Site) readIntoForm(c *Ctx, raw string, form url.Values) error {
	item, err := s.readDocument(raw)
	if err != nil {
		return err
	}
	documentValues(form, item.Content)
	if form.Get("op") == views.OpDocumentFields {
		form.Del(views.DocumentMode)
		form.Del(views.DocumentRaw)
	} else if form.Get(views.DocumentMode) == views.DocumentAsFile {
		form.Set(views.DocumentRaw, raw)
	}
	form.Set(views.DocumentKept, workspace.ContentDigest([]byte(raw)))
	return s.Workspace.StageFiles(c.R.Context(), c.Actor(), [][]byte{[]byte(raw)})
}

// keptDocument is the SKILL.md that the fields were read from: one that was
// staged, else the base's; "" for none.
func (s *Site) keptDocument(c *Ctx, a author, form url.Values) (string, error) {
	digest := form.Get(views.DocumentKept)
	if digest == "" {
		return rawOf(a.baseContent()), nil
	}
	found, err := s.Workspace.StagedFiles(c.R.Context(), c.Actor(), []string{digest})
	return string(found[digest]), err
}

// document is the SKILL.md that the fields make: the author's own to the byte
// where they still say the same.
func (a author) document(form url.Values) string {
	r := &reading{form: form}
	content := capability.Content{Name: r.text("name"), Description: r.text("description")}
	spec := a.documentSpec(r)
	content.Spec = spec
	if raw := a.keptRaw(content); raw != "" {
		return raw
	}
	files, err := interchange.ExportFolder(content)
	if err != nil || len(files) == 0 {
		return spec.Instructions // a document alone is always written
	}
	return string(files[0].Data)
}

// keptRaw is the SKILL.md that the content was read from, if the content still
// is what it says; else "".
func (a author) keptRaw(content capability.Content) string {
	base := a.baseContent()
	if raw := rawOf(base); raw != "" && capability.SameDocument(base, content) {
		return raw
	}
	if a.files == nil || a.files.document == "" {
		return ""
	}
	found, err := interchange.FromDocument([]byte(a.files.document), capability.SkillFileName, interchange.Options{})
	if err != nil {
		return ""
	}
	item, err := found.Only()
	if err != nil || !capability.SameDocument(item.Content, content) {
		return ""
	}
	return rawOf(item.Content)
}

func (a author) baseContent() capability.Content {
	if a.base == nil {
		return capability.Content{}
	}
	return a.base.Content
}

// documentValues fills the fields of the form with what a SKILL.md says.
func documentValues(form url.Values, content capability.Content) {
	spec, ok := content.Spec.(*capability.SkillSpec)
	if !ok {
		return
	}
	for name, value := range map[string]string{
		"name": content.Name, "description": content.Description, "spec.instructions": spec.Instructions,
		"spec.license": spec.License, "spec.compatibility": spec.Compatibility, "spec.allowedTools": spec.AllowedTools,
		"spec.serves": strings.Join(spec.Serves, " "), "spec.requires": strings.Join(spec.Requires, " "),
	} {
		form.Set(name, value)
	}
	var rows []map[string]string
	for _, key := range slices.Sorted(maps.Keys(spec.Metadata)) {
		rows = append(rows, map[string]string{"key": key, "value": spec.Metadata[key]})
	}
	writeRows(form, "spec.metadata", rows)
}

// documentView is how the form shows the SKILL.md: what the model reads of it,
// and what had to be tolerated to read the file.
func (s *Site) documentView(c *Ctx, a author, form url.Values) (views.Document, error) {
	v := views.Document{AsFile: form.Get(views.DocumentMode) == views.DocumentAsFile, Kept: form.Get(views.DocumentKept)}
	name, description, text := form.Get("name"), form.Get("description"), form.Get("spec.instructions")
	v.Lead, v.LeadTokens = name+": "+description, capability.TokenEstimate(name+"\n"+description)
	v.Text, v.TextTokens = text, capability.TokenEstimate(text)
	raw, err := a.files.document, error(nil)
	if raw == "" {
		raw, err = s.keptDocument(c, a, form)
	}
	if raw != "" {
		v.Notes, v.Repaired = s.documentNotes(c, raw)
	}
	return v, err
}

// documentNotes says what was tolerated in a SKILL.md, and how its front matter
// had to be read where it is no YAML.
func (s *Site) documentNotes(c *Ctx, raw string) (notes []string, repaired string) {
	item, err := s.readDocument(raw)
	if err != nil {
		return nil, ""
	}
	for _, note := range item.Notes {
		if note.Code == "front_matter_repaired" {
			repaired = note.Detail
			continue
		}
		notes = append(notes, c.Locale.Or("import.note."+note.Code, note.Message, nil))
	}
	return notes, repaired
}
