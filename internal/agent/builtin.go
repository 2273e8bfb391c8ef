package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// resultPage is how many bytes of a long result one reading gives.
const resultPage = 32 << 10

// Builtins lists the operations of the control plane as entries of the
// registry, by role; nil for none.
func Builtins(control Control) func(role capability.Role) []registry.Entry {
	if control == nil {
		return nil
	}
	return func(role capability.Role) []registry.Entry {
		var entries []registry.Entry
		for _, t := range control.Tools(role, capability.ScopeSession) {
			entries = append(entries, registry.Control(registry.Tool{
				Name: t.Name, Description: t.Description, Schema: t.Schema, Write: !t.ReadOnly, Guarded: t.Guarded,
			}))
		}
		return entries
	}
}

// runBuiltin runs what ships with the server. Authority was asked for like for
// any other call.
func (s *Service) runBuiltin(ctx context.Context, b *bound) ToolResult {
	switch b.Name {
	case registry.ReadResult:
		return s.readResult(ctx, b)
	case registry.FindTools:
		return s.findTools(ctx, b)
	case registry.Broker:
		return s.listServer(ctx, b)
	}
	if s.control == nil {
		return failed(fault.New(fault.Unavailable, "not_runnable", "This kind of capability cannot be run here."))
	}
	out, err := s.control.Invoke(ctx, b.Actor, b.Name, b.Arguments)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	return dataResult(out)
}

// dataResult is JSON as a result: as text, and as structured content where it is
// an object, since that is nothing else.
func dataResult(raw json.RawMessage) ToolResult {
	out := ToolResult{Content: []json.RawMessage{textBlock(string(raw))}}
	if len(raw) > 0 && raw[0] == '{' {
		out.Structured = raw
	}
	return out
}

// readResult gives one page of a stored result of the same conversation.
func (s *Service) readResult(ctx context.Context, b *bound) ToolResult {
	var args struct {
		Handle string
		Offset int
	}
	if err := json.Unmarshal(b.Arguments, &args); err != nil {
		return failed(fault.New(fault.Invalid, "bad_arguments", "The arguments could not be read.").Because(err))
	}
	id, err := uuid.Parse(args.Handle)
	if err != nil {
		return failed(noSuchResult(args.Handle))
	}
	_, content, err := s.ReadArtifact(ctx, b.Actor, b.Conversation, id)
	if fault.Is(err, fault.NotFound) {
		return failed(noSuchResult(args.Handle))
	}
	if err != nil {
		return failed(err)
	}
	var stored struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
	}
	if err := json.Unmarshal(content, &stored); err != nil {
		return failed(fmt.Errorf("stored result %s: %w", id, err))
	}
	return page(wholeText(stored.Content, stored.Structured), args.Offset)
}

func noSuchResult(handle string) error {
	return fault.New(fault.Invalid, "unknown_result", "This conversation keeps no result %q.", handle).Do("Use the handle that the cut result gave.")
}

func page(whole string, offset int) ToolResult {
	if offset >= len(whole) {
		return ToolResult{Content: []json.RawMessage{textBlock(fmt.Sprintf("The result ends at %d bytes.", len(whole)))}}
	}
	text := cutText(whole[offset:], resultPage)
	next := fmt.Sprintf("\n[The end: %d bytes.]", len(whole))
	if end := offset + len(text); end < len(whole) {
		next = fmt.Sprintf("\n[%d of %d bytes. Read on at offset %d.]", end, len(whole), end)
	}
	return ToolResult{Content: []json.RawMessage{textBlock(text + next)}}
}
