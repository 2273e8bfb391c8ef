package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// save checks the edited config and writes what differs.
func (s *Service) save(ctx context.Context, tx pgx.Tx, e *edit, action, note string) error {
	if err := fault.Fields(e.next.Validate(s.opts.Rules)); err != nil {
		return err
	}
	if err := mayAdminister(e); err != nil {
		return err
	}
	if err := modelThere(ctx, tx, e); err != nil {
		return err
	}
	e.signAdoptions()
	if sameJSON(e.prev, e.next) {
		return nil
	}
	changed, err := s.checkAdoptions(ctx, tx, e)
	if err != nil {
		return err
	}
	if err := s.writeAdoptions(ctx, tx, e, changed); err != nil {
		return err
	}
	return insertConfig(ctx, tx, e, action, note, changed)
}

// sameJSON compares by what is stored: an empty list that was left out equals
// one that was given.
func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// mayAdminister refuses a member's change to what only an admin decides.
func mayAdminister(e *edit) error {
	p, n := e.prev, e.next
	if p.Model == n.Model && p.PermissionMode == n.PermissionMode && p.Slice == n.Slice && p.Definitions == n.Definitions &&
		sameJSON(p.Policy, n.Policy) && sameJSON(p.Channels, n.Channels) {
		return nil
	}
	return capability.May(e.actor, capability.ActSettings, capability.Ownership{})
}

// signAdoptions says who adopted what when: whoever pinned the version,
// whatever the edit claims. Otherwise equal adoptions so stay equal.
func (e *edit) signAdoptions() {
	for i := range e.next.Capabilities {
		a := &e.next.Capabilities[i]
		a.AdoptedBy, a.AdoptedAt = e.actor.Subject, e.at
		if p := e.prev.Adopted(a.Source, a.ID); p != nil && p.Ref == a.Ref {
			a.AdoptedBy, a.AdoptedAt = p.AdoptedBy, p.AdoptedAt
		}
	}
}

// delta is what a change does to one capability's adoption: prev is nil for a
// new one, next for one that ends.
type delta struct {
	prev, next *capability.Adoption
	target     target // of next
}

func (d delta) String() string {
	switch {
	case d.next == nil:
		return "- " + pinText(d.prev.Ref)
	case d.prev == nil:
		return "+ " + pinText(d.next.Ref)
	case d.prev.Ref != d.next.Ref:
		return pinText(d.prev.Ref) + " → " + d.next.Version
	}
	return "~ " + pinText(d.next.Ref)
}

func pinText(r capability.Ref) string { return r.Source + "/" + r.ID + "@" + r.Version }

// checkAdoptions finds the adoptions that differ and holds each new state to
// the rules of adoption.
func (s *Service) checkAdoptions(ctx context.Context, tx pgx.Tx, e *edit) ([]delta, error) {
	var out []delta
	for i := range e.prev.Capabilities {
		if a := &e.prev.Capabilities[i]; e.next.Adopted(a.Source, a.ID) == nil {
			out = append(out, delta{prev: a})
		}
	}
	for i := range e.next.Capabilities {
		a := &e.next.Capabilities[i]
		prev := e.prev.Adopted(a.Source, a.ID)
		if prev != nil && sameJSON(*prev, *a) {
			continue
		}
		t, err := e.lock(ctx, tx, a.Ref)
		if err != nil {
			return nil, err
		}
		if err := t.check(e, prev, a, fmt.Sprintf("/capabilities/%d", i)); err != nil {
			return nil, err
		}
		out = append(out, delta{prev: prev, next: a, target: t})
	}
	return out, namesFree(ctx, tx, e, out)
}

// writeAdoptions brings the adoption rows in line, touching only those that
// differ: a running call's check holds the others.
func (s *Service) writeAdoptions(ctx context.Context, tx pgx.Tx, e *edit, changed []delta) error {
	pks, err := adoptedPKs(ctx, tx, e.actor.Workspace)
	if err != nil {
		return err
	}
	for _, d := range changed {
		if d.next == nil {
			err = s.endAdoption(ctx, tx, e, d.prev.Ref, pks[unpinned(d.prev.Ref)])
		} else {
			err = putAdoption(ctx, tx, e, d)
		}
		if err != nil {
			return err
		}
	}
	return countAdopters(ctx, tx, changed, pks)
}

