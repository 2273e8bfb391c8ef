package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
)

// TakeInput names the published skill to copy. Name, when given, is what the
// copy is called, for where the library has its name already.
type TakeInput struct {
	Source, ID, Version string
	Name                string
}

// TakeFromStore copies a published skill into the library, stamped at the
// version that was copied, with its origin kept as provenance. What the actor
// may not see is missing; a kind that is no skill, a second copy and a taken
// name are conflicts.
func (s *Service) TakeFromStore(ctx context.Context, actor capability.Actor, in TakeInput) (Skill, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Skill{}, err
	}
	start := SkillInput{Name: in.Name, Version: in.Version}
	return s.createSkill(ctx, actor, start, func(ctx context.Context, tx pgx.Tx) (*copied, error) {
		row, err := lockTarget(ctx, tx, actor, subject, capability.Ref{Source: in.Source, ID: in.ID, Version: in.Version})
		if err != nil {
			return nil, err
		}
		if err := row.usable(); err != nil {
			return nil, err
		}
		if row.kind != capability.KindSkill {
			return nil, fault.New(fault.Conflict, "not_a_skill", "Only skills are copied into the library; this is a capability of kind %s.", row.kind).
				Do("Adopt it instead, on its page in the store.")
		}
		if err := notTaken(ctx, tx, actor.Workspace, row.capabilityPK); err != nil {
			return nil, err
		}
		return &copied{
			Origin:       Origin{Source: in.Source, ID: in.ID, Version: in.Version, Name: row.content.Name},
			capabilityPK: row.capabilityPK, content: row.content,
		}, nil
	})
}

func notTaken(ctx context.Context, tx pgx.Tx, workspace string, capabilityPK int64) error {
	other, err := queries.SkillTakenFrom(ctx, tx, db.SkillTakenFromParams{Workspace: workspace, OriginPk: capabilityPK})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a copy: %w", err)
	}
	return fault.New(fault.Conflict, "already_taken", "This workspace has a copy of it already: %s.", other.Name).
		Do("Open that skill; delete it first to take a new copy.").With("id", other.ID)
}

// input is the copy as a new skill, under the name that was asked for.
func (c *copied) input(asked SkillInput) SkillInput {
	spec, _ := c.content.Spec.(*capability.SkillSpec)
	out := SkillInput{
		Name: c.content.Name, Description: c.content.Description, Spec: spec, Version: c.Version,
	}
	if asked.Name != "" && asked.Name != out.Name {
		out.Name = asked.Name
		out.Spec = withoutRaw(spec)
	}
	return out
}

// withoutRaw leaves the original SKILL.md out where the name in it no longer
// holds.
func withoutRaw(spec *capability.SkillSpec) *capability.SkillSpec {
	out := *spec
	out.Raw = ""
	return &out
}

// PublishInput says how a workspace skill goes to the store. Reach and tags
// are those of a first publication; on an existing capability the store
// refuses a reach.
type PublishInput struct {
	CapabilityID string           // "" is the skill's id
	Visibility   capability.Reach // "" is the kind's default
	SharedWith   []string
	Tags         []string
	Note         string // "" is the stamp's
}

// PublishToStore publishes the newest stamp, under its number, as a skill
// capability of the workspace: a new one or a new version of that id. A skill
// that was never stamped is a not_stamped conflict.
func (s *Service) PublishToStore(ctx context.Context, actor capability.Actor, id string, in PublishInput) (catalog.Published, error) {
	if err := capability.May(actor, capability.ActWrite, capability.Fresh); err != nil {
		return catalog.Published{}, err
	}
	skill, err := s.Skill(ctx, actor, id)
	if err != nil {
		return catalog.Published{}, err
	}
	if skill.Stamp == nil {
		return catalog.Published{}, fault.New(fault.Conflict, "not_stamped", "This skill has no stamp yet, and a stamp is what is published.").
			Do("Stamp it first.")
	}
	content, err := s.StampedContent(ctx, actor, id, skill.Stamp.Version)
	if err != nil {
		return catalog.Published{}, err
	}
	out := catalog.Publication{
		ID: in.CapabilityID, Name: content.Name, Description: content.Description, Spec: capability.EncodeSpec(content.Spec),
		Visibility: in.Visibility, SharedWith: in.SharedWith, Tags: in.Tags, Version: skill.Stamp.Version, Note: in.Note,
	}
	if out.ID == "" {
		out.ID = skill.ID
	}
	if out.Note == "" {
		out.Note = skill.Stamp.Note
	}
	return s.store.Publish(ctx, actor, out)
}
