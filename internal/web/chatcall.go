package web

import (
	"strings"
	"time"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// kindOfTool is the kind of capability that a tool's runtime name tells of, ""
// for the agent's own.
func kindOfTool(name string) string {
	switch {
	case strings.HasPrefix(name, "mcp__"):
		return string(capability.KindMCP)
	case strings.HasPrefix(name, "code__"):
		return string(capability.KindCode)
	case name == agent.UseSkill:
		return string(capability.KindSkill)
	}
	return ""
}

// callStarted fills in what ran, with what.
func (c *Ctx) callStarted(call *views.ChatCall, e agent.Entry, m agent.ToolCall) {
	call.State, call.Since = views.CallRunning, e.At
	call.RawName, call.Write, call.Secrets = otherName(m.Name, m.Raw), m.Write, m.Secrets
	call.Arguments, call.Broken = indented(m.Arguments), ""
	call.Label = m.Key
	if m.Source != "" {
		call.Label = m.Source + "/" + m.ID + "@" + m.Version
		call.Href = views.CapabilityPath(c.Who.Workspace, m.Source, m.ID)
	}
	call.Hints = c.fieldTexts(m.Hints)
	call.Facts = c.callFacts(e, m)
}

func (c *Ctx) callFacts(e agent.Entry, m agent.ToolCall) []ui.Fact {
	out := []ui.Fact{{Label: c.T("chat.caller"), Text: c.Locale.Or("chat.caller_"+string(m.Caller), string(m.Caller), nil)}}
	if m.Epoch > 0 {
		out = append(out, ui.Fact{Label: c.T("chat.epoch"), Text: c.Locale.Number(m.Epoch)})
	}
	out = append(out, ui.Fact{Label: c.T("chat.started"), Body: ui.Time(e.At)})
	if m.Version != "" {
		out = append(out, ui.Fact{Label: c.T("chat.version"), Text: m.Version, Mono: true})
	}
	if m.Digest != "" {
		out = append(out, ui.Fact{Label: c.T("chat.digest"), Body: ui.Digest(c.T("chat.digest"), m.Digest)})
	}
	return out
}

func (c *Ctx) fieldTexts(fields []fault.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, strings.TrimSpace(f.Path+" "+views.FieldText(c.Locale, f)))
	}
	return out
}

// fillResult fills in what came of a call. chat is the conversation that keeps
// its artifacts; "" for a try, which has none.
func (c *Ctx) fillResult(chat string, call *views.ChatCall, m agent.ToolResult) {
	f := &fault.Fault{Code: m.Code, Message: m.Message, Action: m.Action}
	call.State, call.Approval = views.CallDone, answered(call.Approval)
	if m.IsError {
		call.State = views.CallFailed
	}
	if call.Code = m.Code; m.Code != "" {
		call.Message, call.Action = views.FaultText(c.Locale, f), views.FaultAction(c.Locale, f)
	}
	call.Fields = c.fieldTexts(m.Errors)
	call.Log, call.Stderr = m.Log, m.Stderr
	call.Unisolated = m.Driver != "" && !m.Isolated
	if m.Driver != "" {
		key := "chat.isolated"
		if !m.Isolated {
			key = "chat.not_isolated"
		}
		call.Facts = append(call.Facts, ui.Fact{Label: c.T("chat.driver"), Text: c.T(key, "driver", m.Driver)})
	}
	if call.Since.IsZero() && m.IsError {
		call.Duration = "" // it never started
	} else {
		call.Duration = c.Locale.Duration(time.Duration(m.DurationMS) * time.Millisecond)
	}
	if m.Withheld != "" {
		call.Hooks = append(call.Hooks, views.ChatHook{Tone: ui.Warning, Text: c.T("hooks.withheld")})
	}
	call.Blocks = c.chatBlocks(chat, call.Name, m)
	for _, a := range m.Artifacts {
		call.Artifacts = append(call.Artifacts, views.ChatArtifact{
			Href: views.ArtifactPath(c.Who.Workspace, chat, a.ID.String()), Size: c.Locale.Bytes(int64(a.Bytes)),
		})
	}
}

// answered leaves a question out that nobody needs to answer any more.
func answered(a *views.ChatApproval) *views.ChatApproval {
	if a == nil || a.Text == "" {
		return nil
	}
	return a
}

func (c *Ctx) callAsked(call *views.ChatCall, m agent.ApprovalAsked) {
	call.State, call.Arguments = views.CallWaiting, indented(m.Arguments)
	call.Approval = &views.ChatApproval{ID: m.Approval.String()}
}

func (c *Ctx) callAnswered(call *views.ChatCall, m agent.ApprovalAnswered) {
	if call.State == views.CallWaiting {
		call.State = views.CallAsked
	}
	text := c.Locale.Or("chat.answered_"+m.Answer, m.Answer, nil)
	if m.Reason != "" {
		text += " " + m.Reason
	}
	call.Approval = &views.ChatApproval{ID: m.Approval.String(), Text: text}
}

// hookText puts into words what a hook said; no text where it let things be.
func (c *Ctx) hookText(m agent.HookOutcome) views.ChatHook {
	out := views.ChatHook{Tone: ui.Info}
	switch {
	case m.Failure != nil:
		out.Tone, out.Text = ui.Warning, c.T("chat.hook_failed", "name", m.Hook)+" "+m.Failure.Message
	case m.Decision == agent.HookDeny:
		out.Tone, out.Text = ui.Danger, c.T("chat.hook_denied", "name", m.Hook)
	case m.Decision == agent.HookAsk:
		out.Tone, out.Text = ui.Warning, c.T("chat.hook_asked", "name", m.Hook)
	case len(m.Arguments) > 0:
		out.Text = c.T("chat.hook_rewrote", "name", m.Hook)
	case m.Context != "":
		out.Text = c.T("chat.hook_added", "name", m.Hook)
	}
	if out.Text != "" && m.Reason != "" && (m.Failure == nil || m.Failure.Message != m.Reason) {
		out.Text += " " + m.Reason
	}
	return out
}

func (c *Ctx) hookNotice(said views.ChatHook, m agent.HookOutcome) *views.ChatNotice {
	out := &views.ChatNotice{Icon: ui.IconHook, Text: said.Text}
	if m.Context != "" {
		out.Lines = []string{m.Context}
	}
	return out
}
