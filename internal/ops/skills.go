package ops

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

// SkillItem is one skill of the library without its content.
type SkillItem struct {
	ID          string            `json:"id"`
	Key         capability.Key    `json:"key" doc:"Its switch under /agent/skills."`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Digest      string            `json:"digest" doc:"Of the working copy."`
	Draft       bool              `json:"draft" doc:"Its maker's own until it is shared."`
	Origin      *workspace.Origin `json:"origin" doc:"Where a copy was taken from."`
	By          Person            `json:"by"`
	CreatedAt   time.Time         `json:"createdAt"`
	UpdatedAt   time.Time         `json:"updatedAt" doc:"The last edit; a stamp is none."`
	LatestStamp *Stamp            `json:"latestStamp"`
	Unstamped   bool              `json:"unstamped" doc:"It was edited since the latest stamp."`
}

// Skill is one skill with its working copy.
type Skill struct {
	SkillItem
	Spec json.RawMessage `json:"spec"`

	revision int64
	made     bool
}

// ETag is of the working copy.
func (s Skill) ETag() string { return strconv.FormatInt(s.revision, 10) }

// HTTPStatus tells a new skill from one that was there.
func (s Skill) HTTPStatus() int {
	if s.made {
		return http.StatusCreated
	}
	return http.StatusOK
}

// Location is that of the skill.
func (s Skill) Location(workspace string) string { return locationOf(workspace, "skills", s.ID) }

// Stamp is a frozen version of a skill.
type Stamp struct {
	Version string    `json:"version"`
	Digest  string    `json:"digest"`
	Note    string    `json:"note,omitempty"`
	By      Person    `json:"by"`
	At      time.Time `json:"at"`
}

type namedSkill struct {
	ID string `path:"id" doc:"The skill's id."`
}

type createSkill struct {
	Body NewSkill `body:""`
}

// NewSkill is a skill that is written here, or a copy of one of the store.
type NewSkill struct {
	SkillContent
	Draft   bool    `json:"draft,omitempty" doc:"Keep it to oneself until it is shared."`
	Version string  `json:"version,omitempty" doc:"Stamp it at once under this number."`
	Note    string  `json:"note,omitempty" doc:"Of that stamp."`
	From    *CopyOf `json:"from,omitempty" doc:"Copy this skill of the store instead of sending a spec."`
}

// SkillContent is the working copy.
type SkillContent struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Spec        json.RawMessage `json:"spec,omitempty" doc:"An object of the type skill."`
}

type updateSkill struct {
	namedSkill
	IfMatch string       `header:"If-Match" doc:"ETag of the skill that the edit starts from."`
	Body    SkillContent `body:""`
}

type deleteSkill struct {
	namedSkill
	IfMatch string `header:"If-Match" doc:"ETag of the skill that is meant."`
}

func skillOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_skills", Method: http.MethodGet, Path: tenant + "/skills", Area: AreaSkills,
			Action: capability.ActRead, ReadOnly: true, Summary: "The workspace's skill library and one's own drafts.",
		}, s.skills),
		declare(Meta{
			Name: "create_skill", Method: http.MethodPost, Path: tenant + "/skills", Area: AreaSkills, Action: capability.ActSkills,
			Success: http.StatusCreated, Summary: "Write a skill, or copy one of the store into the library.",
			Example: `{"name": "Hand over a shift", "description": "How a shift is handed over.", "spec": {"type": "skill", "instructions": "# Handing over\n\nName what is open."}}`,
		}, s.createSkill),
		declare(Meta{
			Name: "import_skills", Method: http.MethodPost, Path: tenant + "/skills/import", Area: AreaSkills, Action: capability.ActSkills,
			Summary: "Take the skills of a zip, a .skill file or a SKILL.md into the library.",
		}, s.importLibrary),
		declare(Meta{
			Name: "get_skill", Method: http.MethodGet, Path: tenant + "/skills/{id}", Area: AreaSkills,
			Action: capability.ActRead, ReadOnly: true, Summary: "One skill with its working copy.",
		}, s.skill),
		declare(Meta{
			Name: "update_skill", Method: http.MethodPut, Path: tenant + "/skills/{id}", Area: AreaSkills, Action: capability.ActSkills,
			Summary: "Replace a skill's working copy.",
			Example: `{"name": "Hand over a shift", "description": "How a shift is handed over.", "spec": {"type": "skill", "instructions": "# Handing over\n\nName what is open and who knows."}}`,
		}, s.updateSkill),
		declare(Meta{
			Name: "delete_skill", Method: http.MethodDelete, Path: tenant + "/skills/{id}", Area: AreaSkills, Action: capability.ActSkills,
			Guarded: true, Success: http.StatusNoContent, Summary: "Delete a skill and its stamps from the library.",
		}, s.deleteSkill),
		declare(Meta{
			Name: "share_skill", Method: http.MethodPost, Path: tenant + "/skills/{id}/share", Area: AreaSkills, Action: capability.ActSkills,
			Summary: "Turn one's draft into a skill of the workspace.",
		}, s.shareSkill),
	}
}

