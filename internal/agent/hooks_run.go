package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// watcher is a hook that an occasion concerns.
type watcher struct {
	entry registry.Entry
	spec  *capability.HookSpec // without its code
}

// watchers are the hooks of the snapshot that watch the event and the tool, in
// order of name: those that run, and those that would and cannot where that
// means a denial.
func watchers(snap *registry.Snapshot, event capability.Event, tool string) []watcher {
	var out []watcher
	for _, e := range snap.Entries {
		if e.Kind != registry.EntryHook || !e.Row.Enabled && !e.Row.Denies() {
			continue
		}
		spec := e.Row.Hook()
		about := event == capability.EventBeforeTool || event == capability.EventAfterTool
		if spec.Event == event && (!about || spec.Matches(tool)) {
			out = append(out, watcher{e, spec})
		}
	}
	slices.SortFunc(out, func(a, b watcher) int {
		return cmp.Or(cmp.Compare(a.entry.Row.Name, b.entry.Row.Name), cmp.Compare(a.entry.Row.Key, b.entry.Row.Key))
	})
	return out
}

// verdict is what the hooks of an occasion came to together.
type verdict struct {
	decision Decision
	reason   string
	hook     string   // whose word it is
	added    []string // for the model, each marked as its hook's
	heard    int      // how many have answered
}

// take counts one hook's answer: the strictest stands.
func (v *verdict) take(hook string, a HookAnswer) {
	if v.heard++; v.heard == 1 || strictness[a.Decision] > strictness[v.decision] {
		v.hook, v.decision, v.reason = hook, a.Decision, a.Reason
	}
	if a.Context != "" {
		v.added = append(v.added, hookText(hook, a.Context))
	}
}

// refused is the verdict as a fault, nil where nothing is refused. Who can only
// ask where nobody can be asked any more refuses.
func (v *verdict) refused(event capability.Event) *fault.Fault {
	if v.decision != HookDeny && (v.decision != HookAsk || event == capability.EventBeforeTool) {
		return nil
	}
	f := fault.New(fault.Denied, codeHookDenied, "The hook %s refused this.", v.hook).With("hook", v.hook)
	if v.reason != "" {
		f.Message = "The hook " + v.hook + " refused this: " + v.reason
	}
	return f.Do("Settings, Agent, lists the hooks, and who can change them.")
}

// hear tells the occasion to its hooks, one after the other in order of name,
// and returns what they came to. After a denial nobody else is asked. Each run
// stands in the ledger. rewrite takes new arguments or says why it cannot, which
// is then the hook's failure. The error is that of a stop, or our own.
func (s *Service) hear(ctx context.Context, hooks []watcher, o *occasion, rewrite func(json.RawMessage) error) (verdict, error) {
	v := verdict{decision: HookAllow}
	for _, w := range hooks {
		began := time.Now()
		answer, err := s.runHook(ctx, w, *o)
		if err != nil {
			return v, err
		}
		if answer.Arguments != nil {
			if err := rewrite(answer.Arguments); err != nil {
				answer = failedHook(w.spec, badRewrite(err))
			}
		}
		if !addsContext(o.event) {
			answer.Context = ""
		}
		if err := s.recordHook(ctx, w, *o, answer, time.Since(began)); err != nil {
			return v, err
		}
		if v.take(w.entry.Row.Name, answer); v.decision == HookDeny {
			break
		}
	}
	return v, nil
}

func badRewrite(err error) *fault.Fault {
	f := fault.From(err)
	out := fault.New(fault.Invalid, "hook_rewrote_badly", "The arguments that it gave instead do not fit: %s", f.Message).Because(err)
	out.Fields = f.Fields
	return out
}

// runHook runs one hook as a call is run: with the authority that it has now.
// What keeps it from running is its failure, and its failure mode decides.
func (s *Service) runHook(ctx context.Context, w watcher, o occasion) (HookAnswer, error) {
	if !w.entry.Row.Enabled {
		return failedHook(w.spec, cannotRun(w.entry.Row)), nil
	}
	answer, err := s.tryHook(ctx, w, o)
	if err != nil && ctx.Err() != nil {
		return HookAnswer{}, stoppedOr(ctx, err)
	}
	if err != nil {
		if fault.Is(err, fault.Internal) {
			s.log.ErrorContext(ctx, "agent: hook not run", "hook", w.entry.Row.Key, "error", err)
		}
		return failedHook(w.spec, fault.From(err)), nil
	}
	return answer, nil
}

func (s *Service) tryHook(ctx context.Context, w watcher, o occasion) (HookAnswer, error) {
	row := w.entry.Row
	err := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return s.workspace.Authorize(ctx, tx, o.actor, row.Call(workspace.Function{}))
	})
	if err != nil {
		return HookAnswer{}, err
	}
	content, err := s.workspace.Content(ctx, o.actor, row)
	if err != nil {
		return HookAnswer{}, err
	}
	spec, ok := content.Spec.(*capability.HookSpec)
	if !ok {
		return HookAnswer{}, fault.New(fault.Internal, "not_a_hook", "What is stored under this version is no hook.")
	}
	event, err := o.input()
	if err != nil {
		return HookAnswer{}, err
	}
	run, err := hookRun(spec, event, row.Source != o.actor.Workspace)
	if err != nil {
		return HookAnswer{}, err
	}
	out, err := s.sandbox.Run(ctx, run)
	if err != nil {
		return HookAnswer{}, err
	}
	return ReadHook(spec, out), nil
}

// cannotRun says why the member's agent has the hook and cannot run it.
func cannotRun(row workspace.Row) *fault.Fault {
	why := map[capability.Reason]string{
		capability.HeldConsent:     "the workspace has not consented to its code",
		capability.HeldPolicy:      "a policy of the workspace denies it",
		capability.HeldBlocked:     "its version was blocked",
		capability.HeldGone:        "it was deleted, or is no longer shared with this workspace",
		capability.HeldUnsupported: "this server cannot read it",
		capability.HeldSetup:       "it is not set up",
	}[row.Held]
	return fault.New(fault.Unavailable, "hook_cannot_run", "It cannot run: %s.", cmp.Or(why, string(row.Reason))).
		With("reason", string(row.Reason)).Do("Whoever may adopt here can pin another version, or give it up.")
}

// recordHook writes how the hook answered, even when the turn was stopped in
// the meantime.
func (s *Service) recordHook(ctx context.Context, w watcher, o occasion, a HookAnswer, took time.Duration) error {
	row := w.entry.Row
	out := HookOutcome{
		Hook: row.Name, Key: string(row.Key), Version: row.Version, Event: string(o.event), Ref: o.ref, Tool: o.tool,
		Decision: a.Decision, Reason: a.Reason, Arguments: a.Arguments, Context: a.Context, DurationMS: took.Milliseconds(),
	}
	if a.Failure != nil {
		f := failure(a.Failure)
		out.Failure = &f
	}
	return s.note(ctx, o.conversation, o.turn, EntryHookOutcome, out)
}
