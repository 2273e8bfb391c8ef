package workspace

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// StampInput says under which number the working copy is frozen: an explicit
// version that orders above the newest stamp, or a bump of it ("" is patch).
// The first stamp is 1.0.0 unless told.
type StampInput struct {
	Version string
	Bump    string
	Note    string
	// IfRevision is the revision of the working copy that the author means to
	// freeze; another one by now is a stale_revision conflict. 0 takes what is
	// there.
	IfRevision int64
}

const maxNote = 500 // characters

// StampSkill freezes the working copy. An existing number is a stamp_exists
// conflict. A stamp is no edit: UpdatedAt and the revision stay.
func (s *Service) StampSkill(ctx context.Context, actor capability.Actor, id string, in StampInput) (Skill, error) {
	return s.edit(ctx, actor, id, in.IfRevision, func(ctx context.Context, tx pgx.Tx, subject uuid.UUID, _ db.LockSkillRow) error {
		_, err := s.stamp(ctx, tx, actor, subject, id, in)
		return err
	})
}

// stamp freezes the skill, which the transaction has locked, and returns the
// number.
func (s *Service) stamp(ctx context.Context, tx pgx.Tx, actor capability.Actor, subject uuid.UUID, id string, in StampInput) (string, error) {
	if err := checkNote(in.Note); err != nil {
		return "", err
	}
	skill, err := s.skill(ctx, tx, actor.Workspace, subject, id)
	if err != nil {
		return "", err
	}
	version, err := nextStamp(skill, in)
	if err != nil {
		return "", err
	}
	canonical, err := skill.Content.Canonical()
	if err != nil {
		return "", err
	}
	err = queries.InsertStamp(ctx, tx, db.InsertStampParams{
		Workspace: actor.Workspace, SkillID: id, Version: version.String(), SortKey: version.SortKey(),
		Content: string(canonical), Digest: skill.Digest, Note: in.Note, StampedBy: subject,
	})
	if err != nil {
		return "", fmt.Errorf("insert stamp: %w", err)
	}
	return version.String(), record(ctx, tx, actor, pg.Change{Topic: TopicSkill, Key: id}, pg.Entry{
		Action: "skill.stamp", Target: id + "@" + version.String(), Detail: map[string]any{"digest": skill.Digest, "note": in.Note},
	})
}

func nextStamp(skill Skill, in StampInput) (capability.Version, error) {
	if skill.Stamp == nil {
		return capability.NextVersion(nil, in.Version, in.Bump)
	}
	if in.Version == skill.Stamp.Version {
		return capability.Version{}, fault.New(fault.Conflict, "stamp_exists", "%s is stamped already and never changes.", in.Version).
			Do("Take a greater version, or leave it out to get the next one.").With("digest", skill.Stamp.Digest)
	}
	newest, err := capability.ParseVersion(skill.Stamp.Version)
	if err != nil {
		return capability.Version{}, fmt.Errorf("newest stamp of %s: %w", skill.ID, err)
	}
	return capability.NextVersion(&newest, in.Version, in.Bump)
}

func checkNote(note string) error {
	if len([]rune(note)) <= maxNote && capability.PlainText(note) == note {
		return nil
	}
	return fault.Fields([]fault.Field{{
		Path: "/note", Code: "bad_note",
		Message: fmt.Sprintf("A note is one line of plain text of at most %d characters.", maxNote),
	}})
}

// Stamps lists the skill's stamps, newest first; a missing fault for a skill
// that the actor does not see.
func (s *Service) Stamps(ctx context.Context, actor capability.Actor, id string) ([]Stamp, error) {
	skill, err := s.Skill(ctx, actor, id)
	if err != nil || skill.Stamp == nil {
		return nil, err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	return s.stamps(ctx, s.db, actor.Workspace, subject, id)
}

func (s *Service) stamps(ctx context.Context, h db.DBTX, workspace string, subject uuid.UUID, id string) ([]Stamp, error) {
	rows, err := queries.StampsOf(ctx, h, db.StampsOfParams{Workspace: workspace, ID: id, Subject: subject})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list stamps: %w", err))
	}
	out := make([]Stamp, len(rows))
	for i, r := range rows {
		out[i] = Stamp{r.Version, r.Digest, r.Note, person(&r.StampedBy, r.Author), r.StampedAt}
	}
	return out, nil
}

// StampedContent returns what the stamp froze; the empty version is the
// working copy. Missing is a missing fault.
func (s *Service) StampedContent(ctx context.Context, actor capability.Actor, id, version string) (capability.Content, error) {
	if version == "" {
		skill, err := s.Skill(ctx, actor, id)
		return skill.Content, err
	}
	subject, err := subjectOf(actor)
	if err != nil {
		return capability.Content{}, err
	}
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return capability.Content{}, err
	}
	raw, err := queries.StampContent(ctx, s.db, db.StampContentParams{
		Workspace: actor.Workspace, ID: id, Version: version, Subject: subject,
	})
	if err != nil {
		return capability.Content{}, pg.Fault(fmt.Errorf("read stamp: %w", err))
	}
	return decodeContent(raw)
}

// SkillDiff compares two stamps of a skill. An empty version is the working
// copy.
func (s *Service) SkillDiff(ctx context.Context, actor capability.Actor, id, base, candidate string) (capability.Changes, error) {
	before, err := s.StampedContent(ctx, actor, id, base)
	if err != nil {
		return capability.Changes{}, err
	}
	after, err := s.StampedContent(ctx, actor, id, candidate)
	if err != nil {
		return capability.Changes{}, err
	}
	return capability.Diff(before, after), nil
}
