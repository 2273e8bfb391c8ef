package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// hooksBefore runs the hooks that watch the tool. It returns a fault where one
// denies, and leaves in b what one rewrote or wants asked.
func (s *Service) hooksBefore(ctx context.Context, snap *registry.Snapshot, b *bound) error {
	hooks := watchers(snap, capability.EventBeforeTool, b.Name)
	if len(hooks) == 0 {
		return nil
	}
	o := b.occasion(capability.EventBeforeTool)
	v, err := s.hear(ctx, hooks, &o, func(arguments json.RawMessage) error {
		if err := s.rewrite(snap, b, arguments); err != nil {
			return err
		}
		o.arguments = b.Arguments
		return nil
	})
	if err != nil {
		return err
	}
	if f := v.refused(o.event); f != nil {
		return f
	}
	if v.decision == HookAsk {
		b.hookAsks = strings.TrimSuffix(v.hook+": "+v.reason, ": ")
	}
	return nil
}

// rewrite puts other arguments in place of the caller's. They pass what his
// passed: the name is found again, since it may hang on them, and so do schema
// and limits.
func (s *Service) rewrite(snap *registry.Snapshot, b *bound, arguments json.RawMessage) error {
	req := b.Request
	req.Arguments = arguments
	fresh, err := s.admit(snap, req)
	if err != nil {
		return err
	}
	fresh.hookAsks, fresh.rewritten = b.hookAsks, true
	*b = *fresh
	return nil
}

// hooksAfter tells the hooks how the call ended and returns the result as they
// leave it. It stays recorded whatever they say; what one refuses is withheld
// from the model.
func (s *Service) hooksAfter(ctx context.Context, snap *registry.Snapshot, b *bound, result ToolResult) ToolResult {
	hooks := watchers(snap, capability.EventAfterTool, b.Name)
	if len(hooks) == 0 || ctx.Err() != nil && len(result.Content) == 0 {
		return result
	}
	o := b.occasion(capability.EventAfterTool)
	o.result = &result
	v, err := s.hear(ctx, hooks, &o, nil)
	if err != nil { // not every hook has seen it
		v = unheard(hooks, v, err)
		s.log.WarnContext(ctx, "agent: hooks after a call not heard", "tool", b.Name, "call", b.call, "error", err)
	}
	if f := v.refused(o.event); f != nil {
		result.Withheld = f.Message
	}
	result.Added = strings.Join(v.added, "\n\n")
	return result
}

// afterTakes is how long the hooks after a call may take together: it counts as
// running until they have seen its result.
func afterTakes(snap *registry.Snapshot, tool string) (total time.Duration) {
	for _, w := range watchers(snap, capability.EventAfterTool, tool) {
		total += cmp.Or(time.Duration(w.spec.TimeoutSec)*time.Second, sandbox.DefaultTimeout)
	}
	return total
}

// unheard is the verdict where not all hooks could be told: of the others,
// those that fail closed deny.
func unheard(hooks []watcher, v verdict, err error) verdict {
	for _, w := range hooks[v.heard:] {
		v.take(w.entry.Row.Name, failedHook(w.spec, fault.From(err)))
	}
	return v
}

func (b *bound) occasion(event capability.Event) occasion {
	return occasion{
		event: event, actor: b.Actor, conversation: b.Conversation, turn: b.Turn, mode: b.Mode,
		ref: b.Ref, tool: b.Name, arguments: b.Arguments,
	}
}
