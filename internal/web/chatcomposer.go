package web

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/toolschema"
	"capstore/views"
	"capstore/views/ui"
)

// skillPrefix marks a skill where a tool's name stands in an address.
const skillPrefix = "skill:"

func skillTool(name string) string { return skillPrefix + name }

// composer is what the member can say next in the conversation (zero for a new
// one): a text, or the arguments of the tool that the address picks.
func (s *Site) composer(c *Ctx, conv agent.Conversation, form views.Form) (views.Composer, error) {
	query := c.R.URL.Query()
	return s.composerFor(c, conv, picked{
		tool: query.Get("tool"), ask: capability.Key(query.Get("ask")), list: query.Get("pick") != "",
		refs: query["ref"], text: query.Get("text"),
	}, form, nil)
}

// composerAgain is the composer that was sent, with what was wrong with it.
func (s *Site) composerAgain(c *Ctx, conv agent.Conversation, form url.Values, problem error) (views.Composer, error) {
	shown := show(c.Locale, form, problem)
	again := picked{tool: form.Get("tool"), refs: form["ref"]}
	if f := fault.From(problem); len(f.Fields) == 0 {
		again.problem, shown.Summary = shown.Summary[0].Text, nil
	}
	for i, item := range shown.Summary {
		if item.FieldID != "" {
			shown.Summary[i].FieldID = views.ComposerFieldID(item.FieldID)
		}
	}
	return s.composerFor(c, conv, again, shown, form)
}

// picked is what the composer shows besides an empty message.
type picked struct {
	tool string
	ask  capability.Key // of a server that is asked for its tools
	list bool
	refs []string
	text string
	// problem is why what was sent was not taken, where no field is to blame.
	problem string
}

func (s *Site) composerFor(c *Ctx, conv agent.Conversation, p picked, form views.Form, sent url.Values) (views.Composer, error) {
	snap, err := s.Agent.Bind(c.R.Context(), c.Actor())
	if err != nil {
		return views.Composer{}, err
	}
	snap, asked, err := s.learn(c, snap, p.tool, p.ask)
	if err != nil {
		return views.Composer{}, err
	}
	out := views.Composer{Workspace: c.Who.Workspace, Panel: c.inPanel(), Form: form, Picking: p.list, Text: p.text, Problem: p.problem}
	if conv.ID != uuid.Nil {
		out.ID = conv.ID.String()
	}
	for _, ref := range validRefs(p.refs) {
		out.Refs = append(out.Refs, c.chatRef(ref))
	}
	if err := s.composerChoices(c, &out, conv, snap.Mode, sent); err != nil {
		return views.Composer{}, err
	}
	pick := views.ComposerPick{Workspace: out.Workspace, ID: out.ID, Panel: out.Panel}
	if p.tool != "" {
		tool, err := c.toolForm(snap, pick, p.tool, form, sent)
		if err != nil {
			return views.Composer{}, err
		}
		if out.Tool = tool; tool == nil {
			out.Off, out.Picking = c.T("chat.tool_gone"), true
		}
	}
	if out.Picking {
		out.Choices, out.Said = c.toolChoices(snap, pick), c.serverSaid(snap, asked)
	}
	return out, nil
}

// maxRefs is how many things one message may be about.
const maxRefs = 8

// refShape is what a reference looks like.
var refShape = regexp.MustCompile(`^(capability:_?[a-z0-9-]{1,40}/[a-z0-9-]{1,64}|skill:[a-z0-9-]{1,64})$`)

// validRefs are the references that are written as such, once each.
func validRefs(refs []string) []string {
	var out []string
	for _, ref := range refs {
		if refShape.MatchString(ref) && !slices.Contains(out, ref) && len(out) < maxRefs {
			out = append(out, ref)
		}
	}
	return out
}

// toolForm is the form of the named tool or skill; nil when it is not there.
func (c *Ctx) toolForm(snap *registry.Snapshot, pick views.ComposerPick, name string, form views.Form, sent url.Values) (*views.ToolForm, error) {
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
	return c.toolFormOf(pick, entry, tool, form, sent)
}