// countAdopters counts anew where an adoption began or ended.
func countAdopters(ctx context.Context, tx pgx.Tx, changed []delta, pks map[capability.Ref]int64) error {
	var moved []int64
	for _, d := range changed {
		switch {
		case d.prev == nil:
			moved = append(moved, d.target.capabilityPK)
		case d.next == nil:
			moved = append(moved, pks[unpinned(d.prev.Ref)])
		}
	}
	slices.Sort(moved)
	for _, pk := range moved {
		if err := catalog.CountAdopters(ctx, tx, pk); err != nil {
			return err
		}
	}
	return nil
}

// unpinned is the capability of a pin.
func unpinned(r capability.Ref) capability.Ref { return capability.Ref{Source: r.Source, ID: r.ID} }

func adoptedPKs(ctx context.Context, tx pgx.Tx, workspace string) (map[capability.Ref]int64, error) {
	rows, err := queries.AdoptedNames(ctx, tx, workspace)
	if err != nil {
		return nil, fmt.Errorf("read adoptions: %w", err)
	}
	out := make(map[capability.Ref]int64, len(rows))
	for _, r := range rows {
		out[capability.Ref{Source: r.Source, ID: r.ID}] = r.CapabilityPk
	}
	return out, nil
}

func putAdoption(ctx context.Context, tx pgx.Tx, e *edit, d delta) error {
	raw, err := json.Marshal(d.next)
	if err != nil {
		return fmt.Errorf("encode adoption: %w", err)
	}
	consented := []string{}
	if d.next.ConsentDigest != "" {
		consented = append(consented, d.next.ConsentDigest)
	}
	err = queries.PutAdoption(ctx, tx, db.PutAdoptionParams{
		Workspace: e.actor.Workspace, CapabilityPk: d.target.capabilityPK, VersionPk: d.target.versionPK,
		Channel: string(d.target.kind.Channel()), NameFold: capability.FoldName(d.target.content.Name),
		Adoption: raw, Consented: consented,
	})
	if err != nil {
		return fmt.Errorf("write adoption: %w", err)
	}
	return nil
}

// endAdoption removes the row. What members had switched on besides stays on
// at the pin that they saw, where it is published here.
func (s *Service) endAdoption(ctx context.Context, tx pgx.Tx, e *edit, ref capability.Ref, pk int64) error {
	version, err := queries.DeleteAdoption(ctx, tx, db.DeleteAdoptionParams{Workspace: e.actor.Workspace, CapabilityPk: pk})
	if err != nil {
		return fmt.Errorf("end adoption: %w", err)
	}
	if ref.Source != e.actor.Workspace {
		return nil
	}
	err = queries.KeepPin(ctx, tx, db.KeepPinParams{
		Workspace: e.actor.Workspace, Key: string(capability.CapabilityKey(ref.Source, ref.ID)), VersionPk: version,
	})
	if err != nil {
		return fmt.Errorf("keep pins: %w", err)
	}
	return nil
}

func insertConfig(ctx context.Context, tx pgx.Tx, e *edit, action, note string, changed []delta) error {
	subject, err := subjectOf(e.actor)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(e.next)
	if err != nil {
		return fmt.Errorf("encode agent config: %w", err)
	}
	version := int32(e.version + 1)
	err = queries.InsertConfig(ctx, tx, db.InsertConfigParams{
		Workspace: e.actor.Workspace, Version: version, Config: raw, Note: note, CreatedBy: &subject,
	})
	if err != nil {
		return fmt.Errorf("insert agent config: %w", err)
	}
	err = queries.SetConfigVersion(ctx, tx, db.SetConfigVersionParams{Workspace: e.actor.Workspace, Version: version})
	if err != nil {
		return fmt.Errorf("set agent config: %w", err)
	}
	adoptions := make([]string, len(changed))
	for i, d := range changed {
		adoptions[i] = d.String()
	}
	return record(ctx, tx, e.actor, pg.Change{Topic: TopicAgent}, pg.Entry{
		Action: action, Target: fmt.Sprintf("agent@%d", version), Detail: map[string]any{"note": note, "adoptions": adoptions},
	})
}
