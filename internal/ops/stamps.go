package ops

import (
	"context"
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

type stampSkill struct {
	namedSkill
	IfMatch string   `header:"If-Match" doc:"ETag of the working copy that is meant."`
	Body    NewStamp `body:""`
}

// NewStamp says under which number the working copy is frozen.
type NewStamp struct {
	Version string `json:"version,omitempty" doc:"A number above the latest stamp, instead of bump."`
	Bump    string `json:"bump,omitempty" enum:"patch,minor,major"`
	Note    string `json:"note,omitempty"`
}

type publishSkill struct {
	namedSkill
	Body SkillPublication `body:""`
}

// SkillPublication says how the latest stamp goes to the store.
type SkillPublication struct {
	As         string           `json:"as,omitempty" doc:"The capability's id; the skill's unless told."`
	Visibility capability.Reach `json:"visibility,omitempty" enum:"private,workspace,subset,public"`
	SharedWith []string         `json:"sharedWith,omitempty"`
	Tags       []string         `json:"tags,omitempty"`
	Note       string           `json:"note,omitempty"`
}

func stampOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_skill_versions", Method: http.MethodGet, Path: tenant + "/skills/{id}/versions", Area: AreaSkills,
			Action: capability.ActRead, ReadOnly: true, Summary: "The stamps of a skill, newest first.",
		}, s.stamps),
		declare(Meta{
			Name: "stamp_skill_version", Method: http.MethodPost, Path: tenant + "/skills/{id}/versions", Area: AreaSkills,
			Action: capability.ActSkills, Success: http.StatusCreated, Example: `{"bump": "minor", "note": "Says who knows."}`,
			Summary: "Freeze a skill's working copy as a version.",
		}, s.stamp),
		declare(Meta{
			Name: "publish_skill", Method: http.MethodPost, Path: tenant + "/skills/{id}/publish", Area: AreaSkills,
			Action: capability.ActWrite, Success: http.StatusCreated, Example: `{"visibility": "workspace"}`,
			Summary: "Publish a skill's latest stamp to the store, under its number.",
		}, s.publishSkill),
	}
}

func (s Services) stamps(ctx context.Context, who identity.Principal, in namedSkill) (List[Stamp], error) {
	stamps, err := s.Workspace.Stamps(ctx, who.Actor(), in.ID)
	return listOf(stamps, func(t workspace.Stamp) Stamp { return Stamp(t) }), err
}

func (s Services) stamp(ctx context.Context, who identity.Principal, in stampSkill) (Stamp, error) {
	revision, err := revisionOf(in.IfMatch)
	if err != nil {
		return Stamp{}, err
	}
	k, err := s.Workspace.StampSkill(ctx, who.Actor(), in.ID, workspace.StampInput{
		Version: in.Body.Version, Bump: in.Body.Bump, Note: in.Body.Note, IfRevision: revision,
	})
	if err != nil {
		return Stamp{}, err
	}
	return Stamp(*k.Stamp), nil
}

func (s Services) publishSkill(ctx context.Context, who identity.Principal, in publishSkill) (Published, error) {
	return published(s.Workspace.PublishToStore(ctx, who.Actor(), in.ID, workspace.PublishInput{
		CapabilityID: in.Body.As, Visibility: in.Body.Visibility, SharedWith: in.Body.SharedWith, Tags: in.Body.Tags, Note: in.Body.Note,
	}))
}
