package web

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// importUpload is what was sent to be read: a file, a folder, which becomes an
// archive, or a text; the first of them that there is.
func (c *Ctx) importUpload(form url.Values) (data []byte, name string, err error) {
	plainBreaks(form)
	if files := c.R.MultipartForm; files != nil {
		if chosen := sent(files.File["file"]); len(chosen) > 0 {
			if err := fits("/file", chosen); err != nil {
				return nil, "", err
			}
			data, err := readUpload(chosen[0])
			return data, chosen[0].Filename, err
		}
		if chosen := sent(files.File["folder"]); len(chosen) > 0 {
			if err := fits("/folder", chosen); err != nil {
				return nil, "", err
			}
			data, err := zipFolder(chosen)
			return data, "folder.zip", err
		}
	}
	if text := form.Get("text"); strings.TrimSpace(text) != "" {
		return []byte(text), capability.SkillFileName, nil
	}
	return nil, "", fault.Fields([]fault.Field{{
		Path: "/file", Code: "nothing_sent", Message: "Choose a file or a folder, or paste the text of a SKILL.md.",
	}})
}

// sent leaves out the empty part that browsers send where nothing was chosen.
func sent(files []*multipart.FileHeader) []*multipart.FileHeader {
	var out []*multipart.FileHeader
	for _, f := range files {
		if f.Filename != "" {
			out = append(out, f)
		}
	}
	return out
}

func fits(path string, files []*multipart.FileHeader) error {
	var total int64
	for _, f := range files {
		total += f.Size
	}
	if total <= maxImport {
		return nil
	}
	return fault.Fields([]fault.Field{{
		Path: path, Code: "upload_too_large",
		Message: fmt.Sprintf("More than %d MiB cannot be taken here; import it by the command line.", maxImport>>20),
	}})
}

// zipFolder puts the files of an uploaded folder into an archive, under their
// paths in it.
func zipFolder(files []*multipart.FileHeader) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		data, err := readUpload(f)
		if err != nil {
			return nil, err
		}
		entry, err := w.Create(folderPath(f))
		if err == nil {
			_, err = entry.Write(data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// folderPath is the file's path within its folder, of which the parsed header
// keeps only the last part.
func folderPath(f *multipart.FileHeader) string {
	_, params, err := mime.ParseMediaType(f.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return f.Filename
	}
	return strings.ReplaceAll(params["filename"], `\`, "/")
}
