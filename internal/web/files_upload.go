package web

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/views"
)

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
		return nil, atUpload("too_many", "These are more files than a skill can have: at most 200.")
	case total > capability.MaxFilesTotal:
		return nil, atUpload("too_large", "The files of a skill have at most 10 MiB together.")
	}
	var out []upload
	for _, h := range headers {
		name := sentPath(h)
		if !utf8.ValidString(name) {
			return nil, atUpload("bad_path", "The name of a file is not valid UTF-8. Rename it and upload it again.")
		}
		data, err := readUpload(h)
		if err != nil {
			return nil, err
		}
		out = append(out, upload{name, data})
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
