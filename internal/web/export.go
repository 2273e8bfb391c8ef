package web

import (
	"bytes"
	"cmp"
	"mime"
	"net/http"
	"strconv"

	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange/intake"
	"capstore/views"
	"capstore/views/ui"
)

// exports are the formats that the shown version can be taken along in.
func (c *Ctx) exports(l lens) []ui.MenuItem {
	var out []ui.MenuItem
	for _, form := range intake.Forms(l.version.Kind) {
		out = append(out, ui.MenuItem{
			Label: c.T("import.export_as", "format", c.T("import.format_"+string(form))), Icon: ui.IconDownload,
			Href: views.ExportPath(c.Who.Workspace, l.Source, l.ID, l.version.Version, string(form)),
		})
	}
	if len(l.versions) > 1 {
		out = append(out, ui.MenuItem{
			Label: c.T("import.export_all"), Icon: ui.IconDownload, Href: views.ExportPath(c.Who.Workspace, l.Source, l.ID, "", ""),
		})
	}
	return out
}

// exportCapability hands over one version in a format, or all of them in
// capstore's own.
func (s *Site) exportCapability(c *Ctx) error {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	query := c.R.URL.Query()
	version, form := query.Get("version"), intake.Form(query.Get("format"))
	if version == "" {
		for line, err := range s.Catalog.Lines(ctx, c.Actor(), source, id) {
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := intake.WriteLine(&b, line); err != nil {
				return err
			}
			return c.takeAway(intake.File{Name: intake.LineName(id), MediaType: "application/json", Data: b.Bytes()})
		}
		return fault.Missing()
	}
	held, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return err
	}
	var v catalog.VersionDetail
	if v, err = s.Catalog.Version(ctx, c.Actor(), source, id, version); err != nil {
		return err
	}
	file, err := intake.Export(v, held.Tags, cmp.Or(form, intake.Forms(v.Kind)[0]))
	if err != nil {
		return err
	}
	return c.takeAway(file)
}

// takeAway answers with a file to be kept.
func (c *Ctx) takeAway(f intake.File) error {
	h := c.W.Header()
	h.Set("Content-Type", f.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(f.Data)))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("Cache-Control", "private, no-cache")
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(f.Data) // a reader who has left is nobody's fault
	return nil
}
