package interchange

import (
	"fmt"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// agentHarness is what a subagent of a plugin runs in: it was written for no
// other.
const agentHarness = "claude-code"

// agents reads the subagents of a plugin. capstore has no kind for a prompt
// with a model of its own: the nearest is a delegation profile, which wants an
// image to work in.
func (r *pluginRead) agents(face *manifest) {
	if !face.names("agents") {
		if face == r.faces[0] {
			r.agentFiles(face, "agents")
		}
		return
	}
	for n, v := range face.values("agents") {
		s, _ := v.(string)
		rel, f := pluginPath(s)
		if f == nil && (s == "" || !r.agentFiles(face, rel)) {
			f = missingPart(s)
		}
		if f != nil {
			r.refuse(face, "agents", n, f)
		}
	}
}

func (r *pluginRead) agentFiles(face *manifest, rel string) bool {
	docs, found := r.markdown(rel)
	for _, f := range docs {
		r.agent(face, f)
	}
	return found
}

func (r *pluginRead) agent(face *manifest, f TreeFile) {
	if r.taken[f.Path] {
		return
	}
	r.taken[f.Path] = true
	item := Item{Path: f.Path, Format: FormatPlugin, Kind: capability.KindDelegation}
	raw, err := readWithin(f, MaxDocument)
	if err == nil {
		err = readAgent(raw, commandStem(f.Path), r.o.Supply[f.Path].Image, &item)
	}
	if err != nil {
		item.Fault = fault.From(err)
	}
	r.add(face, item)
}

// readAgent makes a delegation profile of a subagent's file, in the image that
// the importer supplies; without one it is refused and says what it wants.
func readAgent(raw []byte, name, image string, item *Item) error {
	d, err := splitDocument(raw)
	if err != nil {
		return err
	}
	m, err := readMatter(d.matter, d.line)
	if err != nil {
		return err
	}
	note := func(when bool, code, format string, args ...any) {
		item.note(when, code, fmt.Sprintf(format, args...))
	}
	if m.repaired != "" {
		item.Repaired = true
		item.Notes = append(item.Notes, at(item.Path, []Note{repairedNote(m)})...)
	}
	if given := capability.PlainText(m.text("name")); given != "" {
		name = given
	}
	spec := &capability.DelegationSpec{Harness: agentHarness, Image: image, Instructions: strings.TrimSpace(d.body)}
	if model := capability.PlainText(m.text("model")); model != "inherit" {
		spec.Model = model
	}
	description := capability.PlainText(m.text("description"))
	if description == "" {
		description = firstParagraph(spec.Instructions)
		note(true, "description_derived", "The front matter gives no description; the beginning of the text is taken.")
	}
	short := shorten(description, capability.MaxDescription)
	note(short != description, "description_cut", "The description is longer than %d characters and was cut.", capability.MaxDescription)
	note(m.values["tools"] != nil, "agent_tools", "The tools that the agent names are not kept: what a worker may call is decided where it runs.")
	more := m.others([]string{"name", "description", "model", "tools"})
	item.about(len(more) > 0, "command_fields", "These fields mean nothing here and are not kept", clip(strings.Join(more, ", "), 200))
	if image == "" {
		item.Wants = []Want{WantImage}
		return fault.New(fault.Invalid, "agent_needs_image", "%q is a subagent of Claude Code. It becomes a delegation profile, which needs an image to work in.", clip(name, 80)).
			Do("Name an image in which the claude-code harness runs.").With("name", clip(name, 80))
	}
	item.Content = capability.Content{Name: shorten(name, capability.MaxName), Description: short, Spec: spec}
	return nil
}
