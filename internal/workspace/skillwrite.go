package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// SkillInput is what makes or replaces a skill's working copy, from a form or
// from an import.
type SkillInput struct {
	Name        string
	Description string
	Spec        *capability.SkillSpec
	// Draft keeps a new skill to its creator until he shares it. An update
	// ignores it.
	Draft bool
	// Version, when given, stamps a new skill at once under this number. An
	// update ignores it.
	Version string
	// Note goes with that stamp.
	Note string
}

func (in SkillInput) content() capability.Content {
	c := capability.Content{Name: in.Name, Description: in.Description}
	if in.Spec != nil {
		c.Spec = in.Spec
	}
	return c
}

// frozen is validated content in the form that is stored.
type frozen struct {
	capability.Content
	canonical, digest string
	leans             []byte
}

func (s *Service) freeze(c capability.Content) (frozen, error) {
	if err := fault.Fields(c.Validate(s.opts.Rules)); err != nil {
		return frozen{}, err
	}
	canonical, err := c.Canonical()
	if err != nil {
		return frozen{}, err
	}
	leans, err := json.Marshal(leansOf(c.Spec))
	if err != nil {
		return frozen{}, fmt.Errorf("encode what a skill leans on: %w", err)
	}
	return frozen{Content: c, canonical: string(canonical), digest: c.Digest(), leans: leans}, nil
}

// CreateSkill adds a skill to the library. Its id comes from its name; a name
// that would be confused with one the actor already sees there is a name_taken
// conflict.
func (s *Service) CreateSkill(ctx context.Context, actor capability.Actor, in SkillInput) (Skill, error) {
	return s.createSkill(ctx, actor, in, func(context.Context, pgx.Tx) (*copied, error) { return nil, nil })
}

// copied is the store's version that a new skill is a copy of.
type copied struct {
	Origin
	capabilityPK int64
	content      capability.Content
}

func (s *Service) createSkill(ctx context.Context, actor capability.Actor, in SkillInput,
	from func(context.Context, pgx.Tx) (*copied, error),
) (Skill, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Skill{}, err
	}
	if err := capability.May(actor, capability.ActSkills, capability.Fresh); err != nil {
		return Skill{}, err
	}
	var out Skill
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := queries.LockSkillNames(ctx, tx, actor.Workspace); err != nil {
			return fmt.Errorf("lock skills: %w", err)
		}
		origin, err := from(ctx, tx)
		if err != nil {
			return err
		}
		in := in
		if origin != nil {
			in = origin.input(in)
		}
		id, err := s.insertSkill(ctx, tx, actor, subject, in, origin)
		if err != nil {
			return err
		}
		if in.Version != "" {
			if _, err := s.stamp(ctx, tx, actor, subject, id, StampInput{Version: in.Version, Note: in.Note}); err != nil {
				return err
			}
		}
		out, err = s.skill(ctx, tx, actor.Workspace, subject, id)
		return err
	})
	return out, err
}

func (s *Service) insertSkill(ctx context.Context, tx pgx.Tx, actor capability.Actor, subject uuid.UUID, in SkillInput,
	origin *copied,
) (string, error) {
	doc, err := s.freeze(in.content())
	if err != nil {
		return "", err
	}
	if err := nameFree(ctx, tx, actor.Workspace, subject, "", in.Name, in.Draft); err != nil {
		return "", err
	}
	id, err := freeSkillID(ctx, tx, actor.Workspace, in.Name)
	if err != nil {
		return "", err
	}
	row := db.InsertSkillParams{
		Workspace: actor.Workspace, ID: id, Name: in.Name, NameFold: capability.FoldName(in.Name),
		Description: in.Description, Content: doc.canonical, Digest: doc.digest, Draft: in.Draft, Leans: doc.leans, CreatedBy: subject,
	}
	detail := map[string]any{"name": in.Name, "digest": doc.digest, "draft": in.Draft}
	if origin != nil {
		if row.Origin, err = json.Marshal(origin.Origin); err != nil {
			return "", err
		}
		row.OriginPk = &origin.capabilityPK
		detail["origin"] = origin.Origin
	}
	err = queries.ClearSwitches(ctx, tx, db.ClearSwitchesParams{Workspace: actor.Workspace, Key: string(capability.SkillKey(id))})
	if err != nil {
		return "", fmt.Errorf("clear switches: %w", err)
	}
	if err := queries.InsertSkill(ctx, tx, row); err != nil {
		return "", fmt.Errorf("insert skill: %w", err)
	}
	if err := keepBody(ctx, tx, actor.Workspace, "", doc); err != nil {
		return "", err
	}
	if origin != nil {
		if err := catalog.CountAdopters(ctx, tx, origin.capabilityPK); err != nil {
			return "", err
		}
	}
	return id, record(ctx, tx, actor, pg.Change{Topic: TopicSkill, Key: id},
		pg.Entry{Action: "skill.create", Target: id, Detail: detail})
}

