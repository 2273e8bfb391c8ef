package web

import (
	"cmp"
	"path"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// showFiles fills in what the form shows of its files and of the SKILL.md. The
// first file with a fault is opened where none is open.
func (s *Site) showFiles(c *Ctx, a author, v *views.Author) error {
	if a.files == nil {
		l, err := s.fileList(c, a, v.Form.Values)
		if err != nil {
			return err
		}
		a.files = l
	}
	l := a.files
	faults := c.fileFaults(v.Form, l.rows)
	for at := range l.rows {
		if l.open < 0 && faults[at] != "" {
			l.show(at)
		}
	}
	if err := s.knowFiles(c, l, false); err != nil {
		return err
	}
	document, err := s.documentView(c, a, v.Form.Values)
	if err != nil {
		return err
	}
	v.Document = document
	v.Files = l.view(c, a, v.FormAction(), faults)
	v.Files.Whole = v.Form.Errors["spec.files"]
	v.Files.Upload = v.Form.Field("upload", "")
	return nil
}

// fileFaults are the faults by file. The summary names the file and leads to it
// in the tree, where it is whether or not it is open.
func (c *Ctx) fileFaults(form views.Form, rows []fileRow) map[int]string {
	out := map[int]string{}
	for at, row := range rows {
		for _, field := range []string{"path", "content", "encoding", "mediaType"} {
			name := views.RowName("spec.files", at, field)
			if text := form.Errors[name]; text != "" {
				out[at] = strings.TrimSpace(out[at] + " " + text)
			}
			for i := range form.Summary {
				item := &form.Summary[i]
				if item.FieldID != ui.FieldID(name) {
					continue
				}
				if item.FieldID = views.FileID(at); row.Path != "" {
					item.Text = c.T("author.within", "where", row.Path, "text", item.Text)
				}
			}
		}
	}
	return out
}

// view is the list as the form draws it.
func (l *fileList) view(c *Ctx, a author, action string, faults map[int]string) views.FilesForm {
	out := views.FilesForm{Action: action, Count: len(l.rows), List: l.encoded(), Notes: l.notes}
	var leaves []views.FileLeaf
	if a.kind == capability.KindSkill {
		leaves = append(leaves, views.FileLeaf{Path: capability.SkillFileName, Lead: true, Href: "#part-instructions", NoSize: true})
	}
	for at, row := range l.rows {
		if content, known := l.content(at); known {
			row.Size = len(content)
		}
		out.Size += int64(row.Size)
		leaves = append(leaves, views.FileLeaf{
			Path: row.Path, Size: int64(row.Size), Executable: row.Run, Current: at == l.open, Error: faults[at],
			Op: views.OpFile(views.FileOpen, at), Action: action + "#files", ID: views.FileID(at), Mark: c.fileMark(l, row),
		})
	}
	out.Tree = views.FileTree(leaves)
	if l.open >= 0 {
		open := l.opened(c, a)
		open.Error = faults[l.open]
		out.Open = &open
	}
	return out
}

// fileMark says how a file stands to the version that the edit starts from.
func (c *Ctx) fileMark(l *fileList, row fileRow) string {
	was, kept := l.base[row.Kept]
	switch {
	case len(l.base) == 0:
		return ""
	case !kept:
		return c.T("files.mark_new")
	case was.digest != row.Digest:
		return c.T("files.mark_changed")
	case row.Path != row.Kept:
		return c.T("files.mark_moved")
	}
	return ""
}

// opened is the file whose text or picture the form shows.
func (l *fileList) opened(c *Ctx, a author) views.OpenFile {
	row := l.rows[l.open]
	out := views.OpenFile{Row: l.open, Path: row.Path, Run: row.Run, Editor: editorOf(row.Path)}
	content, known := l.content(l.open)
	stored, isStored := l.contents[row.Digest]
	if isStored {
		out.Raw = l.rawHref(c, a, row)
	}
	switch {
	case !known:
		out.Gone = true
	case isText(content), l.typed != nil:
		out.Text, out.Typed = string(content), true
		if shown := previewOf(row.Path, content); shown.Show == views.ShowMarkdown || shown.Show == views.ShowTable {
			shown.Text = withoutMatter(shown.Text)
			out.Shown = &shown
		}
	default:
		shown := previewOf(row.Path, stored)
		shown.Raw = out.Raw
		out.Shown = &shown
	}
	return out
}

// rawHref is where the file's content is handed over: as the base's, or as what
// was staged.
func (l *fileList) rawHref(c *Ctx, a author, row fileRow) string {
	if was, kept := l.base[row.Kept]; kept && was.digest == row.Digest {
		return a.baseFileHref(c, row.Kept)
	}
	return views.StagedFilePath(c.Who.Workspace, row.Digest, row.Path)
}

// baseFileHref is where a file of the version is that the edit starts from.
func (a author) baseFileHref(c *Ctx, path string) string {
	if a.skill != "" {
		return views.SkillRawPath(c.Who.Workspace, a.skill, path)
	}
	return views.RawFilePath(c.Who.Workspace, a.base.Source, a.base.ID, a.base.Version, path)
}

// stagedFile hands over a content that the reader staged.
func (s *Site) stagedFile(c *Ctx) error {
	digest := c.R.PathValue("digest")
	found, err := s.Workspace.StagedFiles(c.R.Context(), c.Actor(), []string{digest})
	if err != nil {
		return err
	}
	content, kept := found[digest]
	if !kept {
		return fault.Missing()
	}
	return c.attach(cmp.Or(c.R.URL.Query().Get("name"), digest), content)
}

// editorOf is the language in which the code editor colours a file.
func editorOf(name string) string {
	switch language := languageOf(name); language {
	case "typescript":
		return "javascript"
	case "":
		return strings.TrimPrefix(path.Ext(name), ".")
	default:
		return language
	}
}
