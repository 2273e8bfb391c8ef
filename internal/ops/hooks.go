package ops

import (
	"context"
	"time"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

// HookRow is a hook that the member's agent could carry.
type HookRow struct {
	CarriedRow
	Event       capability.Event       `json:"event" enum:"session_start,user_prompt,before_tool,after_tool,turn_end"`
	Matcher     string                 `json:"matcher" doc:"The tools that it watches, a pattern with * and ?; empty for all."`
	FailureMode capability.FailureMode `json:"failureMode" enum:"advisory,fail-closed" doc:"What counts when it fails, also where its author left it open."`
	Required    bool                   `json:"required" doc:"The workspace does not let members switch it off."`
	Denies      bool                   `json:"denies" doc:"It cannot run, and what it watches is denied until it can."`
	Last        *HookSaid              `json:"last" doc:"What it said last in the member's own recent conversations; null for nothing."`
}

// HookSaid is what a hook said to one event.
type HookSaid struct {
	At         time.Time      `json:"at"`
	Decision   agent.Decision `json:"decision" enum:"allow,ask,rewrite,deny"`
	Reason     string         `json:"reason,omitempty"`
	Tool       string         `json:"tool,omitempty"`
	Failure    string         `json:"failure,omitempty" doc:"The code of what went wrong with the run."`
	DurationMS int64          `json:"durationMs"`
}

// CommandRow is a command that the member's agent could carry.
type CommandRow struct {
	CarriedRow
	Command      string   `json:"command" doc:"What is typed, such as /weekly-report."`
	ArgumentHint string   `json:"argumentHint,omitempty"`
	AllowedTools []string `json:"allowedTools" doc:"The tools that its author meant it for; they grant nothing."`
}

func hookOperations(s Services) []Operation {
	hooks := channelRoutes{
		channel: capability.ChannelHook, path: "/agent/hooks", plural: "agent_hooks", one: "agent_hook",
		list: "Every hook that the member's agent could carry, with what it watches and why it is on or off.",
		set:  "Switch a hook on or off for oneself, or follow the workspace again.",
	}
	commands := channelRoutes{
		channel: capability.ChannelCommand, path: "/agent/commands", plural: "agent_commands", one: "agent_command",
		list: "Every command that the member's agent could carry, with what is typed and why it is on or off.",
		set:  "Switch a command on or off for oneself, or follow the workspace again.",
	}
	return []Operation{
		declare(hooks.listing(), func(ctx context.Context, who identity.Principal, _ Nothing) (List[HookRow], error) {
			return s.hooks(ctx, who)
		}),
		switching(s, hooks),
		declare(commands.listing(), func(ctx context.Context, who identity.Principal, _ Nothing) (List[CommandRow], error) {
			return s.commands(ctx, who)
		}),
		switching(s, commands),
	}
}

func (s Services) hooks(ctx context.Context, who identity.Principal) (List[HookRow], error) {
	carried, err := s.Workspace.Carried(ctx, who.Actor())
	if err != nil {
		return List[HookRow]{}, err
	}
	said, err := s.Agent.LastSaid(ctx, who.Actor())
	if err != nil {
		return List[HookRow]{}, err
	}
	out := List[HookRow]{Items: []HookRow{}}
	for _, row := range carried.Rows {
		if row.Channel == capability.ChannelHook {
			out.Items = append(out.Items, hookRow(row, said))
		}
	}
	return out, nil
}

func hookRow(row workspace.Row, said map[capability.Key]agent.HookSaid) HookRow {
	spec := row.Hook()
	out := HookRow{
		CarriedRow: carriedRow(row), Event: spec.Event, Matcher: spec.Matcher, FailureMode: capability.Advisory,
		Required: row.Required, Denies: row.Denies(),
	}
	if spec.FailsClosed() {
		out.FailureMode = capability.FailClosed
	}
	if last, ok := said[row.Key]; ok {
		out.Last = &HookSaid{At: last.At, Decision: last.Decision, Reason: last.Reason, Tool: last.Tool, DurationMS: last.DurationMS}
		if last.Failure != nil {
			out.Last.Failure = last.Failure.Code
		}
	}
	return out
}

func (s Services) commands(ctx context.Context, who identity.Principal) (List[CommandRow], error) {
	carried, err := s.Workspace.Carried(ctx, who.Actor())
	if err != nil {
		return List[CommandRow]{}, err
	}
	out := List[CommandRow]{Items: []CommandRow{}}
	for _, row := range carried.Rows {
		if row.Channel != capability.ChannelCommand {
			continue
		}
		command := CommandRow{CarriedRow: carriedRow(row), Command: "/" + capability.CommandName(row.Name), AllowedTools: []string{}}
		if spec, ok := row.Spec.(*capability.CommandSpec); ok {
			command.ArgumentHint, command.AllowedTools = spec.ArgumentHint, list(spec.AllowedTools)
		}
		out.Items = append(out.Items, command)
	}
	return out, nil
}
