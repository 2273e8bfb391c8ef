package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// AdoptInput pins a version for the workspace, or re-pins one. A field left
// nil keeps what an earlier adoption said as far as it still applies, and is
// the default for a first one.
type AdoptInput struct {
	Source, ID, Version string
	SecretBindings      map[string]string // declared → secret name
	Settings            map[string]string
	Egress              []string                        // approved hosts
	ToolClasses         map[string]capability.ToolClass // nil confirms the author's word
	EnableWrite         *bool
	WriteTools          []string // narrows EnableWrite
	ConsentDigest       string   // of foreign code, as shown
	Note                string
}

// Adopt pins the version in the workspace's agent config, as one new config
// version. Adopting it again unchanged cuts none; another version re-pins.
//
// What the actor may not read is missing. Conflicts: version_withdrawn,
// version_blocked, not_adoptable, reach_too_narrow, consent_required (its
// detail holds the digest), name_taken, and write_consent_required where a
// re-pin adds a writing tool under an opt-in for the whole capability and
// EnableWrite is not sent again. A binding, setting or host that the version
// does not declare is invalid. A secret left unbound is none of these: the
// tool needs setup until it is bound.
func (s *Service) Adopt(ctx context.Context, actor capability.Actor, in AdoptInput) (ConfigVersion, error) {
	return s.change(ctx, actor, "agent.adopt", AnyVersion, in.Note, func(ctx context.Context, tx pgx.Tx, e *edit) error {
		ref := capability.Ref{Source: in.Source, ID: in.ID, Version: in.Version}
		if _, err := capability.ParseVersion(ref.Version); err != nil {
			return err
		}
		t, err := e.lock(ctx, tx, ref)
		if err != nil {
			return err
		}
		prev := e.prev.Adopted(in.Source, in.ID)
		next, err := in.adoption(ctx, tx, actor.Workspace, prev, t)
		if err != nil {
			return err
		}
		if err := t.check(e, prev, &next, ""); err != nil {
			return err
		}
		if slot := e.next.Adopted(in.Source, in.ID); slot != nil {
			*slot = next
			return nil
		}
		e.next.Capabilities = append(e.next.Capabilities, next)
		return nil
	})
}

func (in AdoptInput) adoption(ctx context.Context, tx pgx.Tx, workspace string, prev *capability.Adoption, t target) (capability.Adoption, error) {
	if prev == nil {
		return in.fresh(t), nil
	}
	before, err := pinned(ctx, tx, workspace, prev.Ref)
	if err != nil {
		return capability.Adoption{}, err
	}
	return in.over(*prev, before, t)
}

// pinned reads the content of an adopted version, whoever may still see it.
func pinned(ctx context.Context, tx pgx.Tx, workspace string, ref capability.Ref) (capability.Content, error) {
	raw, err := queries.PinnedContent(ctx, tx, db.PinnedContentParams{Workspace: workspace, Source: ref.Source, ID: ref.ID})
	if err != nil {
		return capability.Content{}, fmt.Errorf("read the adopted version of %s: %w", pinText(ref), err)
	}
	return decodeContent(raw)
}

// fresh is a first adoption.
func (in AdoptInput) fresh(t target) capability.Adoption {
	return capability.Adoption{
		Ref: t.Ref, SecretBindings: in.SecretBindings, Settings: in.Settings, Egress: in.Egress,
		ToolClasses: in.classes(t.content.SuggestedClasses()), EnableWrite: in.EnableWrite != nil && *in.EnableWrite,
		WriteTools: in.WriteTools, ConsentDigest: in.ConsentDigest,
	}
}

func (in AdoptInput) classes(otherwise map[string]capability.ToolClass) map[string]capability.ToolClass {
	if in.ToolClasses != nil {
		return in.ToolClasses
	}
	return otherwise
}

// over lays the input over an earlier adoption, whose version held the content
// before.
func (in AdoptInput) over(prev capability.Adoption, before capability.Content, t target) (capability.Adoption, error) {
	a := prev
	a.Ref = t.Ref
	a.SecretBindings = pick(in.SecretBindings, declared(prev.SecretBindings, secretNames(t.content.Spec)))
	a.Settings = pick(in.Settings, declared(prev.Settings, settingNames(t.content.Spec)))
	if a.Egress = in.Egress; a.Egress == nil {
		a.Egress = kept(prev.Egress, hostsOf(t.content.Spec))
	}
	a.ToolClasses = in.classes(keptClasses(prev.ToolClasses, before.SuggestedClasses(), t.content.SuggestedClasses()))
	if in.WriteTools != nil {
		a.WriteTools = in.WriteTools
	}
	if in.EnableWrite != nil {
		if a.EnableWrite = *in.EnableWrite; !a.EnableWrite {
			a.WriteTools = in.WriteTools
		}
	}
	if in.ConsentDigest != "" {
		a.ConsentDigest = in.ConsentDigest
	}
	if added := addedWrites(prev, before, a, t.content); len(added) > 0 && a.EnableWrite && len(a.WriteTools) == 0 && in.EnableWrite == nil {
		return a, fault.New(fault.Conflict, "write_consent_required", "Version %s brings tools that write and that the workspace has not seen before.", t.Version).
			Do("Look at them, then say again whether the capability may write, or name the tools that may.").
			With("writeTools", added)
	}
	return a, nil
}

func pick(given, otherwise map[string]string) map[string]string {
	if given != nil {
		return given
	}
	return otherwise
}

// declared keeps the entries whose names the new version still declares.
func declared(values map[string]string, names []string) map[string]string {
	var out map[string]string
	for name, value := range values {
		if slices.Contains(names, name) {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out
}

func kept(values, allowed []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !slices.Contains(allowed, v) })
}

// keptClasses carries the adopter's word over to the new version for every
// tool on which the author's did not change; elsewhere the author's new word
// stands, so that a tool that began to write is not taken for a reader.
func keptClasses(adopter, before, after map[string]capability.ToolClass) map[string]capability.ToolClass {
	out := maps.Clone(after)
	for tool, class := range adopter {
		if before[tool] == after[tool] {
			if out == nil {
				out = map[string]capability.ToolClass{}
			}
			out[tool] = class
		}
	}
	return out
}

// addedWrites lists, sorted, the tools that the new adoption counts as writes
// and the former did not.
func addedWrites(prev capability.Adoption, before capability.Content, next capability.Adoption, after capability.Content) []string {
	old := toolsOf(before)
	var out []string
	for _, tool := range toolsOf(after) {
		if next.IsWrite(tool) && !(slices.Contains(old, tool) && prev.IsWrite(tool)) {
			out = append(out, tool)
		}
	}
	return out
}

// Unadopt ends the adoption: a revocation at once. Members' own choices stay;
// what the workspace had not adopted is missing.
func (s *Service) Unadopt(ctx context.Context, actor capability.Actor, source, id string) (ConfigVersion, error) {
	return s.change(ctx, actor, "agent.unadopt", AnyVersion, "", func(_ context.Context, _ pgx.Tx, e *edit) error {
		before := len(e.next.Capabilities)
		e.next.Capabilities = slices.DeleteFunc(e.next.Capabilities, func(a capability.Adoption) bool {
			return a.Source == source && a.ID == id
		})
		if len(e.next.Capabilities) == before {
			return fault.Missing()
		}
		return nil
	})
}
