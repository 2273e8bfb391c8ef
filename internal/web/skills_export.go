package web

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"

	"capstore/internal/interchange"
)

// exportSkill hands the working copy over as a zip of its folder, as other
// readers of the format take it.
func (s *Site) exportSkill(c *Ctx) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := interchange.ExportZip(&archive, skill.Content); err != nil {
		return err
	}
	h := c.W.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Length", strconv.Itoa(archive.Len()))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": interchange.FolderName(skill.Name) + ".zip"}))
	h.Set("Cache-Control", "private, no-cache")
	c.W.WriteHeader(http.StatusOK)
	_, _ = archive.WriteTo(c.W) // a reader who has left is nobody's fault
	return nil
}
