package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/workspace"
)

// heldReason is why a tool cannot be used whose server describes it otherwise
// than the workspace accepted.
const heldReason = "Its server describes it otherwise than before, or it is new there. Somebody who may adopt has to accept that."

// adoptedVersion is what a server's accepted definitions hang on: the pinned
// version, or the entry where it was wired by hand.
func adoptedVersion(row *workspace.Row) string { return cmp.Or(row.Version, row.Digest) }

// definition is what the server says of the tool.
func (t *ObservedTool) definition() capability.Definition {
	return capability.Definition{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.Schema, OutputSchema: t.Output, Annotations: t.Annotations,
	}
}

// pin compares what a server lists with what the workspace accepted, and
// returns how many tools are held now that were not, or no longer are. The
// first list after an adoption is accepted as it is.
func pin(ctx context.Context, tx pgx.Tx, of string, row *workspace.Row, tools []ObservedTool) (int64, error) {
	at := db.PinnedDefinitionsParams{Workspace: of, Key: string(row.Key), Version: adoptedVersion(row)}
	first, err := queries.MarkDemanded(ctx, tx, db.MarkDemandedParams(at))
	if err != nil {
		return 0, err
	}
	rows, err := queries.PinnedDefinitions(ctx, tx, at)
	if err != nil {
		return 0, err
	}
	pinned := make(map[string]db.PinnedDefinitionsRow, len(rows))
	for _, r := range rows {
		pinned[r.Tool] = r
	}
	moved, done := int64(0), map[string]bool{}
	for i := range tools {
		t := &tools[i]
		if t.Refused != "" || done[t.Name] {
			continue
		}
		done[t.Name] = true
		n, err := pinOne(ctx, tx, at, t, pinned[t.Name], first > 0)
		if err != nil {
			return 0, err
		}
		moved += n
	}
	return moved, nil
}

func pinOne(ctx context.Context, tx pgx.Tx, at db.PinnedDefinitionsParams, t *ObservedTool, was db.PinnedDefinitionsRow, first bool) (int64, error) {
	def := t.definition()
	raw, err := json.Marshal(def)
	if err != nil {
		return 0, fault.New(fault.Invalid, "definition_unreadable", "What the server says of %s cannot be stored.", t.Name).Because(err)
	}
	digest := def.Digest()
	switch {
	case first:
		return 0, queries.PinDefinition(ctx, tx, db.PinDefinitionParams{
			Workspace: at.Workspace, Key: at.Key, Version: at.Version, Tool: t.Name, Digest: digest, Definition: raw,
		})
	case was.Digest == digest && was.OfferedDigest == "", was.OfferedDigest == digest:
		return 0, nil
	case was.Digest == digest:
		return 1, queries.TakeBackOffer(ctx, tx, db.TakeBackOfferParams{Workspace: at.Workspace, Key: at.Key, Version: at.Version, Tool: t.Name})
	}
	return 1, queries.OfferDefinition(ctx, tx, db.OfferDefinitionParams{
		Workspace: at.Workspace, Key: at.Key, Version: at.Version, Tool: t.Name, Digest: digest, Definition: raw,
	})
}

// hold withholds the tools of the entry whose definitions wait to be accepted.
// A workspace that only wants to be told of changes uses them.
func (e *Entry) hold(config capability.AgentConfig, held []string) {
	if config.Definitions == capability.DefinitionsNotice {
		return
	}
	for _, h := range held {
		version, tool, _ := strings.Cut(h, "\n")
		if version != adoptedVersion(&e.Row) {
			continue
		}
		for i := range e.Tools {
			if t := &e.Tools[i]; t.Raw == tool && t.Refused == "" {
				t.Refused, t.Held = heldReason, true
			}
		}
	}
}

// DefinitionHeld reports whether the tool of the row, by its name there, waits
// to be accepted now. The answer holds until the transaction ends.
func DefinitionHeld(ctx context.Context, tx pgx.Tx, of string, row *workspace.Row, tool string) (bool, error) {
	held, err := queries.DefinitionHeld(ctx, tx, db.DefinitionHeldParams{
		Workspace: of, Key: string(row.Key), Version: adoptedVersion(row), Tool: tool,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return held, err
}

// ToolDefinition is a tool that its server describes otherwise than the
// workspace accepted.
type ToolDefinition struct {
	Tool     string
	Accepted *capability.Definition // nil for a tool that is new
	Offered  capability.Definition
	Digest   string // of what is offered
	Since    time.Time
}

// HeldDefinitions lists what waits to be accepted for the server of the row.
func (r *Registry) HeldDefinitions(ctx context.Context, actor capability.Actor, row workspace.Row) ([]ToolDefinition, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return nil, err
	}
	rows, err := queries.HeldDefinitions(ctx, r.db, db.HeldDefinitionsParams{
		Workspace: actor.Workspace, Key: string(row.Key), Version: adoptedVersion(&row),
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read definitions: %w", err))
	}
	out := make([]ToolDefinition, len(rows))
	for i, held := range rows {
		d := ToolDefinition{Tool: held.Tool, Digest: held.OfferedDigest, Since: held.At}
		if err := json.Unmarshal(held.Offered, &d.Offered); err != nil {
			return nil, fmt.Errorf("stored definition of %s: %w", held.Tool, err)
		}
		if held.Digest != "" {
			d.Accepted = &capability.Definition{}
			if err := json.Unmarshal(held.Definition, d.Accepted); err != nil {
				return nil, fmt.Errorf("stored definition of %s: %w", held.Tool, err)
			}
		}
		out[i] = d
	}
	return out, nil
}

// AcceptDefinition takes what the server says of the tool now, for the whole
// workspace. digest is that of what was seen: where the server says something
// else again by now, it is a definition_moved conflict.
func (r *Registry) AcceptDefinition(ctx context.Context, actor capability.Actor, row workspace.Row, tool, digest string) error {
	if err := capability.May(actor, capability.ActAgents, capability.Ownership{}); err != nil {
		return err
	}
	return r.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := queries.AcceptDefinition(ctx, tx, db.AcceptDefinitionParams{
			Workspace: actor.Workspace, Key: string(row.Key), Version: adoptedVersion(&row), Tool: tool, Digest: digest,
		})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "definition_moved", "What the server says of %s changed again, or was accepted already.", tool).
				Do("Look at the difference as it is now.")
		}
		if err := pg.Audit(ctx, tx, pg.Entry{Workspace: actor.Workspace, Subject: actor.Subject, Action: "definition.accept",
			Target: string(row.Key) + "@" + row.Version, Detail: map[string]any{"tool": tool, "digest": digest}}); err != nil {
			return err
		}
		return pg.Append(ctx, tx, pg.Change{Workspace: actor.Workspace, Topic: workspace.TopicAgent})
	})
}
