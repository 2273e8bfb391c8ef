package web

import (
	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

// hookRows are the hooks of the member's agent, with what they said last in his
// own conversations.
func (s *Site) hookRows(c *Ctx, carried workspace.Carried, next string) ([]views.HookRow, error) {
	var out []views.HookRow
	var said map[capability.Key]agent.HookSaid
	for _, r := range carried.Rows {
		if r.Channel != capability.ChannelHook {
			continue
		}
		if said == nil {
			var err error
			if said, err = s.Agent.LastSaid(c.R.Context(), c.Actor()); err != nil {
				return nil, err
			}
		}
		spec := r.Hook()
		row := views.HookRow{
			ToolRow: c.toolRow(carried, r, next), Event: string(spec.Event), Matcher: spec.Matcher, FailsClosed: spec.FailsClosed(),
			Denies: r.Denies(),
		}
		if last, ok := said[r.Key]; ok {
			row.Last = lastSaid(last)
		}
		out = append(out, row)
	}
	return out, nil
}

func lastSaid(last agent.HookSaid) *views.HookSaid {
	out := &views.HookSaid{Decision: string(last.Decision), Tool: last.Tool, Reason: last.Reason, At: last.At}
	if last.Failure != nil {
		out.Failure = last.Failure.Message
	}
	return out
}

func (c *Ctx) commandRows(carried workspace.Carried, next string) []views.CommandRow {
	var out []views.CommandRow
	for _, r := range carried.Rows {
		if r.Channel != capability.ChannelCommand {
			continue
		}
		row := views.CommandRow{ToolRow: c.toolRow(carried, r, next), Command: "/" + capability.CommandName(r.Name)}
		if spec, ok := r.Spec.(*capability.CommandSpec); ok {
			row.Hint, row.Tools = spec.ArgumentHint, spec.AllowedTools
		}
		if r.Enabled {
			row.TryHref = views.EditInChatPath(c.Who.Workspace, "", row.Command+" ")
		}
		out = append(out, row)
	}
	return out
}
