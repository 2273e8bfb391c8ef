package web

import (
	"math/big"
	"strings"
	"time"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/views"
	"capstore/views/ui"
)

func (c *Ctx) chatSaid(m agent.Message) *views.ChatMessage {
	out := &views.ChatMessage{Text: m.Text, Prompt: m.Prompt}
	for _, ref := range m.Refs {
		out.Refs = append(out.Refs, c.chatRef(ref))
	}
	return out
}

// chatRef is what a reference leads to. Whether it is there, its page says.
func (c *Ctx) chatRef(ref string) views.ChatRef {
	channel, id, _ := strings.Cut(ref, ":")
	if channel == string(capability.ChannelSkill) {
		return views.ChatRef{Ref: ref, Kind: string(capability.KindSkill), Label: id, Href: views.SkillPath(c.Who.Workspace, id)}
	}
	source, name, _ := strings.Cut(id, "/")
	return views.ChatRef{Ref: ref, Kind: string(capability.KindCode), Label: id, Href: views.CapabilityPath(c.Who.Workspace, source, name)}
}

// answer is what a model or direct mode said. Nothing but calls is no answer.
func (f *chatFold) answer(e agent.Entry, t *chatTurn, m agent.ModelOutput) *views.ChatAnswer {
	c := f.c
	out := &views.ChatAnswer{Text: m.Text, Thinking: m.Thinking}
	if m.Text == "" && len(m.Calls) == 0 && m.Usage == nil && m.Stop == "" {
		out.Text = c.T("chat.suggest")
		if len(m.Suggestions) == 0 {
			out.Text = c.T("chat.suggest_none")
		}
	}
	for _, s := range m.Suggestions {
		out.Suggestions = append(out.Suggestions, f.suggestion(s))
	}
	switch m.Stop {
	case "length", "refused", "stopped", "died":
		out.Note = c.T("chat.stop_" + m.Stop)
	}
	if len(m.Calls) == 0 && m.Usage != nil {
		out.Usage = c.usageLine(t.spent, m, e.At)
	}
	if out.Text == "" && out.Thinking == "" && out.Note == "" && out.Usage == "" && len(out.Suggestions) == 0 {
		return nil
	}
	return out
}

func (f *chatFold) suggestion(s agent.Suggestion) views.ToolChoice {
	kind, tool := kindOfTool(s.Name), s.Name
	if s.Kind == "skill" {
		kind, tool = string(capability.KindSkill), skillTool(s.Name)
	}
	return views.ToolChoice{
		Kind: kind, Name: s.Name, Description: s.Description,
		Pick: views.ComposerPick{Workspace: f.c.Who.Workspace, ID: f.chat, Tool: tool},
	}
}

// spent is what a turn took so far.
type spent struct {
	began         time.Time
	input, output int64
	cost          *big.Rat // nil while nothing had a price
}

// add counts one request to a model in.
func (s *spent) add(m agent.ModelOutput) {
	if m.Usage == nil {
		return
	}
	s.input, s.output = s.input+m.Usage.Input, s.output+m.Usage.Output
	if cost, ok := new(big.Rat).SetString(m.Usage.Cost); ok {
		if s.cost == nil {
			s.cost = new(big.Rat)
		}
		s.cost.Add(s.cost, cost)
	}
}

// usageLine tells what a turn took, in one line.
func (c *Ctx) usageLine(s spent, m agent.ModelOutput, end time.Time) string {
	parts := []string{m.Model, c.T("chat.tokens", "input", s.input, "output", s.output)}
	if s.cost != nil {
		parts = append(parts, c.T("chat.cost", "cost", costText(s.cost)))
	}
	if !s.began.IsZero() {
		parts = append(parts, c.Locale.Duration(end.Sub(s.began)))
	}
	return strings.Join(parts, " · ")
}

// costText is a sum of money, to four places where it is less than one.
func costText(cost *big.Rat) string {
	if cost.Cmp(big.NewRat(1, 1)) < 0 {
		return cost.FloatString(4)
	}
	return cost.FloatString(2)
}

func (c *Ctx) chatTrouble(kind agent.EntryKind, m agent.Failure) *views.ChatTrouble {
	f := &fault.Fault{Code: m.Code, Message: m.Message, Action: m.Action}
	t := &views.ChatTrouble{Tone: ui.Danger, Text: views.FaultText(c.Locale, f), Action: views.FaultAction(c.Locale, f), Fields: c.fieldTexts(m.Errors)}
	if kind == agent.EntryStop {
		t.Tone = ui.Info
	}
	return t
}

// epochNotice says that the agent carries something else than before.
func (c *Ctx) epochNotice(e agent.Entry) *views.ChatNotice {
	delta, ok := payload[registry.Delta](e)
	if !ok {
		return nil
	}
	out := &views.ChatNotice{Icon: ui.IconRefresh, Text: c.T("chat.epoch_changed", "epoch", delta.To)}
	var parts []string
	for _, group := range []struct {
		key, line string
		list      []registry.Change
	}{
		{"chat.epoch_added", "chat.epoch_line_added", delta.Added}, {"chat.epoch_removed", "chat.epoch_line_removed", delta.Removed},
		{"chat.epoch_changed_n", "chat.epoch_line_changed", delta.Changed},
	} {
		if len(group.list) == 0 {
			continue
		}
		parts = append(parts, c.Locale.N(group.key, len(group.list)))
		for _, one := range group.list {
			line := c.T(group.line, "name", strings.TrimSpace(one.Name+" "+one.Version))
			if why := c.Locale.Or("reason."+one.Reason, "", nil); why != "" {
				line += " · " + why
			}
			out.Lines = append(out.Lines, line)
		}
	}
	if delta.Mode != "" {
		parts = append(parts, c.T("chat.mode")+": "+c.Locale.Or("chat.mode_"+delta.Mode, delta.Mode, nil))
	}
	if len(parts) > 0 {
		out.Text += " " + strings.Join(parts, ", ")
	}
	return out
}
