package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/secret"
	"capstore/internal/toolschema"
	"capstore/internal/workspace"
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
	Name         string          // the name that the model sees
	Arguments    json.RawMessage // an object; nil counts as {}
	Caller       Caller
	Mode         capability.PermissionMode
}

// bound is a request whose name has been found: what will run, and as what.
type bound struct {
	Request
	entry  registry.Entry
	tool   registry.Tool
	schema *toolschema.Schema // nil where the schema is not known yet
	hints  []fault.Field
	call   uuid.UUID
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
func (s *Service) Call(ctx context.Context, snap *registry.Snapshot, req Request) (ToolResult, error) {
	b, err := s.admit(snap, req)
	if err == nil {
		err = s.start(ctx, snap, b)
	}
	if err != nil {
		return s.refuse(ctx, req, err)
	}
	began := time.Now()
	result := s.run(ctx, b)
	result.Name, result.DurationMS = b.Name, time.Since(began).Milliseconds()
	return s.finish(ctx, b, result)
}

// admit decides all that the bound snapshot and the arguments decide.
func (s *Service) admit(snap *registry.Snapshot, req Request) (*bound, error) {
	b, err := s.resolve(snap, req)
	if err != nil {
		return nil, err
	}
	if err := b.checkArguments(); err != nil {
		return nil, err
	}
	return b, permit(b)
}

// resolve finds the name in the snapshot. Unknown names are values: the
// answer names what is near.
func (s *Service) resolve(snap *registry.Snapshot, req Request) (*bound, error) {
	if len(req.Arguments) == 0 {
		req.Arguments = json.RawMessage("{}")
	}
	if entry, tool, ok := snap.Tool(req.Name); ok {
		return &bound{Request: req, entry: entry, tool: tool}, nil
	}
	if b, ok := resolveSkill(snap, req); ok {
		return b, nil
	}
	if _, ok := snap.Skill(req.Name); ok {
		return nil, fault.New(fault.Invalid, "not_a_tool", "%q is a skill. Load it with use_skill.", req.Name)
	}
	if entry, ok := snap.Withheld(req.Name); ok {
		return nil, fault.New(fault.Denied, "tool_"+string(entry.Standing), "%s cannot be run now (%s).", req.Name, entry.Row.Reason).
			With("reason", string(entry.Row.Reason)).With("key", string(entry.Row.Key)).Do("Its page in Settings, Tools, says why, and who can change it.")
	}
	f := fault.New(fault.Invalid, "unknown_tool", "There is no tool named %q here.", req.Name)
	if near := jsonx.Nearest(req.Name, snap.ToolNames()); near != "" {
		f.With("near", near).Do("Did you mean " + near + "?")
	}
	return nil, f
}

// checkArguments holds the arguments to the tool's own schema. Nothing is
// coerced: every fault names its path, what was expected and what was found.
func (b *bound) checkArguments() error {
	if err := jsonx.Check(b.Arguments, maxArguments); err != nil {
		return err
	}
	if b.tool.Schema == nil {
		return nil // the server that owns the tool is the one that knows
	}
	schema, err := toolschema.Compile(b.tool.Schema)
	if err != nil {
		return err
	}
	b.schema, b.hints = schema, schema.Hints(b.Arguments)
	return fault.Fields(schema.Validate(b.Arguments))
}

// permit applies the permission mode. A call that the member makes by hand is
// his word for it; plan lets nothing write, whoever asks.
func permit(b *bound) error {
	if b.Mode == capability.ModePlan && b.tool.Write {
		return fault.New(fault.Denied, "plan_mode", "%s writes, and this conversation only plans.", b.Name).
			Do("Leave plan mode to run it.")
	}
	if b.Caller != CallerDirect && b.tool.Write && b.Mode != capability.ModeBypass {
		return fault.New(fault.Denied, "needs_approval", "%s writes and needs the member's approval.", b.Name)
	}
	return nil
}

// start is the moment at which the call begins: authority as it is now and the
// ledger row commit together, so that none starts after a revocation has
// committed. It fails closed: when the check cannot be made, the call is refused.
func (s *Service) start(ctx context.Context, snap *registry.Snapshot, b *bound) error {
	call, err := uuid.NewV7()
	if err != nil {
		return err
	}
	b.call = call
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, tool := b.entry.Row, workspace.Function{Name: b.tool.Name, Write: b.tool.Write}
		if row.Kind != capability.KindSkill {
			tool.Raw = b.tool.Raw
		}
		if err := s.workspace.Authorize(ctx, tx, b.Actor, row.Call(tool)); err != nil {
			return err
		}
		if err := queries.StartCall(ctx, tx, db.StartCallParams{
			Call: call, Conversation: b.Conversation, Turn: b.Turn, Tool: b.Name, Seconds: endsBy(b).Seconds(),
		}); err != nil {
			return err
		}
		if names := b.secretNames(); len(names) > 0 {
			if err := secret.Used(ctx, tx, b.Actor, string(row.Key), names); err != nil {
				return err
			}
		}
		if b.tool.Write {
			if err := pg.Audit(ctx, tx, pg.Entry{Workspace: b.Actor.Workspace, Subject: b.Actor.Subject,
				Action: "tool.write", Target: string(b.entry.Row.Key) + "@" + b.entry.Row.Version,
				Detail: map[string]any{"tool": b.Name, "raw": b.tool.Raw, "call": call, "digest": b.entry.Row.Digest}}); err != nil {
				return err
			}
		}
		_, err := write(ctx, tx, b.Conversation, b.Turn, EntryToolCall, &call, b.record(snap))
		return err
	})
}

