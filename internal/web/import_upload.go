package web

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime/multipart"
	"net/url"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/interchange"
)

// importSource is what was sent to be imported, or what an address gave.
type importSource struct {
	uploads []interchange.Upload
	origin  string // the address
	under   string // the folder that it was about
}

// importSent reads the form: files, a folder, which becomes an archive, an
// address, or a text; the first of them that there is.
func (s *Site) importSent(c *Ctx, form url.Values) (importSource, error) {
	plainBreaks(form)
	if c.R.MultipartForm != nil {
		if files := sent(c.R.MultipartForm.File["file"]); len(files) > 0 {
			uploads, err := readImports(files)
			return importSource{uploads: uploads}, err
		}
		if files := sent(c.R.MultipartForm.File["folder"]); len(files) > 0 {
			data, err := zipFolder(files)
			top, _, _ := strings.Cut(sentPath(files[0]), "/")
			return importSource{uploads: []interchange.Upload{{Name: top + ".zip", Data: data}}}, err
		}
	}
	if address := strings.TrimSpace(form.Get("url")); address != "" {
		got, err := s.Staging.Fetch(c.R.Context(), c.Actor(), s.Guard, address)
		if err != nil {
			return importSource{}, atField("/url", err)
		}
		return importSource{uploads: []interchange.Upload{got.Upload}, origin: got.Address, under: got.Under}, nil
	}
	if text := form.Get("text"); strings.TrimSpace(text) != "" {
		return importSource{uploads: []interchange.Upload{{Data: []byte(text)}}}, nil
	}
	return importSource{}, fault.Fields([]fault.Field{{
		Path: "/file", Code: "nothing_sent", Message: "Choose a file or a folder, give an address, or paste a text.",
	}})
}

// atField puts a refusal at the field of the form that it is about.
func atField(path string, err error) error {
	f := fault.From(err)
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable || len(f.Fields) > 0 {
		return err
	}
	return fault.Fields([]fault.Field{{Path: path, Code: f.Code, Message: strings.TrimSpace(f.Message + " " + f.Action)}})
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

func readImports(files []*multipart.FileHeader) ([]interchange.Upload, error) {
	if err := fits("/file", files); err != nil {
		return nil, err
	}
	var out []interchange.Upload
	for _, f := range files {
		data, err := readUpload(f)
		if err != nil {
			return nil, err
		}
		out = append(out, interchange.Upload{Name: f.Filename, Data: data})
	}
	return out, nil
}

// zipFolder puts the files of an uploaded folder into an archive, under their
// paths in it. Browsers do not say which can be run: those that begin as
// scripts do.
func zipFolder(files []*multipart.FileHeader) ([]byte, error) {
	if err := fits("/folder", files); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		data, err := readUpload(f)
		if err != nil {
			return nil, err
		}
		header := &zip.FileHeader{Name: sentPath(f), Method: zip.Store}
		header.SetMode(0o644)
		if interchange.Executable(data) {
			header.SetMode(0o755)
		}
		entry, err := w.CreateHeader(header)
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
