package agent

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
	"capstore/internal/registry"
)

// codeHookDenied is the code of what a hook refused: a call, a result, or a
// message. The message of a turn that ended with it reaches no model, in later
// turns either.
const codeHookDenied = "hook_denied"

// sessionHooks runs the hooks that watch the beginning of a conversation. It is
// called in every turn, once the message stands in the ledger, and runs them in
// the first one, and again as long as hooks have refused every message so far.
// What it adds goes before the message; the fault is a refusal with the code
// hook_denied.
func (s *Service) sessionHooks(ctx context.Context, snap *registry.Snapshot, actor capability.Actor, conversation, turn uuid.UUID) (added string, err error) {
	hooks := watchers(snap, capability.EventSessionStart, "")
	if len(hooks) == 0 {
		return "", nil
	}
	begun, err := queries.ConversationBegun(ctx, s.db, db.ConversationBegunParams{Conversation: conversation, Turn: turn})
	if err != nil || begun {
		return "", pg.Fault(err)
	}
	return s.turnHooks(ctx, hooks, occasion{event: capability.EventSessionStart, actor: actor, conversation: conversation, turn: turn, mode: snap.Mode})
}

// promptHooks shows the message, commands expanded, to the hooks that watch
// what members say. What they add goes after the text, marked as theirs, and
// stands in their outcomes for a later turn to read; the fault is a refusal
// with the code hook_denied, and then nothing reaches a model.
func (s *Service) promptHooks(ctx context.Context, snap *registry.Snapshot, actor capability.Actor, conversation, turn uuid.UUID, text string) (added string, err error) {
	hooks := watchers(snap, capability.EventUserPromptSubmit, "")
	return s.turnHooks(ctx, hooks, occasion{
		event: capability.EventUserPromptSubmit, actor: actor, conversation: conversation, turn: turn, mode: snap.Mode, text: text,
	})
}

func (s *Service) turnHooks(ctx context.Context, hooks []watcher, o occasion) (added string, err error) {
	v, err := s.hear(ctx, hooks, &o, nil)
	if err != nil {
		return "", err
	}
	if f := v.refused(o.event); f != nil {
		return "", f
	}
	return strings.Join(v.added, "\n\n"), nil
}

// turnEndHooks tells the hooks how the turn ended, with the last text that was
// said. Their answers are recorded and change nothing.
func (s *Service) turnEndHooks(ctx context.Context, snap *registry.Snapshot, actor capability.Actor, conversation, turn uuid.UUID, text string) {
	for _, w := range watchers(snap, capability.EventTurnEnd, "") {
		o := occasion{event: capability.EventTurnEnd, actor: actor, conversation: conversation, turn: turn, mode: snap.Mode, text: text}
		if _, err := s.hear(ctx, []watcher{w}, &o, nil); err != nil {
			s.log.WarnContext(ctx, "agent: hook at the end of a turn not heard", "hook", w.entry.Row.Key, "turn", turn, "error", err)
		}
	}
}

// added is what the outcome tells the model, "" where it tells nothing. A turn
// that is read back from the ledger finds the same text here.
func (o HookOutcome) added() string {
	if o.Context == "" {
		return ""
	}
	return hookText(o.Hook, o.Context)
}

// hookText is what a hook tells the model, marked as that hook's. Nothing in
// the text ends the mark before its end.
func hookText(hook, text string) string {
	return "<hook name=" + strconv.Quote(hook) + ">\n" + strings.ReplaceAll(text, "</hook", "<\\/hook") + "\n</hook>"
}
