package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// target is a published version that an adoption pins or a copy is taken of,
// share-locked so that no revocation slips in before the transaction commits.
type target struct {
	capability.Ref
	capabilityPK, versionPK int64
	reach                   capability.Reach
	kind                    capability.Kind
	content                 capability.Content
	digest                  string
	withdrawn, blocked      bool
	blockedReason           string
}

// lockTarget finds the version among what the actor may read; a missing fault
// otherwise, tombstoned ones included.
func lockTarget(ctx context.Context, tx pgx.Tx, actor capability.Actor, subject uuid.UUID, ref capability.Ref) (target, error) {
	row, err := queries.AdoptionTarget(ctx, tx, db.AdoptionTargetParams{
		Source: ref.Source, ID: ref.ID, Version: ref.Version, Workspace: actor.Workspace, Subject: &subject,
	})
	if err != nil {
		return target{}, fmt.Errorf("find %s: %w", pinText(ref), err)
	}
	content, err := decodeContent(row.Content)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", pinText(ref), err)
	}
	return target{
		Ref: ref, capabilityPK: row.CapabilityPk, versionPK: row.VersionPk, reach: capability.Reach(row.Reach),
		kind: capability.Kind(row.Kind), content: content, digest: row.Digest,
		withdrawn: row.WithdrawnAt != nil, blocked: row.BlockedAt != nil, blockedReason: row.BlockedReason,
	}, nil
}

// lock is lockTarget once per pin and edit.
func (e *edit) lock(ctx context.Context, tx pgx.Tx, ref capability.Ref) (target, error) {
	if t, ok := e.targets[ref]; ok {
		return t, nil
	}
	subject, err := subjectOf(e.actor)
	if err != nil {
		return target{}, err
	}
	t, err := lockTarget(ctx, tx, e.actor, subject, ref)
	if err == nil {
		e.targets[ref] = t
	}
	return t, err
}

// usable refuses a version that nothing may newly refer to.
func (t target) usable() error {
	switch {
	case t.blocked:
		return t.blockedFault()
	case t.withdrawn:
		return fault.New(fault.Conflict, "version_withdrawn", "Version %s was withdrawn by its author.", t.Version).
			Do("Choose another version.")
	}
	return nil
}

func (t target) blockedFault() error {
	f := fault.New(fault.Conflict, "version_blocked", "Version %s was blocked by its owner: %s", t.Version, t.blockedReason).
		Do("Choose another version, or ask " + t.Source + " about it.")
	return f.With("reason", t.blockedReason)
}

// check holds an adoption to the rules, completes it with the author's word
// on its tools where the adopter gave none, and reports faults under path.
func (t target) check(e *edit, prev, a *capability.Adoption, path string) error {
	if err := t.adoptable(); err != nil {
		return err
	}
	repin := prev == nil || prev.Ref != a.Ref
	if repin || t.blocked { // a pin that is withdrawn keeps resolving, so its bindings may change
		if err := t.usable(); err != nil {
			return err
		}
	}
	if err := t.consented(e.actor.Workspace, a); err != nil {
		return err
	}
	if a.ToolClasses == nil {
		a.ToolClasses = t.content.SuggestedClasses()
	}
	fields := a.Check(t.content)
	for i := range fields {
		fields[i].Path = path + fields[i].Path
	}
	return fault.Fields(fields)
}

func (t target) adoptable() error {
	if t.kind.Adoptable() {
		if t.reach != capability.ReachPrivate {
			return nil
		}
		return fault.New(fault.Conflict, "reach_too_narrow", "This capability is private, so the other members of the workspace could not use it.").
			Do("Switch it on for yourself in your tools, or widen its reach to the workspace first.")
	}
	f := fault.New(fault.Conflict, "not_adoptable", "A capability of kind %s is not adopted.", t.kind).With("kind", string(t.kind))
	switch t.kind {
	case capability.KindSkill:
		f.Do("Copy it to the workspace's skill library.")
	case capability.KindEnvironment:
		f.Do("Import it into the workspace's environments.")
	default:
		f.Do("Copy it into your workspace as a capability of your own.")
	}
	return f
}

// consented demands the workspace's word on exactly this code where somebody
// else wrote it, and clears it where none is needed.
func (t target) consented(workspace string, a *capability.Adoption) error {
	if !capability.NeedsConsent(t.kind, t.Source, workspace) {
		a.ConsentDigest = ""
		return nil
	}
	if a.ConsentDigest == t.digest {
		return nil
	}
	return fault.New(fault.Conflict, "consent_required", "This runs code that %s wrote, so the workspace must consent to exactly this version.", t.Source).
		Do("Read the source, then adopt it with the digest that is shown.").
		With("digest", t.digest).With("source", t.Source).With("id", t.ID).With("version", t.Version)
}

// namesFree refuses two adoptions of one channel under names that the agent
// could not tell apart. It names the one that was there first.
func namesFree(ctx context.Context, tx pgx.Tx, e *edit, changed []delta) error {
	if !slices.ContainsFunc(changed, func(d delta) bool { return d.next != nil }) {
		return nil
	}
	rows, err := queries.AdoptedNames(ctx, tx, e.actor.Workspace)
	if err != nil {
		return fmt.Errorf("read adopted names: %w", err)
	}
	type slot struct{ channel, fold string }
	taken := map[slot]capability.Ref{}
	names := map[slot]string{}
	for _, r := range rows {
		ref := capability.Ref{Source: r.Source, ID: r.ID}
		if slices.ContainsFunc(changed, func(d delta) bool { return d.about(ref) }) {
			continue // its row is written anew, or ends
		}
		taken[slot{r.Channel, r.NameFold}], names[slot{r.Channel, r.NameFold}] = ref, r.Name
	}
	for _, d := range changed {
		if d.next == nil {
			continue
		}
		at := slot{string(d.target.kind.Channel()), capability.FoldName(d.target.content.Name)}
		if first, ok := taken[at]; ok {
			return nameTaken(d.target.content.Name, names[at], first)
		}
		taken[at], names[at] = unpinned(d.next.Ref), d.target.content.Name
	}
	return nil
}

// about reports whether the delta is of the capability.
func (d delta) about(ref capability.Ref) bool {
	return d.prev != nil && unpinned(d.prev.Ref) == ref || d.next != nil && unpinned(d.next.Ref) == ref
}

func nameTaken(name, other string, first capability.Ref) error {
	return fault.New(fault.Conflict, "name_taken", "%q cannot be told apart from %q, which the workspace adopted from %s/%s.",
		name, other, first.Source, first.ID).
		Do("End that adoption first, or ask the author to rename one of them.").
		With("source", first.Source).With("id", first.ID)
}
