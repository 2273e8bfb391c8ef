package web

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"capstore/internal/fault"
)

// artifact is the stored result that the path names.
func (s *Site) artifact(c *Ctx) (uuid.UUID, []byte, error) {
	id, err := c.chatID()
	if err != nil {
		return uuid.Nil, nil, err
	}
	artifact, err := uuid.Parse(c.R.PathValue("artifact"))
	if err != nil {
		return uuid.Nil, nil, fault.Missing()
	}
	_, content, err := s.Agent.ReadArtifact(c.R.Context(), c.Actor(), id, artifact)
	return artifact, content, err
}

// chatArtifact hands a stored result over as a file, never to be shown in
// place: it is somebody else's content.
func (s *Site) chatArtifact(c *Ctx) error {
	artifact, content, err := s.artifact(c)
	if err != nil {
		return err
	}
	c.W.Header().Set("Content-Disposition", `attachment; filename="result-`+artifact.String()+`.json"`)
	return c.serve("application/octet-stream", content)
}

// chatImage shows a picture within a stored result, when its bytes are one.
func (s *Site) chatImage(c *Ctx) error {
	_, content, err := s.artifact(c)
	if err != nil {
		return err
	}
	at, err := strconv.Atoi(c.R.PathValue("block"))
	if err != nil {
		return fault.Missing()
	}
	kind, data := imageIn(content, at)
	if data == nil {
		return fault.Missing()
	}
	return c.serve(kind, data)
}

func (c *Ctx) serve(kind string, content []byte) error {
	h := c.W.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(content) // a reader who has left is nobody's fault
	return nil
}
