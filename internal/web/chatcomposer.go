package web

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/internal/toolschema"
	"capstore/views"
)

// skillPrefix marks a skill where a tool's name stands in an address.
const skillPrefix = "skill:"

func skillTool(name string) string { return skillPrefix + name }

// composer is what the member can say next in the conversation ("" for a new
// one): a text, or the arguments of the tool that the address picks.
func (s *Site) composer(c *Ctx, conversation string, form views.Form) (views.Composer, error) {
	query := c.R.URL.Query()
	asked := capability.Key(query.Get("ask"))
	return s.composerFor(c, conversation, query.Get("tool"), asked, query.Get("pick") != "", form, nil)
}

// composerAgain is the composer that was sent, with what was wrong with it.
func (s *Site) composerAgain(c *Ctx, conversation string, form url.Values, problem error) (views.Composer, error) {
	return s.composerFor(c, conversation, form.Get("tool"), "", false, show(c.Locale, form, problem), form)
}

func (s *Site) composerFor(c *Ctx, conversation, tool string, ask capability.Key, pick bool, form views.Form, sent url.Values) (views.Composer, error) {
	ws := c.Who.Workspace
	snap, err := s.Agent.Bind(c.R.Context(), c.Actor())
	if err != nil {
		return views.Composer{}, err
	}
	snap, asked, err := s.learn(c, snap, tool, ask)
	if err != nil {
		return views.Composer{}, err
	}
	out := views.Composer{
		Action: views.ChatActionPath(ws, conversation), Form: form, Picking: pick,
		PickHref: views.PickToolPath(ws, conversation), ClearHref: views.ChatActionPath(ws, conversation),
	}
	if tool != "" {
		picked, err := c.toolForm(snap, conversation, tool, form, sent)
		if err != nil {
			return views.Composer{}, err
		}
		if out.Tool = picked; picked == nil {
			out.Off, out.Picking = c.T("chat.tool_gone"), true
		}
	}
	if out.Picking {
		out.Choices, out.Said = c.toolChoices(snap, conversation), c.serverSaid(snap, asked)
	}
	return out, nil
}

// toolForm is the form of the named tool or skill; nil when it is not there.
func (c *Ctx) toolForm(snap *registry.Snapshot, conversation, name string, form views.Form, sent url.Values) (*views.ToolForm, error) {
	if skill, ok := strings.CutPrefix(name, skillPrefix); ok {
		entry, ok := snap.Skill(skill)
		if !ok {
			return nil, nil
		}
		return &views.ToolForm{
			Name: name, Label: string(entry.Row.Key), Description: entry.Row.Description, UseRaw: true, Raw: "{}", Skill: true,
		}, nil
	}
	entry, tool, ok := snap.Tool(name)
	if !ok {
		return nil, nil
	}
	return c.toolFormOf(conversation, entry, tool, form, sent)
}

func (c *Ctx) toolFormOf(conversation string, entry registry.Entry, tool registry.Tool, form views.Form, sent url.Values) (*views.ToolForm, error) {
	schema, err := toolschema.Compile(tool.Schema)
	if err != nil {
		return nil, err
	}
	out := &views.ToolForm{
		Name: tool.Name, RawName: otherName(tool.Name, tool.Raw), Description: cmp.Or(tool.Description, entry.Row.Description), Label: string(entry.Row.Key),
		Version: entry.Row.Version, Write: tool.Write, Raw: "{}", Summary: form.Summary,
	}
	if entry.Row.Source != "" {
		out.Label = entry.Row.Source + "/" + entry.Row.ID + "@" + entry.Row.Version
	}
	values := sent
	if spec, ok := entry.Row.Spec.(*capability.CodeSpec); ok {
		out.Examples = c.toolExamples(conversation, tool.Name, spec.Examples)
		if i := exampleIndex(c, len(spec.Examples)); i >= 0 && sent == nil {
			values = valuesOf(schema, spec.Examples[i].Input)
			out.Raw = indented(spec.Examples[i].Input)
		}
	}
	if sent.Has("arguments") {
		out.Raw, out.UseRaw, out.RawError = sent.Get("arguments"), true, form.Errors[""]
	}
	out.Fields = c.schemaFields(schema, values, form)
	return out, nil
}

