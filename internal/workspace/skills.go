package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Skill is a document that the workspace owns: the working copy, which is what
// the agent carries.
type Skill struct {
	ID          string
	Name        string
	Description string
	Digest      string  // of the working copy
	Draft       bool    // its creator's own until it is shared
	Origin      *Origin // of a copy; nil for one written here
	Revision    int64   // for If-Match
	By          Person
	CreatedAt   time.Time
	UpdatedAt   time.Time // the last edit; a stamp is none
	Stamp       *Stamp    // the newest; nil before the first
	// Content is the working copy. Lists leave it zero.
	Content capability.Content
}

// Origin is where a copied skill was taken from: provenance, never a link.
type Origin struct {
	Source  string `json:"source"`
	ID      string `json:"id"`
	Version string `json:"version"`
	Name    string `json:"name"`
}

// Stamp is a frozen version of a workspace skill.
type Stamp struct {
	Version string
	Digest  string
	Note    string
	By      Person
	At      time.Time
}

// Key is the switch of the skill.
func (s Skill) Key() capability.Key { return capability.SkillKey(s.ID) }

// Unstamped reports whether the working copy was edited since the newest
// stamp, or was never stamped.
func (s Skill) Unstamped() bool { return s.Stamp == nil || s.Stamp.At.Before(s.UpdatedAt) }

// Skills lists the workspace's library as the actor sees it: what is shared
// and his own drafts, by name, without content.
func (s *Service) Skills(ctx context.Context, actor capability.Actor) ([]Skill, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return nil, err
	}
	rows, err := queries.SkillsOf(ctx, s.db, db.SkillsOfParams{Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list skills: %w", err))
	}
	stamps, err := queries.NewestStamps(ctx, s.db, db.NewestStampsParams{Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list newest stamps: %w", err))
	}
	newest := make(map[string]*Stamp, len(stamps))
	for _, r := range stamps {
		newest[r.SkillID] = &Stamp{r.Version, r.Digest, r.Note, person(&r.StampedBy, r.Author), r.StampedAt}
	}
	out := make([]Skill, 0, len(rows))
	for _, r := range rows {
		skill, err := skillOf(db.SkillByIDRow{
			ID: r.ID, Name: r.Name, Description: r.Description, Digest: r.Digest, Draft: r.Draft, Origin: r.Origin,
			Revision: r.Revision, CreatedBy: r.CreatedBy, Author: r.Author, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		})
		if err != nil {
			return nil, err
		}
		skill.Stamp = newest[r.ID]
		out = append(out, skill)
	}
	return out, nil
}

// Skill returns one skill with its content, or a missing fault: another
// member's draft is missing.
func (s *Service) Skill(ctx context.Context, actor capability.Actor, id string) (Skill, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Skill{}, err
	}
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return Skill{}, err
	}
	return s.skill(ctx, s.db, actor.Workspace, subject, id)
}

// skill reads the skill and its newest stamp through the handle.
func (s *Service) skill(ctx context.Context, h db.DBTX, workspace string, subject uuid.UUID, id string) (Skill, error) {
	row, err := queries.SkillByID(ctx, h, db.SkillByIDParams{Workspace: workspace, ID: id, Subject: subject})
	if err != nil {
		return Skill{}, pg.Fault(fmt.Errorf("read skill: %w", err))
	}
	skill, err := skillOf(row)
	if err != nil {
		return Skill{}, err
	}
	if skill.Content, err = decodeContent(row.Content); err != nil {
		return Skill{}, fmt.Errorf("skill %s/%s: %w", workspace, id, err)
	}
	stamps, err := s.stamps(ctx, h, workspace, subject, id)
	if err != nil {
		return Skill{}, err
	}
	if len(stamps) > 0 {
		skill.Stamp = &stamps[0]
	}
	return skill, nil
}

func skillOf(r db.SkillByIDRow) (Skill, error) {
	out := Skill{
		ID: r.ID, Name: r.Name, Description: r.Description, Digest: r.Digest, Draft: r.Draft, Revision: r.Revision,
		By: person(&r.CreatedBy, r.Author), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if len(r.Origin) > 0 {
		if err := json.Unmarshal(r.Origin, &out.Origin); err != nil {
			return Skill{}, fmt.Errorf("origin of skill %s: %w", r.ID, err)
		}
	}
	return out, nil
}
