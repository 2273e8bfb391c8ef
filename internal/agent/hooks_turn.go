package agent

import (
	"context"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/registry"
)

// codeHookDenied is the code of what a hook refused: a call, a result, or a
// message. The message of a turn that ended with it reaches no model, in later
// turns either.
const codeHookDenied = "hook_denied"

// sessionHooks runs the hooks that watch the beginning of a conversation. It is
// called in every turn, once the message stands in the ledger, and runs them in
// the first one, and again as long as one of them has refused. What it adds
// goes before the message; the fault is a refusal with the code hook_denied.
func (s *Service) sessionHooks(ctx context.Context, snap *registry.Snapshot, actor capability.Actor, conversation, turn uuid.UUID) (added string, err error) {
	return "", nil
}

// promptHooks shows the message, commands expanded, to the hooks that watch
// what members say. What they add goes after the text, marked as theirs, and
// stands in their outcomes for a later turn to read; the fault is a refusal
// with the code hook_denied, and then nothing reaches a model.
func (s *Service) promptHooks(ctx context.Context, snap *registry.Snapshot, actor capability.Actor, conversation, turn uuid.UUID, text string) (added string, err error) {
	return "", nil
}

// turnEndHooks tells the hooks how the turn ended, with the last text that was
// said. Their answers are recorded and change nothing.
func (s *Service) turnEndHooks(ctx context.Context, snap *registry.Snapshot, actor capability.Actor, conversation, turn uuid.UUID, text string) {
}