// nameFree refuses a name that would be confused with another of the library:
// shared ones among themselves, a member's drafts among themselves. A draft
// may bear the name of a shared one, which it then shadows for its creator.
func nameFree(ctx context.Context, tx pgx.Tx, workspace string, subject uuid.UUID, ownID, name string, draft bool) error {
	other, err := queries.SkillNamed(ctx, tx, db.SkillNamedParams{
		Workspace: workspace, NameFold: capability.FoldName(name), Draft: draft, OwnID: ownID, Subject: subject,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the name: %w", err)
	}
	f := fault.New(fault.Conflict, "name_taken", "The library has the skill %q already; the agent could not tell the two apart.", other.Name).
		Do("Choose another name, or edit that skill.").With("id", other.ID)
	f.Fields = []fault.Field{{Path: "/name", Code: "name_taken", Message: "This name is taken by " + other.Name + "."}}
	return f
}

// freeSkillID makes an id from the name and counts on where it is taken, also
// by a draft that the actor does not see: its existence is not told.
func freeSkillID(ctx context.Context, tx pgx.Tx, workspace, name string) (string, error) {
	base := capability.IDFromName(name)
	base = strings.TrimRight(base[:min(len(base), 58)], "-") // room for the count within an id's 63
	taken, err := queries.SkillIDsLike(ctx, tx, db.SkillIDsLikeParams{Workspace: workspace, ID: base})
	if err != nil {
		return "", fmt.Errorf("look for the id: %w", err)
	}
	id := base
	for n := 2; slices.Contains(taken, id); n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	return id, nil
}

// edit locks a skill, checks the revision that the editor saw (0 skips the
// check) and runs fn on it.
func (s *Service) edit(ctx context.Context, actor capability.Actor, id string, ifRevision int64,
	fn func(ctx context.Context, tx pgx.Tx, subject uuid.UUID, row db.LockSkillRow) error,
) (Skill, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return Skill{}, err
	}
	var out Skill
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := queries.LockSkillNames(ctx, tx, actor.Workspace); err != nil {
			return fmt.Errorf("lock skills: %w", err)
		}
		row, err := queries.LockSkill(ctx, tx, db.LockSkillParams{Workspace: actor.Workspace, ID: id, Subject: subject})
		if err != nil {
			return fmt.Errorf("lock skill: %w", err)
		}
		if err := capability.May(actor, capability.ActSkills, capability.Ownership{}); err != nil {
			return err
		}
		if ifRevision != 0 && ifRevision != row.Revision {
			return fault.New(fault.Conflict, "stale_revision", "This skill was changed since you opened it.").
				Do("Look at the present text, then save your change on top of it.").With("revision", row.Revision)
		}
		if err := fn(ctx, tx, subject, row); err != nil {
			return err
		}
		out, err = s.skill(ctx, tx, actor.Workspace, subject, id)
		if fault.Is(err, fault.NotFound) {
			return nil // fn deleted it
		}
		return err
	})
	return out, err
}

