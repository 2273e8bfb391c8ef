package web

import (
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/catalog"
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

// filesIn are the files of a spec; a skill's begin with its document.
func filesIn(spec capability.Spec) []capability.File {
	switch s := spec.(type) {
	case *capability.SkillSpec:
		document := capability.File{Path: capability.SkillFileName, MediaType: "text/markdown", Content: s.Raw}
		if document.Content == "" {
			document.Content = s.Instructions
		}
		return append([]capability.File{document}, s.Files...)
	case *capability.HookSpec:
		return s.Files
	}
	return nil
}

// filesOf lists the version's files and opens the one that the address names,
// else the first.
func (c *Ctx) filesOf(v catalog.VersionDetail) (*views.CapabilityFiles, error) {
	out := &views.CapabilityFiles{}
	files := filesIn(v.Content.Spec)
	open := 0
	for i, f := range files {
		body, err := f.Bytes()
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, views.FileRow{Path: f.Path, Size: len(body), Executable: f.Executable})
		if f.Path == path.Clean(c.R.URL.Query().Get("file")) {
			open = i
		}
	}
	if len(files) == 0 {
		return out, nil
	}
	body, err := files[open].Bytes()
	if err != nil {
		return nil, err
	}
	out.Path, out.Size, out.Executable = files[open].Path, len(body), files[open].Executable
	switch {
	case shownImage(body) != "":
		out.Image = true
	case !utf8.Valid(body) || strings.ContainsRune(string(body), 0):
		out.Binary = true
	default:
		out.Text, out.Language = string(body), languageOf(out.Path)
	}
	return out, nil
}

// languageOf is what the colouring calls the language of a file.
func languageOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return "markdown"
	case ".py":
		return "python"
	case ".js", ".mjs", ".cjs":
		return "javascript"
	case ".ts":
		return "typescript"
	case ".sh", ".bash":
		return "bash"
	case ".json":
		return "json"
	case ".yaml", ".yml":
		return "yaml"
	case ".toml":
		return "toml"
	case ".sql":
		return "sql"
	}
	return ""
}

// attach answers with somebody else's file: to be stored, not to be shown. A
// picture keeps its type, so that a page can show it where it asks for one.
func (c *Ctx) attach(name string, body []byte) error {
	kind := shownImage(body)
	if kind == "" {
		kind = "application/octet-stream"
	}
	h := c.W.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(body) // a reader who has left is nobody's fault
	return nil
}