func (b *bound) record(snap *registry.Snapshot) ToolCall {
	return ToolCall{
		Name: b.Name, Raw: b.tool.Raw, Key: string(b.entry.Row.Key), Source: b.entry.Row.Source, ID: b.entry.Row.ID,
		Version: b.entry.Row.Version, Digest: b.entry.Row.Digest, Epoch: snap.Epoch, Snapshot: snap.Digest,
		Caller: b.Caller, Write: b.tool.Write, Arguments: b.Arguments, Hints: b.hints, Secrets: b.secretNames(),
	}
}

// refuse records a call that never started, in the ledger and the audit, and
// returns the refusal as a value.
func (s *Service) refuse(ctx context.Context, req Request, cause error) (ToolResult, error) {
	if fault.Is(cause, fault.Internal) {
		return ToolResult{}, cause
	}
	f := failure(cause)
	result := ToolResult{Name: req.Name, IsError: true, Code: f.Code, Message: f.Message, Action: f.Action, Errors: f.Errors}
	err := s.db.Tx(context.WithoutCancel(ctx), func(ctx context.Context, tx pgx.Tx) error {
		if !fault.Is(cause, fault.Invalid) {
			if err := pg.Audit(ctx, tx, pg.Entry{Workspace: req.Actor.Workspace, Subject: req.Actor.Subject,
				Action: "tool.refused", Target: req.Name, Detail: map[string]any{"code": f.Code}}); err != nil {
				return err
			}
		}
		_, err := write(ctx, tx, req.Conversation, req.Turn, EntryError, nil, f)
		return err
	})
	if fault.Is(err, fault.Unavailable) {
		return result, nil // the refusal holds although it could not be written down
	}
	return result, err
}

// finishTries is how often the end of a call is written when the database is
// away just then; each try waits for it by itself, too.
const finishTries = 5

// finish writes how the call ended. It does so even when the turn was stopped
// in the meantime, and waits for a database that is away: what has run must
// not look as if nobody knew.
func (s *Service) finish(ctx context.Context, b *bound, result ToolResult) (ToolResult, error) {
	ctx = context.WithoutCancel(ctx)
	stored, artifacts := fitLedger(result)
	for try := 1; ; try++ {
		done, err := s.writeResult(ctx, b, stored, artifacts)
		if err == nil || try == finishTries || !fault.Is(err, fault.Unavailable) {
			return done, err
		}
		<-time.After(time.Duration(try) * time.Second)
	}
}

func (s *Service) writeResult(ctx context.Context, b *bound, stored ToolResult, artifacts []artifact) (ToolResult, error) {
	err := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		stored.Artifacts = nil
		for _, a := range artifacts {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			if err := queries.InsertArtifact(ctx, tx, db.InsertArtifactParams{
				ID: id, Conversation: b.Conversation, MediaType: a.mediaType, Content: a.content,
			}); err != nil {
				return err
			}
			stored.Artifacts = append(stored.Artifacts, Artifact{ID: id, MediaType: a.mediaType, Bytes: len(a.content)})
		}
		ended, err := queries.EndCall(ctx, tx, b.call)
		if err != nil || ended == 0 {
			return err // swept in the meantime: it stands as interrupted, and once is enough
		}
		_, err = write(ctx, tx, b.Conversation, b.Turn, EntryToolResult, &b.call, stored)
		return err
	})
	return stored, err
}
