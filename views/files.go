package views

import (
	"path"
	"slices"
	"strings"

	"capstore/views/ui"
)

// Files is a folder of files with one of them opened.
type Files struct {
	Tree  []FileNode
	Count int
	Size  int64        // bytes in all
	File  *FilePreview // nil where none is opened
	// Missing is the file that was asked for and is not there; "" for none.
	Missing string
}

// FileShow says how an opened file is shown.
type FileShow string

// The ways to show a file. Binary is for what no page can show.
const (
	ShowText     FileShow = "text"
	ShowMarkdown FileShow = "markdown"
	ShowTable    FileShow = "table"
	ShowImage    FileShow = "image"
	ShowBinary   FileShow = "binary"
)

// FilePreview is one file as a page shows it.
type FilePreview struct {
	Path       string
	Size       int64  // bytes
	Digest     string // SHA-256 of the bytes
	Executable bool
	Show       FileShow
	Text       string
	Language   string // as the colouring names it, "" for plain text
	Table      [][]string
	Rows       int    // of the whole table; Table may have fewer
	Raw        string // where its bytes are, as a download
	// Other is where the same file is shown the other way, as it is written or
	// as it reads; "" where there is one way only.
	Other string
	// Plain says that it is shown as it is written although it could be read.
	Plain bool
	// Resolve turns a relative reference of a Markdown file into an address of
	// this site, or "".
	Resolve func(ref string) string
}

// head and body are the first row of a table and the others.
func (f FilePreview) head() []ui.Column {
	var out []ui.Column
	if len(f.Table) > 0 {
		for _, name := range f.Table[0] {
			out = append(out, ui.Column{Label: name})
		}
	}
	return out
}

func (f FilePreview) body() [][]string {
	if len(f.Table) == 0 {
		return nil
	}
	return f.Table[1:]
}

// otherKey is the text of the link to the other way.
func (f FilePreview) otherKey() string {
	if f.Plain {
		return "files.read"
	}
	return "files.source"
}

// left is how many rows of the table are not shown.
func (f FilePreview) left() int { return f.Rows - len(f.Table) }

// isPicture reports whether a name is that of a picture that pages show.
func isPicture(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(path.Ext(name)))
}
