package interchange

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"capstore/internal/capability"

	"go.yaml.in/yaml/v4"
)

var (
	commandFields = []string{"name", "description", "argument-hint", "allowed-tools", "hooks"}
	// expansion is a place where other hosts put in the output of a command,
	// and mention one where they put in a file.
	expansion = regexp.MustCompile("(?m)(^|[^`\\w])!`[^`\n]+`|^```!")
	mention   = regexp.MustCompile(`(?m)(^|\s)@[\w~./-]*[./][\w./-]+`)
	// numbered is a spelling of arguments that only other hosts know.
	numbered = regexp.MustCompile(`\$ARGUMENTS\[\d+\]|\$0\b`)
)

// commandReading is a command's file on its way to a command.
type commandReading struct {
	content  capability.Content
	spec     *capability.CommandSpec
	notes    []Note
	repaired bool
}

func (r *commandReading) note(when bool, code, format string, args ...any) {
	if when {
		r.notes = append(r.notes, Note{Code: code, Message: fmt.Sprintf(format, args...)})
	}
}

// readCommand makes a command of a Markdown file, of which front matter may
// stand at the head.
func readCommand(raw []byte, name string) (*commandReading, error) {
	d, err := splitDocument(raw)
	if err != nil {
		return nil, err
	}
	m, err := readMatter(d.matter, d.line)
	if err != nil {
		return nil, err
	}
	r := &commandReading{spec: &capability.CommandSpec{Template: strings.Trim(d.body, "\n")}}
	for _, n := range d.notes {
		r.note(n.Code != "no_front_matter", n.Code, "%s", n.Message)
	}
	if m.repaired != "" {
		r.repaired = true
		r.notes = append(r.notes, repairedNote(m))
	}
	r.spec.ArgumentHint = shorten(capability.PlainText(m.flow("argument-hint")), 200)
	r.spec.AllowedTools = toolList(m)
	description := capability.PlainText(m.text("description"))
	if description == "" {
		description = firstParagraph(r.spec.Template)
		r.note(true, "description_derived", "The front matter gives no description; the beginning of the text is taken.")
	}
	if short := shorten(description, capability.MaxDescription); short != description {
		description = short
		r.note(true, "description_cut", "The description is longer than %d characters and was cut.", capability.MaxDescription)
	}
	r.content = capability.Content{Name: name, Description: description, Spec: r.spec}
	r.explain(m)
	return r, nil
}

func repairedNote(m *matter) Note {
	return Note{Code: "front_matter_repaired", Detail: m.repaired, Message: "The front matter is no valid YAML and was read line by line."}
}

// explain notes what the host that the command was written for does with it,
// and capstore does not.
func (r *commandReading) explain(m *matter) {
	text := r.spec.Template
	more := m.others(commandFields)
	r.note(len(more) > 0, "command_fields", "These fields mean nothing here and are not kept: %s.", clip(strings.Join(more, ", "), 200))
	if len(more) > 0 {
		r.notes[len(r.notes)-1].Subject = clip(strings.Join(more, ", "), 200)
	}
	r.note(m.values["hooks"] != nil, "hooks_not_run", "The hooks in the front matter do not run: a hook is a capability of its own.")
	r.note(expansion.MatchString(text), "command_expansion", "It asks for the output of shell commands. Nothing is executed: the model sees these lines as they stand.")
	r.note(mention.MatchString(text), "command_files", "It mentions files with @. They are not put in: the model sees the names as they stand.")
	r.note(numbered.MatchString(text), "command_numbered", "It numbers its arguments as only other hosts do; $1 to $9 and $ARGUMENTS are filled in here.")
	r.note(strings.Contains(text, pluginRoot), "command_plugin_root", "It names files of its plugin, which a command does not bring along.")
}

// give takes what a manifest says of the command over what its file says.
func (r *commandReading) give(o *object) {
	if s := capability.PlainText(o.text("description")); s != "" {
		r.content.Description = shorten(s, capability.MaxDescription)
	}
	if s := capability.PlainText(o.text("argumentHint")); s != "" {
		r.spec.ArgumentHint = shorten(s, 200)
	}
	if !o.has("allowedTools") {
		return
	}
	tools := splitTools(o.text("allowedTools"))
	for _, v := range o.list("allowedTools") {
		if s, ok := v.(string); ok {
			tools = append(tools, splitTools(s)...)
		}
	}
	r.spec.AllowedTools = unique(tools)
}

// flow gives a field's text, and a list in brackets as it was written: what an
// author means as a hint, YAML takes for a list.
func (m *matter) flow(key string) string {
	n := m.values[key]
	if n == nil {
		return ""
	}
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		return m.text(key)
	}
	var parts []string
	for _, e := range n.Content {
		if e = resolve(e); e.Kind == yaml.ScalarNode {
			parts = append(parts, e.Value)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// toolList reads allowed-tools: a list, or a text with commas or spaces.
func toolList(m *matter) []string {
	n := m.values["allowed-tools"]
	if n == nil {
		return nil
	}
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		return splitTools(m.text("allowed-tools"))
	}
	var out []string
	for _, e := range n.Content {
		if e = resolve(e); e.Kind == yaml.ScalarNode && !isNull(e) {
			out = append(out, capability.PlainText(e.Value))
		}
	}
	return unique(out)
}

// splitTools cuts at the commas outside parentheses, or at the spaces where
// there is no comma.
func splitTools(s string) []string {
	for _, sep := range []rune{',', ' '} {
		deep := 0
		parts := strings.FieldsFunc(s, func(r rune) bool {
			switch r {
			case '(':
				deep++
			case ')':
				deep--
			}
			return r == sep && deep <= 0
		})
		if len(parts) > 1 || sep == ' ' {
			for i := range parts {
				parts[i] = capability.PlainText(parts[i])
			}
			return unique(parts)
		}
	}
	return nil
}

// unique drops repetitions and what is empty.
func unique(list []string) []string {
	seen := map[string]bool{"": true}
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// commandStem is the name of a command's file.
func commandStem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }
