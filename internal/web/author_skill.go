package web

import (
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// skillSpec reads the fields of a skill. Where they still say what its SKILL.md
// says, that stays as its author wrote it.
func (a author) skillSpec(r *reading, p catalog.Publication) *capability.SkillSpec {
	spec := a.documentSpec(r)
	spec.Files = a.filesSpec(r)
	spec.Raw = a.keptRaw(capability.Content{Name: p.Name, Description: p.Description, Spec: spec})
	return spec
}

// documentSpec reads the fields that a SKILL.md has.
func (a author) documentSpec(r *reading) *capability.SkillSpec {
	spec := &capability.SkillSpec{
		Instructions: r.form.Get("spec.instructions"), License: r.text("spec.license"), Compatibility: r.text("spec.compatibility"),
		AllowedTools: r.text("spec.allowedTools"), Leans: r.leans(),
	}
	for _, row := range readRows(r.form, "spec.metadata") {
		if spec.Metadata == nil {
			spec.Metadata = map[string]string{}
		}
		spec.Metadata[strings.TrimSpace(row["key"])] = row["value"]
	}
	base, ok := a.baseSpec().(*capability.SkillSpec)
	if !ok {
		return spec
	}
	for key, value := range spec.Metadata {
		spec.Metadata[key] = keptText(base.Metadata[key], value)
	}
	spec.Instructions = keptText(base.Instructions, spec.Instructions)
	return spec
}

// filesSpec are the files of the form, those of the base where it has none of
// its own.
func (a author) filesSpec(r *reading) []capability.File {
	if a.files == nil {
		return besideOf(a.baseSpec())
	}
	return a.files.files(r)
}