// UpdateSkill replaces the working copy. ifRevision is the revision that the
// editor started from: another one by now is a stale_revision conflict; 0
// overwrites. Equal content changes nothing, the revision included.
func (s *Service) UpdateSkill(ctx context.Context, actor capability.Actor, id string, ifRevision int64, in SkillInput) (Skill, error) {
	return s.edit(ctx, actor, id, ifRevision, func(ctx context.Context, tx pgx.Tx, subject uuid.UUID, row db.LockSkillRow) error {
		old, err := decodeContent(row.Content)
		if err != nil {
			return err
		}
		doc, err := s.freeze(withoutStaleRaw(old, in.content()))
		if err != nil {
			return err
		}
		if doc.digest == row.Digest {
			return nil
		}
		if err := nameFree(ctx, tx, actor.Workspace, subject, id, in.Name, row.Draft); err != nil {
			return err
		}
		err = queries.UpdateSkill(ctx, tx, db.UpdateSkillParams{
			Workspace: actor.Workspace, ID: id, Name: in.Name, NameFold: capability.FoldName(in.Name),
			Description: in.Description, Content: doc.canonical, Digest: doc.digest, Leans: doc.leans,
		})
		if err != nil {
			return fmt.Errorf("update skill: %w", err)
		}
		if err := keepBody(ctx, tx, actor.Workspace, row.Digest, doc); err != nil {
			return err
		}
		return record(ctx, tx, actor, pg.Change{Topic: TopicSkill, Key: id}, pg.Entry{
			Action: "skill.update", Target: id, Detail: map[string]any{"digest": doc.digest, "before": row.Digest},
		})
	})
}

// withoutStaleRaw drops the author's original SKILL.md once an edit has left
// it behind: what was edited through fields no longer derives from it. Files
// lie beside it and leave it as it is.
func withoutStaleRaw(old, edited capability.Content) capability.Content {
	before, ok := old.Spec.(*capability.SkillSpec)
	after, ok2 := edited.Spec.(*capability.SkillSpec)
	if !ok || !ok2 || after.Raw == "" || after.Raw != before.Raw || capability.SameDocument(old, edited) {
		return edited
	}
	spec := *after
	spec.Raw = ""
	edited.Spec = &spec
	return edited
}

// ShareSkill turns the actor's draft into a skill of the workspace. Sharing
// what is shared changes nothing.
func (s *Service) ShareSkill(ctx context.Context, actor capability.Actor, id string) (Skill, error) {
	return s.edit(ctx, actor, id, 0, func(ctx context.Context, tx pgx.Tx, subject uuid.UUID, row db.LockSkillRow) error {
		if !row.Draft {
			return nil
		}
		if err := nameFree(ctx, tx, actor.Workspace, subject, id, row.Name, false); err != nil {
			return err
		}
		if err := queries.ShareSkill(ctx, tx, db.ShareSkillParams{Workspace: actor.Workspace, ID: id}); err != nil {
			return fmt.Errorf("share skill: %w", err)
		}
		return record(ctx, tx, actor, pg.Change{Topic: TopicSkill, Key: id}, pg.Entry{Action: "skill.share", Target: id})
	})
}

// DeleteSkill removes the skill and its stamps. What it was published as stays
// in the store.
func (s *Service) DeleteSkill(ctx context.Context, actor capability.Actor, id string, ifRevision int64) error {
	_, err := s.edit(ctx, actor, id, ifRevision, func(ctx context.Context, tx pgx.Tx, _ uuid.UUID, row db.LockSkillRow) error {
		if err := queries.DeleteSkill(ctx, tx, db.DeleteSkillParams{Workspace: actor.Workspace, ID: id}); err != nil {
			return fmt.Errorf("delete skill: %w", err)
		}
		if err := leaveBody(ctx, tx, actor.Workspace, row.Digest); err != nil {
			return err
		}
		if row.OriginPk != nil {
			if err := catalog.CountAdopters(ctx, tx, *row.OriginPk); err != nil {
				return err
			}
		}
		return record(ctx, tx, actor, pg.Change{Topic: TopicSkill, Key: id}, pg.Entry{
			Action: "skill.delete", Target: id, Detail: map[string]any{"name": row.Name, "digest": row.Digest},
		})
	})
	return err
}
