package agent

import (
	"cmp"
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// authorize asks whether the call may start as things are now, before a hook
// runs or the member is bothered. What decides is the same question in start,
// with the row that starts the call.
func (s *Service) authorize(ctx context.Context, b *bound) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.authorizeIn(ctx, tx, b) })
}

// authorizeIn is authorize within the caller's transaction: what it rests on
// stays as it is until that ends.
func (s *Service) authorizeIn(ctx context.Context, tx pgx.Tx, b *bound) error {
	if err := s.workspace.Authorize(ctx, tx, b.Actor, b.authority()); err != nil {
		return err
	}
	if err := s.definitionIn(ctx, tx, b); err != nil {
		return err
	}
	return s.behindBuiltin(ctx, tx, b)
}

// definitionIn refuses a tool that its server describes otherwise by now than
// the workspace accepted.
func (s *Service) definitionIn(ctx context.Context, tx pgx.Tx, b *bound) error {
	if b.entry.Kind != registry.EntryMCP {
		return nil
	}
	held, err := registry.DefinitionHeld(ctx, tx, b.Actor.Workspace, &b.entry.Row, b.tool.Raw)
	if err != nil || !held {
		return err
	}
	rules, err := s.workspace.RulesIn(ctx, tx, b.Actor.Workspace)
	if err != nil || rules.Definitions == capability.DefinitionsNotice {
		return err
	}
	return definitionChanged(b.Name, b.entry.Row.Key)
}

func definitionChanged(tool string, key capability.Key) error {
	return fault.New(fault.Revoked, "definition_changed", "The server of %s describes it otherwise than the workspace accepted, or it is new there.", tool).
		Do("Somebody who may adopt here looks at the difference on its page in Settings, Tools, and accepts it.").With("key", string(key))
}

// authority is the call as the workspace authorizes it.
func (b *bound) authority() workspace.Call {
	tool := workspace.Function{Name: b.tool.Name, Write: b.tool.Write}
	if b.entry.Row.Kind != capability.KindSkill {
		tool.Raw = b.tool.Raw
	}
	call := b.entry.Row.Call(tool)
	call.Arguments = b.Arguments
	return call
}

// permission decides whether the call runs now, waits for its member's word,
// or is refused: by the mode, the workspace's policies, the hooks and what the
// member has said before. The mode is the stricter of the turn's and the
// workspace's present one.
func (s *Service) permission(ctx context.Context, b *bound) error {
	rules, err := s.workspace.Rules(ctx, b.Actor.Workspace)
	if err != nil {
		return err
	}
	verdict := rules.PolicyOf(capability.PolicyCall{
		Names: []string{string(b.entry.Row.Key), b.Name}, Tool: b.tool.Raw, Arguments: b.Arguments,
	})
	asking := capability.Asking{
		Mode:  capability.StricterOf(b.Mode, rules.PermissionMode),
		Write: b.tool.Write, Guarded: b.guarded || b.tool.Guarded || verdict.Guarded, Policy: verdict.Effect, HookAsks: b.hookAsks != "",
		Approved: b.approval != uuid.Nil, ByHand: b.Caller == CallerDirect, Rewritten: b.rewritten,
	}
	if capability.Decide(asking).Ask != "" {
		if asking.Standing, err = s.standing(ctx, b); err != nil {
			return err
		}
	}
	outcome := capability.Decide(asking)
	switch {
	case outcome.Deny != "":
		return denied(outcome.Deny, b, verdict)
	case outcome.Ask != "":
		return s.askMember(ctx, b, question{why: outcome.Ask, detail: detailOf(outcome.Ask, b, verdict), guarded: asking.Guarded})
	}
	return nil
}

// detailOf says in words of whoever asks why he does; "" where nobody said.
func detailOf(why capability.Why, b *bound, verdict capability.PolicyVerdict) string {
	switch why {
	case capability.WhyPolicy:
		return verdict.Note
	case capability.WhyHook:
		return b.hookAsks
	}
	return ""
}

func denied(code string, b *bound, verdict capability.PolicyVerdict) error {
	if code == workspace.RevokedPolicy {
		return workspace.DeniedByPolicy(verdict.Note)
	}
	return fault.New(fault.Denied, code, "%s writes, and this conversation only plans.", b.Name).
		Do("Leave plan mode to run it.")
}

// binding is all that the member's word on the call is about.
func (b *bound) binding() capability.Binding {
	return capability.Binding{
		Key: b.entry.Row.Key, Version: b.entry.Row.Version, Digest: b.entry.Row.Digest, Definition: b.definition(),
		Tool: b.Name, Raw: b.tool.Raw, Arguments: b.Arguments,
	}
}

// definition is the digest of the tool as its author describes it.
func (b *bound) definition() string {
	return capability.Definition{
		Name: b.origin(), Title: b.tool.Title, Description: b.tool.Description, InputSchema: b.tool.Schema,
	}.Digest()
}

// origin is the tool's name where it comes from.
func (b *bound) origin() string { return cmp.Or(b.tool.Raw, b.Name) }
