package web

import (
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/views"
)

func (a author) skillSpec(r *reading, p catalog.Publication) *capability.SkillSpec {
	spec := &capability.SkillSpec{
		Instructions: r.form.Get("spec.instructions"), License: r.text("spec.license"), Compatibility: r.text("spec.compatibility"),
		AllowedTools: r.text("spec.allowedTools"), Leans: r.leans(),
	}
	base, _ := a.baseSpec().(*capability.SkillSpec)
	spec.Files = skillFiles(r.form, base)
	for _, row := range readRows(r.form, "spec.metadata") {
		if spec.Metadata == nil {
			spec.Metadata = map[string]string{}
		}
		spec.Metadata[strings.TrimSpace(row["key"])] = row["value"]
	}
	if base == nil {
		return spec
	}
	for key, value := range spec.Metadata {
		spec.Metadata[key] = keptText(base.Metadata[key], value)
	}
	spec.Instructions = keptText(base.Instructions, spec.Instructions)
	if base.Raw != "" && p.Name == a.base.Content.Name && p.Description == a.base.Content.Description && sameDocument(*base, *spec) {
		spec.Raw = base.Raw
	}
	return spec
}

// sameDocument reports whether two skills have the same SKILL.md.
func sameDocument(a, b capability.SkillSpec) bool {
	return a.Instructions == b.Instructions && a.License == b.License && a.Compatibility == b.Compatibility &&
		a.AllowedTools == b.AllowedTools && maps.Equal(a.Metadata, b.Metadata) &&
		slices.Equal(a.Serves, b.Serves) && slices.Equal(a.Requires, b.Requires)
}

// skillFiles reads the rows of files. A row that keeps a file of the base has
// its very bytes, under the path that stands there now.
func skillFiles(form url.Values, base *capability.SkillSpec) []capability.File {
	var out []capability.File
	for _, row := range readRows(form, "spec.files") {
		f := capability.File{
			Path: strings.TrimSpace(row["path"]), MediaType: row["mediaType"], Encoding: row["encoding"], Content: row["content"],
			Executable: row["executable"] != "",
		}
		if was := keptFile(base, row["kept"]); was != nil {
			f.MediaType, f.Encoding = was.MediaType, was.Encoding
			if was.Encoding == capability.EncodingBase64 {
				f.Content = was.Content
			} else {
				f.Content = keptText(was.Content, f.Content)
			}
		}
		out = append(out, f)
	}
	return out
}

func keptFile(base *capability.SkillSpec, path string) *capability.File {
	if base == nil || path == "" {
		return nil
	}
	for i := range base.Files {
		if base.Files[i].Path == path {
			return &base.Files[i]
		}
	}
	return nil
}

// authorFiles says of each row of files what it is, beside its fields.
func (c *Ctx) authorFiles(a author, form views.Form) []views.AuthorFile {
	base, _ := a.baseSpec().(*capability.SkillSpec)
	var out []views.AuthorFile
	for _, row := range readRows(form.Values, "spec.files") {
		was, content := keptFile(base, row["kept"]), row["content"]
		f := views.AuthorFile{Text: row["encoding"] != capability.EncodingBase64}
		if was != nil && was.Encoding == capability.EncodingBase64 {
			f.Text, f.Kept, content = false, true, was.Content
		}
		if !f.Text {
			f.Size = c.Locale.Bytes(int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(content, "=")))))
		}
		out = append(out, f)
	}
	return out
}

// takeUploads turns what was uploaded into rows of files, which the form then
// carries along. A file of a path that is there already replaces its content.
func (c *Ctx) takeUploads(form url.Values) error {
	if c.R.MultipartForm == nil {
		return nil
	}
	rows := readRows(form, "spec.files")
	for _, header := range c.R.MultipartForm.File["upload"] {
		file, err := uploadedFile(header)
		if err != nil {
			return err
		}
		row := map[string]string{"path": file.Path, "content": file.Content, "mediaType": file.MediaType, "encoding": file.Encoding}
		at := slices.IndexFunc(rows, func(r map[string]string) bool { return r["path"] == file.Path })
		if at >= 0 {
			row["executable"] = rows[at]["executable"]
			rows[at] = row
		} else {
			rows = append(rows, row)
		}
	}
	writeRows(form, "spec.files", rows)
	return nil
}

func uploadedFile(header *multipart.FileHeader) (capability.File, error) {
	if header.Size > capability.MaxFilesTotal {
		return capability.File{}, fault.Fields([]fault.Field{{
			Path: "/upload", Code: "too_large", Message: "The files of a skill have at most 10 MiB together.",
		}})
	}
	data, err := readUpload(header)
	if err != nil {
		return capability.File{}, err
	}
	return interchange.FileOf(header.Filename, data, false), nil
}

func readUpload(header *multipart.FileHeader) ([]byte, error) {
	f, err := header.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}
