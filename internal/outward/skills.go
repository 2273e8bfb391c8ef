package outward

import (
	"bytes"
	"fmt"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/views"
)

// skillIndex is the index of Agent Skills, in the shape in which sites offer
// theirs under a well-known address.
type skillIndex struct {
	Schema string       `json:"$schema"`
	Skills []skillEntry `json:"skills"`
}

type skillEntry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
	Version     string `json:"version"`
}

const skillSchema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

func isSkill(k capability.Kind) bool { return k == capability.KindSkill }

// skills answers the index of the skills that are published or carried.
func (s *surface) skills(c *call) error {
	offers, err := s.offers(c, isSkill)
	if err != nil {
		return err
	}
	known, err := s.learn(c, "skill", offers, func(_ offer, content capability.Content) ([]byte, error) { return packSkill(content) })
	if err != nil {
		return err
	}
	out := skillIndex{Schema: skillSchema, Skills: []skillEntry{}}
	for _, o := range offers {
		if known[o.Ref] == "" {
			continue
		}
		address := c.origin + views.SkillArchivePath(c.who.Workspace, o.Source, o.ID, o.Version)
		out.Skills = append(out.Skills, skillEntry{interchange.FolderName(o.Name), "archive", o.Description, address, "sha256:" + known[o.Ref], o.Version})
	}
	return c.send(out)
}

func packSkill(content capability.Content) ([]byte, error) {
	var b bytes.Buffer
	if err := interchange.ExportZip(&b, content); err != nil {
		return nil, fmt.Errorf("outward: %w", err)
	}
	return b.Bytes(), nil
}

// skill answers one skill as the folder that it is.
func (s *surface) skill(c *call) error {
	o, content, err := s.one(c, ".zip")
	if err != nil {
		return err
	}
	if !isSkill(content.Spec.Kind()) {
		return fault.Missing()
	}
	tag := "skill." + strings.TrimPrefix(content.Digest(), "sha256:")[:32]
	return c.answer("application/zip", tag, capability.IDFromName(content.Name)+"-"+o.Version+".zip", func() (data []byte, err error) {
		err = s.build(c, func() error {
			data, err = packSkill(content)
			return err
		})
		return data, err
	})
}
