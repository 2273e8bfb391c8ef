package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
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
// for, it is written from the fields.
func (s *Site) takeDocument(a author, form url.Values) error {
	if a.kind != capability.KindSkill {
		return nil
	}
	op, sent := form.Get("op"), form.Get(views.DocumentSent)
	form.Del(views.DocumentSent)
	switch {
	case sent != "":
		form.Set(views.DocumentRaw, sent)
	case form.Get(views.DocumentMode) == views.DocumentAsFile:
		form.Set(views.DocumentRaw, keptText(rawOf(a.baseContent()), form.Get(views.DocumentRaw)))
	case op == views.OpDocumentFile:
		form.Set(views.DocumentMode, views.DocumentAsFile)
		form.Set(views.DocumentRaw, a.document(form))
		return nil
	default:
		return nil
	}
	item, err := s.readDocument(form.Get(views.DocumentRaw))
	if err != nil {
		return err
	}
	documentValues(form, item.Content)
	if op == views.OpDocumentFields {
		form.Del(views.DocumentMode)
	}
	return nil
}

// document is the SKILL.md that the fields make: the author's own to the byte
// where they still say the same.
func (a author) document(form url.Values) string {
	r := &reading{form: form}
	content := capability.Content{Name: r.text("name"), Description: r.text("description")}
	spec := a.documentSpec(r)
	content.Spec = spec
	if raw := a.keptRaw(form, content); raw != "" {
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
func (a author) keptRaw(form url.Values, content capability.Content) string {
	base := a.baseContent()
	if raw := rawOf(base); raw != "" && capability.SameDocument(base, content) {
		return raw
	}
	raw := form.Get(views.DocumentRaw)
	if raw == "" {
		return ""
	}
	found, err := interchange.FromDocument([]byte(raw), capability.SkillFileName, interchange.Options{})
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
func (s *Site) documentView(c *Ctx, a author, form url.Values) views.Document {
	v := views.Document{AsFile: form.Get(views.DocumentMode) == views.DocumentAsFile}
	name, description, text := form.Get("name"), form.Get("description"), form.Get("spec.instructions")
	v.Lead, v.LeadTokens = name+": "+description, capability.TokenEstimate(name+"\n"+description)
	v.Text, v.TextTokens = text, capability.TokenEstimate(text)
	raw := form.Get(views.DocumentRaw)
	if raw == "" {
		raw = rawOf(a.baseContent())
	}
	if raw != "" {
		v.Notes, v.Repaired = s.documentNotes(c, raw)
	}
	return v
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