func skillItem(k workspace.Skill) SkillItem {
	out := SkillItem{
		ID: k.ID, Key: k.Key(), Name: k.Name, Description: k.Description, Digest: k.Digest, Draft: k.Draft, Origin: k.Origin,
		By: k.By, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt, Unstamped: k.Unstamped(),
	}
	if k.Stamp != nil {
		stamp := Stamp(*k.Stamp)
		out.LatestStamp = &stamp
	}
	return out
}

func skillOf(k workspace.Skill, err error) (Skill, error) {
	return Skill{SkillItem: skillItem(k), Spec: capability.EncodeSpec(k.Content.Spec), revision: k.Revision}, err
}

func (s Services) skills(ctx context.Context, who identity.Principal, _ Nothing) (List[SkillItem], error) {
	skills, err := s.Workspace.Skills(ctx, who.Actor())
	return listOf(skills, skillItem), err
}

func (s Services) skill(ctx context.Context, who identity.Principal, in namedSkill) (Skill, error) {
	return skillOf(s.Workspace.Skill(ctx, who.Actor(), in.ID))
}

func (s Services) createSkill(ctx context.Context, who identity.Principal, in createSkill) (Skill, error) {
	if err := capability.May(who.Actor(), capability.ActSkills, capability.Fresh); err != nil {
		return Skill{}, err
	}
	made, err := s.makeSkill(ctx, who, in.Body)
	out, err := skillOf(made, err)
	out.made = true
	return out, err
}

func (s Services) makeSkill(ctx context.Context, who identity.Principal, b NewSkill) (workspace.Skill, error) {
	if b.From != nil {
		version := b.From.Version
		if version == "" {
			v, err := s.original(ctx, who, *b.From)
			if err != nil {
				return workspace.Skill{}, err
			}
			version = v.Version
		}
		return s.Workspace.TakeFromStore(ctx, who.Actor(), workspace.TakeInput{
			Source: b.From.Source, ID: b.From.ID, Version: version, Name: b.From.Name,
		})
	}
	in, err := b.input()
	in.Draft, in.Version, in.Note = b.Draft, b.Version, b.Note
	if err != nil {
		return workspace.Skill{}, err
	}
	return s.Workspace.CreateSkill(ctx, who.Actor(), in)
}

func (c SkillContent) input() (workspace.SkillInput, error) {
	spec, faults := capability.DecodeSpec(c.Spec)
	if len(faults) > 0 {
		return workspace.SkillInput{}, fault.Fields(faults)
	}
	skill, ok := spec.(*capability.SkillSpec)
	if !ok {
		return workspace.SkillInput{}, refused("/spec/type", "not_a_skill", "The library holds skills; publish other kinds instead.")
	}
	return workspace.SkillInput{Name: c.Name, Description: c.Description, Spec: skill}, nil
}

func (s Services) updateSkill(ctx context.Context, who identity.Principal, in updateSkill) (Skill, error) {
	revision, err := revisionOf(in.IfMatch)
	if err != nil {
		return Skill{}, err
	}
	if _, err := s.Workspace.Skill(ctx, who.Actor(), in.ID); err != nil {
		return Skill{}, err // what is missing is so whatever the body says
	}
	if err := capability.May(who.Actor(), capability.ActSkills, capability.Ownership{}); err != nil {
		return Skill{}, err
	}
	content, err := in.Body.input()
	if err != nil {
		return Skill{}, err
	}
	return skillOf(s.Workspace.UpdateSkill(ctx, who.Actor(), in.ID, revision, content))
}

func (s Services) deleteSkill(ctx context.Context, who identity.Principal, in deleteSkill) (Empty, error) {
	revision, err := revisionOf(in.IfMatch)
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, s.Workspace.DeleteSkill(ctx, who.Actor(), in.ID, revision)
}

func (s Services) shareSkill(ctx context.Context, who identity.Principal, in namedSkill) (Skill, error) {
	return skillOf(s.Workspace.ShareSkill(ctx, who.Actor(), in.ID))
}
