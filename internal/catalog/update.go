package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Patch changes a capability's metadata. What is nil stays as it is; nothing
// in it makes a version.
type Patch struct {
	Reach *capability.Reach
	// SharedWith are the targets of the reach subset. A target dropped here
	// loses what it adopted.
	SharedWith  *[]string
	Tags        *[]string
	Maintainers *[]string // subjects
	// Deprecated sets the deprecation; one without a note and successor takes
	// it away.
	Deprecated *Deprecation
	// IfRevision is the revision that the author saw; 0 does not care.
	IfRevision int64
}

// Update changes the metadata, all of it or nothing. Missing when the actor may
// not see the capability, Denied when he may not change that part of it,
// Invalid with every fault of the input, Conflict changed_since when
// IfRevision is not the present one.
func (s *Service) Update(ctx context.Context, actor capability.Actor, source, id string, p Patch) error {
	tags, fields := p.check()
	if err := fault.Fields(fields); err != nil {
		return err
	}
	var topic string
	return s.change(ctx, actor, source, id, change{
		action: "capability.update", may: p.may, ifRevision: p.IfRevision, topic: func() string { return topic },
		write: func(ctx context.Context, tx pgx.Tx, h *holding) (any, error) {
			before, changed := h.access, map[string]any{}
			if err := s.setReach(ctx, tx, actor, h, p, changed); err != nil {
				return nil, err
			}
			if err := setMaintainers(ctx, tx, h, p, changed); err != nil {
				return nil, err
			}
			if err := setRest(ctx, tx, actor, h, p, tags, changed); err != nil {
				return nil, err
			}
			if len(changed) == 0 {
				return nil, errUnchanged
			}
			topic = TopicCapability
			if narrowed(before, h.access) {
				topic = TopicRevoked
			}
			return changed, nil
		},
	})
}

func (p Patch) check() (tags []string, fields []fault.Field) {
	if p.Reach != nil && !slices.Contains(capability.Reaches, *p.Reach) {
		fields = append(fields, checkReach("unknown", nil)...)
	}
	if p.Tags != nil {
		var faults []fault.Field
		tags, faults = capability.NormalizeTags(*p.Tags)
		fields = append(fields, faults...)
	}
	if p.Deprecated != nil {
		fields = append(fields, p.Deprecated.check()...)
	}
	return tags, fields
}

func (p Patch) may(actor capability.Actor, a capability.Access) error {
	if err := capability.MayWrite(actor, a); err != nil {
		return err
	}
	if p.Maintainers != nil {
		return capability.MayNameMaintainers(actor, a)
	}
	return nil
}

func (d Deprecation) check() []fault.Field {
	fields := checkNote("/deprecated/note", d.Note)
	if d.Successor == "" {
		return fields
	}
	if _, _, ok := splitName(d.Successor); !ok {
		fields = append(fields, fault.Field{
			Path: "/deprecated/successor", Code: "bad_reference",
			Message: "A successor is written source/id, such as acme/tidy-inbox.",
		})
	}
	return fields
}

// setReach sets reach and targets as far as the patch says so.
func (s *Service) setReach(ctx context.Context, tx pgx.Tx, actor capability.Actor, h *holding, p Patch, changed map[string]any) error {
	want := h.access
	if p.Reach != nil {
		want.Reach = *p.Reach
	}
	if want.Reach != capability.ReachSubset {
		want.SharedWith = nil
	}
	if p.SharedWith != nil {
		want.SharedWith = *p.SharedWith
	}
	if err := fault.Fields(checkReach(want.Reach, want.SharedWith)); err != nil {
		return err
	}
	if want.Reach == h.access.Reach && sameSet(want.SharedWith, h.access.SharedWith) {
		return nil
	}
	if err := s.checkTargets(ctx, tx, actor, h.access.SharedWith, want); err != nil {
		return err
	}
	err := queries.SetReach(ctx, tx, db.SetReachParams{
		Reach: string(want.Reach), SharedWith: tagList(want.SharedWith), Audiences: want.Audiences(), Pk: h.Pk,
	})
	if err != nil {
		return fmt.Errorf("set reach: %w", err)
	}
	changed["reach"] = map[string]any{"from": h.access.Reach, "to": want.Reach, "sharedWith": want.SharedWith}
	h.access = want
	return nil
}

// narrowed reports whether someone who could read it before may not any more.
func narrowed(before, after capability.Access) bool {
	order := func(a capability.Access) int { return slices.Index(capability.Reaches, a.Reach) }
	lost := func(have, left []string) bool {
		return slices.ContainsFunc(have, func(s string) bool { return !slices.Contains(left, s) })
	}
	switch {
	case order(after) != order(before):
		return order(after) < order(before)
	case after.Reach == capability.ReachSubset:
		return lost(before.SharedWith, after.SharedWith)
	case after.Reach == capability.ReachPrivate:
		return before.CreatedBy != after.CreatedBy || lost(before.Maintainers, after.Maintainers)
	}
	return false
}

