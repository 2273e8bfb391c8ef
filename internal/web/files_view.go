package web

import (
	"encoding/csv"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
)

// folder is files to look through, with the addresses under which they are.
type folder struct {
	files []capability.File
	// href shows a file, plain as it is written; raw hands its bytes over.
	href func(file string, plain bool) string
	raw  func(file string) string
}

// view lists the folder and opens the file that the address names, the first
// where it names none. A name that no file has is said to be missing.
func (f folder) view(c *Ctx) (*views.Files, error) {
	query := c.R.URL.Query()
	open := query.Get("file")
	out := &views.Files{Count: len(f.files), Missing: open}
	if open == "" && len(f.files) > 0 {
		open = f.files[0].Path
	}
	var leaves []views.FileLeaf
	for _, file := range f.files {
		body, err := file.Bytes()
		if err != nil {
			return nil, err
		}
		out.Size += int64(len(body))
		leaves = append(leaves, views.FileLeaf{
			Path: file.Path, Size: int64(len(body)), Executable: file.Executable, Image: shownImage(body) != "",
			Current: file.Path == open, Href: f.href(file.Path, false) + "#file", Lead: file.Path == capability.SkillFileName,
		})
		if file.Path == open {
			shown := f.preview(file, body, query.Get("view") == "source")
			out.File, out.Missing = &shown, ""
		}
	}
	out.Tree = views.FileTree(leaves)
	return out, nil
}

func (f folder) preview(file capability.File, body []byte, plain bool) views.FilePreview {
	out := previewOf(file.Path, body)
	out.Executable, out.Raw = file.Executable, f.raw(file.Path)
	out.Resolve = func(ref string) string { return f.resolve(path.Join(path.Dir(file.Path), ref)) }
	if out.Show == views.ShowMarkdown || out.Show == views.ShowTable {
		out.Other = f.href(file.Path, !plain) + "#file"
		if plain {
			out.Show, out.Plain = views.ShowText, true
		}
	}
	if out.Show == views.ShowMarkdown {
		out.Text = withoutMatter(out.Text)
	}
	return out
}

// resolve is where a file is that another one refers to: a picture itself, what
// else there is in its place among the files.
func (f folder) resolve(name string) string {
	for _, file := range f.files {
		if file.Path != name {
			continue
		}
		if body, err := file.Bytes(); err == nil && shownImage(body) != "" {
			return f.raw(name)
		}
	}
	return f.href(name, false) + "#file"
}

// previewOf is how a page shows a file of the name with these bytes.
func previewOf(name string, body []byte) views.FilePreview {
	out := views.FilePreview{Path: name, Size: int64(len(body)), Digest: workspace.ContentDigest(body)}
	switch {
	case shownImage(body) != "":
		out.Show = views.ShowImage
		return out
	case !isText(body):
		out.Show = views.ShowBinary
		return out
	}
	out.Show, out.Text, out.Language = views.ShowText, string(body), languageOf(name)
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		out.Show = views.ShowMarkdown
	case ".csv", ".tsv":
		if table, rows := tableOf(out.Text, strings.ToLower(path.Ext(name)) == ".tsv"); rows > 1 {
			out.Show, out.Table, out.Rows = views.ShowTable, table, rows
		}
	}
	return out
}

// isText reports whether the bytes can be shown and edited as text.
func isText(body []byte) bool { return utf8.Valid(body) && !slices.Contains(body, 0) }

// Bounds of a table on a page.
const (
	maxTableRows    = 200
	maxTableColumns = 40
	maxTableBytes   = 1 << 20
)

// tableOf reads comma- or tab-separated values, and returns how many rows there
// are. No rows is a text that is none. What is past the bounds is left out.
func tableOf(text string, tabs bool) (table [][]string, rows int) {
	if len(text) > maxTableBytes {
		return nil, 0
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	if tabs {
		r.Comma = '\t'
	}
	for {
		row, err := r.Read()
		if err != nil { // the end, or what is no table from here on
			return table, rows
		}
		if rows++; rows <= maxTableRows {
			table = append(table, slices.Clone(row[:min(len(row), maxTableColumns)]))
		}
	}
}

// withoutMatter is a Markdown text without the front matter at its head, which
// reads as a rule and a heading where it is taken for text.
func withoutMatter(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	rest, found := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "---\n")
	if !found {
		return text
	}
	if _, body, closed := strings.Cut("\n"+rest, "\n---\n"); closed {
		return strings.TrimLeft(body, "\n")
	}
	return text
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
	case ".html", ".htm":
		return "html"
	case ".css":
		return "css"
	case ".xml", ".svg":
		return "xml"
	case ".go":
		return "go"
	case ".rb":
		return "ruby"
	case ".rs":
		return "rust"
	}
	return ""
}

// handOver answers with the one of the files that the address names.
func (c *Ctx) handOver(files []capability.File) error {
	for _, file := range files {
		if file.Path != c.R.URL.Query().Get("path") {
			continue
		}
		body, err := file.Bytes()
		if err != nil {
			return err
		}
		return c.attach(file.Path, body)
	}
	return fault.Missing()
}

// attach answers with somebody else's file: to be stored, not to be shown. A
// picture keeps its type, so that a page can show it where it asks for one; as
// a page of its own it could do nothing.
func (c *Ctx) attach(name string, body []byte) error {
	kind := shownImage(body)
	if kind == "" {
		kind = "application/octet-stream"
	}
	h := c.W.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, no-cache")
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(body) // a reader who has left is nobody's fault
	return nil
}
