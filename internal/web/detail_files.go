package web

import (
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/interchange"
	"capstore/views"
	"capstore/views/ui"
)

// sourceOf is the version as its author wrote it: its code, or for what has
// none its whole spec.
func (c *Ctx) sourceOf(v catalog.VersionDetail) *views.CapabilitySource {
	switch s := v.Content.Spec.(type) {
	case *capability.CodeSpec:
		return &views.CapabilitySource{Parts: []ui.CodeArgs{
			{Text: s.Code, Language: chroma(s.Language), Name: v.ID + suffix(s.Language), Numbers: true, Whole: true},
			{Text: indented(s.ParametersSchema), Language: "json", Name: c.T("part.parametersSchema"), Numbers: true},
		}}
	case *capability.HookSpec:
		parts := []ui.CodeArgs{{Text: s.Code, Language: chroma(s.Language), Name: v.ID + suffix(s.Language), Numbers: true, Whole: true}}
		for _, f := range s.Files {
			if f.Encoding != capability.EncodingBase64 {
				parts = append(parts, ui.CodeArgs{Text: f.Content, Language: languageOf(f.Path), Name: f.Path, Numbers: true})
			}
		}
		return &views.CapabilitySource{Parts: parts}
	case *capability.CommandSpec:
		return &views.CapabilitySource{Parts: []ui.CodeArgs{{Text: s.Template, Language: "markdown", Name: v.ID + ".md", Numbers: true, Whole: true}}}
	}
	spec := indented(capability.EncodeSpec(v.Content.Spec))
	return &views.CapabilitySource{Parts: []ui.CodeArgs{{Text: spec, Language: "json", Name: v.ID + ".json", Numbers: true, Whole: true}}}
}

func chroma(l capability.Language) string {
	if l == capability.Node {
		return "javascript"
	}
	return string(l)
}

func suffix(l capability.Language) string {
	switch l {
	case capability.Python:
		return ".py"
	case capability.Node:
		return ".mjs"
	}
	return ".sh"
}

// filesIn are the files of a content; a skill's begin with its document.
func filesIn(content capability.Content) []capability.File {
	skill, ok := content.Spec.(*capability.SkillSpec)
	if !ok {
		return besideOf(content.Spec)
	}
	return append([]capability.File{documentOf(content)}, skill.Files...)
}

// documentOf is a skill's SKILL.md as it is handed over: its author's own, or
// written from the fields.
func documentOf(content capability.Content) capability.File {
	out := capability.File{Path: capability.SkillFileName, MediaType: "text/markdown"}
	if out.Content = rawOf(content); out.Content != "" {
		return out
	}
	alone := skillSpecOf(content)
	alone.Files = nil
	content.Spec = alone
	if files, err := interchange.ExportFolder(content); err == nil && len(files) > 0 {
		out.Content = string(files[0].Data)
	}
	return out
}

// filesOf lists the version's files and opens the one that the address names,
// else the first.
func (c *Ctx) filesOf(v catalog.VersionDetail, lens views.DetailLens) (*views.Files, error) {
	ws := c.Who.Workspace
	return folder{
		files: filesIn(v.Content),
		href: func(file string, plain bool) string {
			return views.CapabilityFilePath(ws, v.Source, v.ID, lens, file, plain)
		},
		raw: func(file string) string { return views.RawFilePath(ws, v.Source, v.ID, v.Version, file) },
	}.view(c)
}
