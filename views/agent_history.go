package views

import (
	"context"
	"strconv"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// AgentHistory is who changed the agent's settings when, and what
// differs between two of their versions.
type AgentHistory struct {
	Workspace string
	Versions  []ConfigRow
	More      string // the version from which the next older ones go down; "" at the end
	First     bool   // these are the newest ones
	// Base and Candidate are the two that are compared.
	Base      int
	Candidate int
	Changes   []Change
}

// ConfigRow is one version of the agent's settings.
type ConfigRow struct {
	Version int
	By      string
	At      time.Time
	Note    string
	Summary []string // what it changed, a line each
	More    int      // how many further changes there are
}

// options is every version that the form can pick, the picked one included.
func (v AgentHistory) options(picked int) []ui.Option {
	var out []ui.Option
	seen := false
	for _, row := range v.Versions {
		seen = seen || row.Version == picked
		out = append(out, ui.Option{Value: strconv.Itoa(row.Version), Label: strconv.Itoa(row.Version), Selected: row.Version == picked})
	}
	if !seen {
		out = append(out, ui.Option{Value: strconv.Itoa(picked), Label: strconv.Itoa(picked), Selected: true})
	}
	return out
}

func (v AgentHistory) columns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "agent.history_version")}, {Label: i18n.T(ctx, "agent.history_what")}, {Label: i18n.T(ctx, "agent.history_by")},
		{Label: i18n.T(ctx, "agent.history_at")}, {Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}

// compareHref compares the version with the one before it.
func (v AgentHistory) compareHref(row ConfigRow) string {
	return AgentHistoryPath(v.Workspace, strconv.Itoa(row.Version-1), strconv.Itoa(row.Version), "") + "#compared"
}

func (v AgentHistory) pager() ui.PagerArgs {
	var a ui.PagerArgs
	if v.More != "" {
		a.Next = AgentHistoryPath(v.Workspace, "", "", v.More)
	}
	if !v.First {
		a.Previous = AgentHistoryPath(v.Workspace, "", "", "")
	}
	return a
}