func (c *Ctx) toolExamples(conversation, tool string, examples []capability.Example) []views.ToolExample {
	out := make([]views.ToolExample, len(examples))
	for i, e := range examples {
		out[i] = views.ToolExample{
			Name: cmp.Or(e.Name, c.T("chat.example", "n", i+1)), Note: e.Note,
			Href: views.ConversationToolPath(c.Who.Workspace, conversation, tool, strconv.Itoa(i)),
		}
	}
	return out
}

// toolChoices lists what the member's agent carries, what cannot be run now
// included, with the reason.
func (c *Ctx) toolChoices(snap *registry.Snapshot, conversation string) []views.ToolChoice {
	var out []views.ToolChoice
	for _, e := range snap.Entries {
		if e.Always {
			continue // a model's way about; people have these lists
		}
		pick := func(name string) string {
			return views.ConversationToolPath(c.Who.Workspace, conversation, name, "")
		}
		choice := views.ToolChoice{Kind: string(e.Row.Kind), Description: e.Row.Description, Reason: c.whyNot(e)}
		switch e.Kind {
		case registry.EntrySkill:
			choice.Name, choice.Href = e.Row.Name, pick(skillTool(e.Row.Name))
			out = append(out, choice)
		case registry.EntryTool, registry.EntryMCP:
			if len(e.Tools) == 0 {
				choice.Name, choice.Href = e.Row.Name, views.AskServerPath(c.Who.Workspace, conversation, string(e.Row.Key))
				choice.Description = c.T("chat.ask_server")
				out = append(out, choice)
			}
			for _, t := range e.Tools {
				one := choice
				one.Name, one.RawName, one.Href, one.Write = t.Name, otherName(t.Name, t.Raw), pick(t.Name), t.Write
				one.Description = cmp.Or(t.Description, e.Row.Description)
				one.Reason = cmp.Or(one.Reason, t.Refused)
				if one.Reason == "" && !t.Allowed {
					one.Reason = c.T("chat.write_off")
				}
				out = append(out, one)
			}
		}
	}
	// What can be run comes first.
	slices.SortStableFunc(out, func(a, b views.ToolChoice) int { return cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)) })
	return out
}

// whyNot says why an entry cannot be run now; "" when it can.
func (c *Ctx) whyNot(e registry.Entry) string {
	switch e.Standing {
	case registry.Usable, registry.Failing:
		return c.cannotRun(e.Row.Spec, e.Row.Source)
	case registry.NeedsSetup:
		var names []string
		for _, secret := range e.Row.Missing {
			names = append(names, secret.Name)
		}
		return c.T("chat.needs_setup", "names", strings.Join(names, ", "))
	}
	return c.reason(e.Row.Reason)
}

// readAsk turns the sent form into what is asked of the agent. A composer
// instead means that the form itself could not be read, with what is wrong.
func (s *Site) readAsk(c *Ctx, conversation string, form url.Values) (agent.Ask, *views.Composer, error) {
	name := form.Get("tool")
	if name == "" {
		return agent.Ask{Text: form.Get("text")}, nil, nil
	}
	if skill, ok := strings.CutPrefix(name, skillPrefix); ok {
		args, err := json.Marshal(map[string]string{"name": skill})
		return agent.Ask{Tool: agent.UseSkill, Arguments: args}, nil, err
	}
	if form.Get("mode") == "json" {
		return agent.Ask{Tool: name, Arguments: json.RawMessage(strings.TrimSpace(form.Get("arguments")))}, nil, nil
	}
	snap, err := s.Agent.Bind(c.R.Context(), c.Actor())
	if err != nil {
		return agent.Ask{}, nil, err
	}
	_, tool, ok := snap.Tool(name)
	if !ok {
		return agent.Ask{Tool: name}, nil, nil // the door says what is wrong
	}
	schema, err := toolschema.Compile(tool.Schema)
	if err != nil {
		return agent.Ask{}, nil, err
	}
	args, problem := readFields(schema, form)
	if problem != nil {
		composer, err := s.composerAgain(c, conversation, form, problem)
		return agent.Ask{}, &composer, err
	}
	return agent.Ask{Tool: name, Arguments: args}, nil, nil
}
