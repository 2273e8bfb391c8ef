package views

import (
	"context"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// HookRow is a hook with the member's own switch.
type HookRow struct {
	ToolRow
	Event       string
	Matcher     string // the tools that it watches, "" for all; of the events around a tool
	FailsClosed bool
	Denies      bool      // it cannot run, and what it watches is denied
	Last        *HookSaid // nil for nothing yet
}

// HookSaid is what a hook said last in the member's own conversations.
type HookSaid struct {
	Decision string // allow, ask, rewrite or deny
	Tool     string
	Reason   string
	Failure  string // what went wrong with the run, "" for nothing
	At       time.Time
}

// CommandRow is a command with the member's own switch.
type CommandRow struct {
	ToolRow
	Command string // what is typed: /weekly
	Hint    string // of its arguments
	Tools   []string
	TryHref string // a conversation with the command typed; "" while it cannot be used
}

func (r HookRow) args(ctx context.Context) ui.RowArgs {
	args := r.ToolRow.args(ctx)
	meta := []string{i18n.T(ctx, "tools.event_"+r.Event)}
	if r.Event == "before_tool" || r.Event == "after_tool" {
		if r.Matcher == "" {
			meta = append(meta, i18n.T(ctx, "hooks.watches_all"))
		} else {
			meta = append(meta, i18n.T(ctx, "hooks.watches", "matcher", r.Matcher))
		}
	}
	if r.FailsClosed {
		meta = append(meta, i18n.T(ctx, "hooks.fails_closed"))
	} else {
		meta = append(meta, i18n.T(ctx, "hooks.fails_open"))
	}
	args.Meta = append(meta, args.Meta...)
	if r.Denies {
		args.Marks = append(args.Marks, ui.RowMark{Tone: ui.Danger, Text: i18n.T(ctx, "hooks.denies")})
	}
	if r.Last != nil {
		args.Marks = append(args.Marks, r.Last.mark(ctx))
	}
	return args
}

// mark is what was said as a line below the row.
func (s HookSaid) mark(ctx context.Context) ui.RowMark {
	parts := []string{i18n.T(ctx, "hooks.said_"+s.Decision)}
	for _, part := range []string{s.Tool, s.Reason} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	mark := ui.RowMark{Tone: ui.Neutral, At: s.At}
	if s.Failure != "" {
		mark.Tone = ui.Warning
		if s.Failure != s.Reason {
			parts = append(parts, s.Failure)
		}
	}
	mark.Text = i18n.T(ctx, "hooks.last", "said", strings.Join(parts, " · "))
	return mark
}

func (r CommandRow) args(ctx context.Context) ui.RowArgs {
	args := r.ToolRow.args(ctx)
	meta := []string{strings.TrimSpace(r.Command + " " + r.Hint)}
	if len(r.Tools) > 0 {
		meta = append(meta, i18n.T(ctx, "hooks.meant_for", "tools", strings.Join(r.Tools, ", ")))
	}
	args.Meta = append(meta, args.Meta...)
	return args
}
