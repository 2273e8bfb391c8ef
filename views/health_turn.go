package views

import (
	"context"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// TurnSeen is what a turn could see and what it took.
type TurnSeen struct {
	Workspace          string
	Conversation       string // "" of another member's turn
	Member             string // whose it was, "" for the reader
	Subject            string
	Epoch              int64
	Digest             string
	Mode               string
	Model              string // "" in direct mode
	State              string
	StartedAt          time.Time
	Took               time.Duration // 0 while it runs
	Requests           int64
	Calls, FailedCalls int64
	Input, Cached, Out int64
	Cost               string
	Reading            []string
	Entries            []SeenEntry
	Shipped            []SeenEntry // of capstore itself
	Private            []HealthCount
}

// SeenEntry is one entry of the manifest.
type SeenEntry struct {
	Kind, Name, Href, Origin, Version, Digest, Standing, Reason string
	Tools                                                       []SeenTool
}

// SeenTool is one of an entry's tools. Loading is loaded or later, "" where
// that is not known.
type SeenTool struct{ Name, Loading string }

func (v TurnSeen) facts(ctx context.Context) []ui.Fact {
	sum := UsageSum{Input: v.Input, Cached: v.Cached, Output: v.Out}
	out := []ui.Fact{
		{Label: i18n.T(ctx, "health.epoch"), Text: count(ctx, v.Epoch)},
		{Label: i18n.T(ctx, "health.digest"), Body: ui.Digest(i18n.T(ctx, "health.digest"), v.Digest)},
		{Label: i18n.T(ctx, "health.state"), Text: i18n.T(ctx, "health.state_"+v.State)},
		{Label: i18n.T(ctx, "usage.model"), Text: modelLabel(ctx, v.Model)},
		{Label: i18n.T(ctx, "health.mode"), Text: i18n.T(ctx, "agent.mode_"+v.Mode)},
		{Label: i18n.T(ctx, "health.when"), Body: ui.Time(v.StartedAt)},
		{Label: i18n.T(ctx, "health.took"), Text: latency(ctx, v.Took)},
		{Label: i18n.T(ctx, "usage.requests"), Text: count(ctx, v.Requests)},
		{Label: i18n.T(ctx, "usage.calls"), Text: failing(ctx, v.Calls, v.FailedCalls)},
		{Label: i18n.T(ctx, "usage.tokens"), Text: sum.tokens(ctx)},
		{Label: i18n.T(ctx, "usage.cost"), Text: costText(ctx, v.Cost)},
	}
	if len(v.Reading) > 0 {
		out = append(out, ui.Fact{Label: i18n.T(ctx, "health.reading"), Text: strings.Join(v.Reading, ", ")})
	}
	return out
}

// dash stands for a text that there is none of.
func dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