func setMaintainers(ctx context.Context, tx pgx.Tx, h *holding, p Patch, changed map[string]any) error {
	if p.Maintainers == nil || sameSet(*p.Maintainers, h.access.Maintainers) {
		return nil
	}
	ids, fields := parseSubjects(*p.Maintainers)
	members, err := queries.MembersAmong(ctx, tx, db.MembersAmongParams{Workspace: h.Source, Subjects: ids})
	if err != nil {
		return fmt.Errorf("look for members: %w", err)
	}
	for i, id := range ids {
		if id != uuid.Nil && !slices.Contains(members, id) {
			fields = append(fields, notMember(i))
		}
	}
	if err := fault.Fields(fields); err != nil {
		return err
	}
	h.access.Maintainers = subjects(ids)
	err = queries.SetMaintainers(ctx, tx, db.SetMaintainersParams{Maintainers: ids, Audiences: h.access.Audiences(), Pk: h.Pk})
	if err != nil {
		return fmt.Errorf("set maintainers: %w", err)
	}
	changed["maintainers"] = h.access.Maintainers
	return nil
}

// parseSubjects reads ids, in order; what is none is uuid.Nil and a fault.
func parseSubjects(in []string) (ids []uuid.UUID, fields []fault.Field) {
	ids = []uuid.UUID{}
	for i, s := range in {
		id, err := uuid.Parse(s)
		if err != nil {
			fields = append(fields, notMember(i))
		}
		if err != nil || !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, fields
}

func notMember(i int) fault.Field {
	return fault.Field{
		Path: fmt.Sprintf("/maintainers/%d", i), Code: "not_a_member",
		Message: "A maintainer is a member of the workspace that owns the capability.",
	}
}

func setRest(ctx context.Context, tx pgx.Tx, actor capability.Actor, h *holding, p Patch, tags []string, changed map[string]any) error {
	if p.Tags != nil && !slices.Equal(tags, h.Tags) {
		if err := queries.SetCapabilityTags(ctx, tx, db.SetCapabilityTagsParams{Tags: tags, Pk: h.Pk}); err != nil {
			return fmt.Errorf("set tags: %w", err)
		}
		changed["tags"] = tags
	}
	if p.Deprecated == nil {
		return nil
	}
	return setDeprecation(ctx, tx, actor, h, *p.Deprecated, changed)
}

func setDeprecation(ctx context.Context, tx pgx.Tx, actor capability.Actor, h *holding, d Deprecation, changed map[string]any) error {
	var raw json.RawMessage
	if d != (Deprecation{}) {
		var err error
		if raw, err = json.Marshal(d); err != nil {
			return fmt.Errorf("encode deprecation: %w", err)
		}
	}
	if string(raw) == string(h.Deprecated) {
		return nil
	}
	if d.Successor != "" {
		if _, err := successor(ctx, tx, actor, h, d.Successor); err != nil {
			return err
		}
	}
	if err := queries.SetDeprecated(ctx, tx, db.SetDeprecatedParams{Deprecated: raw, Pk: h.Pk}); err != nil {
		return fmt.Errorf("set deprecation: %w", err)
	}
	changed["deprecated"] = raw
	return nil
}

// successor finds what readers would be sent to: another capability that the
// actor sees and that has something to adopt, but none that sends them back.
func successor(ctx context.Context, tx pgx.Tx, actor capability.Actor, h *holding, ref string) (db.VisibleAmongRow, error) {
	refuse := func(code, message string) (db.VisibleAmongRow, error) {
		return db.VisibleAmongRow{}, fault.Fields([]fault.Field{{Path: "/deprecated/successor", Code: code, Message: message}})
	}
	if ref == h.name() {
		return refuse("successor_itself", "A capability does not follow itself; choose another one.")
	}
	rows, err := queries.VisibleAmong(ctx, tx, db.VisibleAmongParams{
		Workspace: actor.Workspace, Refs: []string{ref}, Audiences: actor.Viewer().Audiences(),
	})
	if err != nil {
		return db.VisibleAmongRow{}, fmt.Errorf("look the successor up: %w", err)
	}
	if len(rows) == 0 {
		return refuse("unknown_successor", fmt.Sprintf("There is no capability %s that you can see and that has a version to adopt.", ref))
	}
	follows, err := deprecation(rows[0].Deprecated)
	if err != nil {
		return db.VisibleAmongRow{}, err
	}
	if follows != nil && follows.Successor == h.name() {
		return refuse("successor_circle", ref+" is deprecated itself and sends its readers here.")
	}
	return rows[0], nil
}
