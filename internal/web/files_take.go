package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"path"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/views"
)

// maxSkillForm bounds the form of a skill in bytes: more than its files may
// have, so that too much is told at its place.
const maxSkillForm = 32 << 20

// takeFiles reads the files of a form that was sent, with what was uploaded
// along, does what the pressed button says of them, and brings the SKILL.md
// into step. The author that it returns knows the files. What cannot be taken is
// a fault, and the list stays.
func (s *Site) takeFiles(c *Ctx, a author, form url.Values) (author, error) {
	l, err := s.fileList(c, a, form)
	if err != nil {
		return a, err
	}
	a.files = l
	op := form.Get("op")
	if err := s.knowFiles(c, l, !views.IsFileOp(op)); err != nil {
		return a, err
	}
	fresh, err := c.changeFiles(l, form, op)
	if err != nil {
		l.write(form)
		return a, err
	}
	l.write(form)
	if err := s.Workspace.StageFiles(c.R.Context(), c.Actor(), fresh); err != nil {
		return a, err
	}
	return a, s.takeDocument(c, a, form)
}

// fileList is the list that the form holds, or else the base's own.
func (s *Site) fileList(c *Ctx, a author, form url.Values) (*fileList, error) {
	l, err := newFileList(besideOf(a.baseSpec()))
	if err != nil {
		return nil, err
	}
	return &l, l.read(form)
}

// besideOf are the files that lie beside a spec; nil for kinds without.
func besideOf(spec capability.Spec) []capability.File {
	switch spec := spec.(type) {
	case *capability.SkillSpec:
		return spec.Files
	case *capability.HookSpec:
		return spec.Files
	}
	return nil
}

// knowFiles reads the contents that were staged: of every row, or only of the
// open one.
func (s *Site) knowFiles(c *Ctx, l *fileList, all bool) error {
	staged, err := s.Workspace.StagedFiles(c.R.Context(), c.Actor(), l.missing(all))
	for digest, content := range staged {
		l.contents[digest] = content
	}
	return err
}

// changeFiles does what the button says and returns the contents that are new.
func (c *Ctx) changeFiles(l *fileList, form url.Values, op string) (fresh [][]byte, err error) {
	if views.IsFileOp(op) {
		if content, changed := l.settle(); changed {
			fresh = append(fresh, content)
		}
	}
	what, at := views.FileOp(op)
	switch what {
	case views.FileNew:
		fresh = append(fresh, []byte{})
		l.rows = append(l.rows, fileRow{Digest: l.know([]byte{})})
		l.show(len(l.rows) - 1)
	case views.FileOpen:
		l.show(at)
	case views.FileRemove:
		l.remove(at)
	case views.FileReplace:
		content, err := c.replacement(l)
		if err != nil {
			return fresh, err
		}
		fresh = append(fresh, content)
	case views.FileUpload:
		if !c.hasUploads() {
			return fresh, atUpload("no_file", "Choose a file first.")
		}
	}
	uploaded, err := c.addUploads(l, form)
	return append(fresh, uploaded...), err
}

// replacement is the upload that becomes the content of the open file.
func (c *Ctx) replacement(l *fileList) ([]byte, error) {
	files, err := c.uploads("replace")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 || l.open < 0 {
		return nil, atUpload("no_file", "Choose a file first.")
	}
	row, content := &l.rows[l.open], files[0].data
	row.Digest, row.Size, l.typed = l.know(content), len(content), nil
	return content, nil
}

// addUploads puts what was uploaded among the files. A SKILL.md at the head of
// it becomes the skill's own text, droppings of a system are left out.
func (c *Ctx) addUploads(l *fileList, form url.Values) (fresh [][]byte, err error) {
	var all []upload
	for _, field := range []string{"upload", "folder"} {
		files, err := c.uploads(field)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	all = withoutTop(all)
	into := strings.Trim(strings.TrimSpace(form.Get(views.FilesInto)), "/")
	last, added := -1, 0
	var junk []string
	for _, f := range all {
		switch {
		case interchange.Junk(f.path):
			junk = append(junk, f.path)
			continue
		case strings.EqualFold(f.path, capability.SkillFileName) && into == "":
			form.Set(views.DocumentSent, string(f.data))
			l.notes = append(l.notes, c.T("files.document_taken", "path", f.path))
			continue
		case into != "":
			f.path = into + "/" + f.path
		}
		last, added = l.add(f.path, f.data, bytes.HasPrefix(f.data, []byte("#!"))), added+1
		fresh = append(fresh, f.data)
	}
	if added > 0 {
		l.notes = append(l.notes, c.Locale.N("files.added", added))
	}
	if len(junk) > 0 {
		l.notes = append(l.notes, c.T("files.left_out", "names", strings.Join(junk[:min(len(junk), 5)], ", ")))
	}
	if added == 1 {
		l.show(last)
	}
	form.Del(views.FilesInto)
	return fresh, nil
}

// upload is a file as a browser sends it.
type upload struct {
	path string
	data []byte
}

func (c *Ctx) hasUploads() bool {
	return c.R.MultipartForm != nil && len(c.R.MultipartForm.File["upload"])+len(c.R.MultipartForm.File["folder"]) > 0
}

// uploads reads the files of a field. The field that nothing was chosen in has
// none.
func (c *Ctx) uploads(field string) ([]upload, error) {
	if c.R.MultipartForm == nil {
		return nil, nil
	}
	headers, total := c.R.MultipartForm.File[field], int64(0)
	for _, h := range headers {
		total += h.Size
	}
	switch {
	case len(headers) > 4*capability.MaxFiles:
		return nil, atUpload("too_many", "That are more files than can be taken at once. A skill has at most 200.")
	case total > capability.MaxFilesTotal:
		return nil, atUpload("too_large", "The files of a skill have at most 10 MiB together.")
	}
	var out []upload
	for _, h := range headers {
		data, err := readUpload(h)
		if err != nil {
			return nil, err
		}
		out = append(out, upload{sentPath(h), data})
	}
	return out, nil
}

func atUpload(code, message string) error {
	return fault.Fields([]fault.Field{{Path: "/upload", Code: code, Message: message}})
}

// sentPath is the name of a file with the folders in which it lay, which the
// form's own reader takes away.
func sentPath(h *multipart.FileHeader) string {
	if _, params, err := mime.ParseMediaType(h.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"]
	}
	return h.Filename
}

// withoutTop takes the one folder away in which everything lies, where that is
// the folder of a skill.
func withoutTop(all []upload) []upload {
	top := ""
	for _, f := range all {
		folder, name, in := strings.Cut(f.path, "/")
		if !in {
			return all
		}
		if strings.EqualFold(name, capability.SkillFileName) {
			top = folder
		}
	}
	if top == "" {
		return all
	}
	for _, f := range all {
		if !strings.HasPrefix(f.path, top+"/") {
			return all
		}
	}
	for i := range all {
		all[i].path = strings.TrimPrefix(all[i].path, top+"/")
	}
	return all
}

func readUpload(header *multipart.FileHeader) ([]byte, error) {
	f, err := header.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
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
