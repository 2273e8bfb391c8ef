package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/toolschema"
)

// Caller says who makes a call. All of them come through the same door.
type Caller string

const (
	CallerDirect Caller = "direct" // the member's own hand
	CallerModel  Caller = "model"
)

// Request is one call, as its caller names it.
type Request struct {
	Actor        capability.Actor
	Conversation uuid.UUID
	Turn         uuid.UUID
	Name         string // the name that the model sees
	// Ref is the request within the turn: what its result, its approval and a
	// model's own id for it hang on. Unique in the turn; "" for a single call.
	Ref       string
	Arguments json.RawMessage // an object; nil counts as {}
	Caller    Caller
	// Limits narrow what a run may call, whatever else allows it.
	Limits []RunLimit
	Mode   capability.PermissionMode

	// surface is what the turn has loaded; nil outside one.
	surface *surface
}

// bound is a request whose name has been found: what will run, and as what.
type bound struct {
	Request
	entry  registry.Entry
	tool   registry.Tool
	schema *toolschema.Schema // nil where the schema is not known yet
	hints  []fault.Field
	call   uuid.UUID
	// on is what a search loads its finds into, server what the broker lists.
	on     *surface
	server registry.Entry
	// guarded says that the action asks in every mode but bypass.
	guarded bool
	// hookAsks is why a hook wants the member asked; rewritten that one changed
	// the arguments that the caller gave.
	hookAsks  string
	rewritten bool
	// approval is the member's word on this very call; uuid.Nil without one.
	approval uuid.UUID
}

// Call takes one call through the door:
//
//	resolve name → schema → run limits → availability → authorization → hooks
//	before → schema again if rewritten → permission → authorization again, with
//	the ledger row that starts the call → run → hooks after → ledger
//
// What the caller can mend (an unknown name, wrong arguments, a right that was
// withdrawn, a program that failed) comes back as a ToolResult with a code and
// stands in the ledger; the error is for what is our own fault, and then
// nothing ran. A call that was refused had no effect.
//
// A call that waits for its member's word is a *Waiting error: nothing of it
// has started, and its approval says when to come again.
func (s *Service) Call(ctx context.Context, snap *registry.Snapshot, req Request) (ToolResult, error) {
	b, err := s.admit(snap, req)
	if err == nil {
		err = s.decide(ctx, snap, b)
	} else {
		err = s.sinceAsked(ctx, req, err)
	}
	if err != nil {
		return s.refuse(ctx, req, err)
	}
	watched, done := s.running.watched(ctx, b)
	defer done()
	if err := s.start(ctx, snap, b); err != nil {
		return s.refuse(ctx, req, err)
	}
	began := time.Now()
	result := s.run(watched, b)
	result.Name, result.Ref, result.DurationMS = b.Name, b.Ref, time.Since(began).Milliseconds()
	result, err = s.finish(ctx, b, s.hooksAfter(ctx, snap, b, result))
	return result.Seen(), err
}

// Waiting says that a call waits for its member's word.
type Waiting struct{ Approval uuid.UUID }

func (w *Waiting) Error() string { return "the call waits for approval " + w.Approval.String() }

// admit decides all that the bound snapshot and the arguments decide.
func (s *Service) admit(snap *registry.Snapshot, req Request) (*bound, error) {
	b, err := s.resolve(snap, req)
	if err != nil {
		return nil, err
	}
	if err := b.checkArguments(); err != nil {
		return nil, err
	}
	if err := b.admitted(snap); err != nil {
		return nil, err
	}
	return b, b.withinLimits()
}

// decide asks those who have a say before anything runs: the rights as they
// are now, the hooks, which may rewrite the arguments, and then the permission
// rules, which may wait. A call that waited comes with the arguments that its
// member was shown; the hooks have had their say on them.
func (s *Service) decide(ctx context.Context, snap *registry.Snapshot, b *bound) error {
	asked, err := s.askedBefore(ctx, b)
	if err != nil {
		return err
	}
	if err := s.authorize(ctx, b); err != nil {
		return err
	}
	if !asked {
		if err := s.hooksBefore(ctx, snap, b); err != nil {
			return err
		}
	}
	return s.permission(ctx, b)
}