func (c *Ctx) toolFormOf(pick views.ComposerPick, entry registry.Entry, tool registry.Tool, form views.Form, sent url.Values) (*views.ToolForm, error) {
	schema, err := toolschema.Compile(tool.Schema)
	if err != nil {
		return nil, err
	}
	out := &views.ToolForm{
		Name: tool.Name, RawName: otherName(tool.Name, tool.Raw), Description: cmp.Or(tool.Description, entry.Row.Description), Label: string(entry.Row.Key),
		Version: entry.Row.Version, Write: tool.Write, Raw: "{}", RawID: views.ComposerFieldID(ui.FieldID("arguments")), Summary: form.Summary,
	}
	if entry.Row.Source != "" {
		out.Label = entry.Row.Source + "/" + entry.Row.ID + "@" + entry.Row.Version
	}
	values := sent
	if spec, ok := entry.Row.Spec.(*capability.CodeSpec); ok {
		pick.Tool = tool.Name
		out.Examples = c.toolExamples(pick, spec.Examples)
		if i := exampleIndex(c, len(spec.Examples)); i >= 0 && sent == nil {
			values = valuesOf(schema, spec.Examples[i].Input)
			out.Raw = indented(spec.Examples[i].Input)
		}
	}
	if sent.Has("arguments") {
		out.Raw, out.UseRaw, out.RawError = sent.Get("arguments"), true, form.Errors[""]
	}
	out.Fields = c.schemaFields(schema, values, form)
	for i := range out.Fields {
		out.Fields[i].ID = views.ComposerFieldID(ui.FieldID(out.Fields[i].Name))
	}
	return out, nil
}

func (c *Ctx) toolExamples(pick views.ComposerPick, examples []capability.Example) []views.ToolExample {
	out := make([]views.ToolExample, len(examples))
	for i, e := range examples {
		pick.Example = strconv.Itoa(i)
		out[i] = views.ToolExample{Name: cmp.Or(e.Name, c.T("chat.example", "n", i+1)), Note: e.Note, Pick: pick}
	}
	return out
}

// exampleIndex reads which worked call the address asks for; -1 for none.
func exampleIndex(c *Ctx, n int) int {
	i, err := strconv.Atoi(c.R.URL.Query().Get("example"))
	if err != nil || i < 0 || i >= n {
		return -1
	}
	return i
}

// toolChoices lists what the member's agent carries, what cannot be run now
// included, with the reason.
func (c *Ctx) toolChoices(snap *registry.Snapshot, at views.ComposerPick) []views.ToolChoice {
	var out []views.ToolChoice
	for _, e := range snap.Entries {
		if e.Always || strings.HasPrefix(e.Row.Name, capability.ControlToolName("")) {
			continue // a model's way about; people have these lists and pages
		}
		pick := func(name string) views.ComposerPick {
			at.Tool = name
			return at
		}
		choice := views.ToolChoice{Kind: string(e.Row.Kind), Description: e.Row.Description, Reason: c.whyNot(e)}
		switch e.Kind {
		case registry.EntrySkill:
			choice.Name, choice.Pick = e.Row.Name, pick(skillTool(e.Row.Name))
			out = append(out, choice)
		case registry.EntryTool, registry.EntryMCP:
			if len(e.Tools) == 0 {
				choice.Name, choice.Pick = e.Row.Name, at
				choice.Pick.List, choice.Pick.Ask = true, string(e.Row.Key)
				choice.Description = c.T("chat.ask_server")
				out = append(out, choice)
			}
			for _, t := range e.Tools {
				one := choice
				one.Name, one.RawName, one.Pick, one.Write = t.Name, otherName(t.Name, t.Raw), pick(t.Name), t.Write
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

// readAsk turns the sent form into what is asked of the agent, or says what is
// wrong with it.
func (s *Site) readAsk(c *Ctx, form url.Values) (agent.Ask, error) {
	name := form.Get("tool")
	if name == "" {
		return agent.Ask{Text: form.Get("text"), Refs: validRefs(form["ref"])}, nil
	}
	if skill, ok := strings.CutPrefix(name, skillPrefix); ok {
		args, err := json.Marshal(map[string]string{"name": skill})
		return agent.Ask{Tool: agent.UseSkill, Arguments: args}, err
	}
	if form.Get("mode") == "json" {
		return agent.Ask{Tool: name, Arguments: json.RawMessage(strings.TrimSpace(form.Get("arguments")))}, nil
	}
	snap, err := s.Agent.Bind(c.R.Context(), c.Actor())
	if err != nil {
		return agent.Ask{}, err
	}
	_, tool, ok := snap.Tool(name)
	if !ok {
		return agent.Ask{Tool: name}, nil // the door says what is wrong
	}
	schema, err := toolschema.Compile(tool.Schema)
	if err != nil {
		return agent.Ask{}, err
	}
	args, problem := readFields(schema, form)
	return agent.Ask{Tool: name, Arguments: args}, problem
}
