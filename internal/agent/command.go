package agent

import (
	"context"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/registry"
)

// What the host keeps for itself after a slash.
const (
	slashTool  = "tool"
	slashSkill = "skill"
)

// maxNear bounds what an unknown /name is answered with.
const maxNear = 5

// Expand reads a message that begins with a slash. It returns what a model
// reads in place of a usable command, and true; false for a text that calls
// none: no slash, a path, and the host's own /tool and /skill:name. A name that
// nothing takes is the fault unknown_command, which names what is near, and one
// that the member's agent has and cannot use is command_unusable; both stand at
// /text, and neither is for a model to read.
func (s *Service) Expand(ctx context.Context, actor capability.Actor, snap *registry.Snapshot, text string) (prompt string, ok bool, err error) {
	name, arguments, ok := slashed(text)
	if !ok || name == slashTool || strings.HasPrefix(name, slashSkill+":") {
		return "", false, nil
	}
	entry, found := findCommand(snap, name)
	switch {
	case !found:
		return "", false, noCommand(snap, name)
	case entry.Standing != registry.Usable:
		return "", false, atText(fault.New(fault.Denied, "command_unusable", "/%s cannot be used now (%s).", name, entry.Row.Reason).
			With("reason", string(entry.Row.Reason)).With("key", string(entry.Row.Key)).Do("Settings, Agent, says why, and who can change it."))
	}
	content, err := s.workspace.Content(ctx, actor, entry.Row)
	if err != nil {
		return "", false, err
	}
	spec, ok := content.Spec.(*capability.CommandSpec)
	if !ok {
		return "", false, fault.New(fault.Internal, "not_a_command", "What is stored under this version is no command.")
	}
	return spec.Expand(arguments), true, nil
}

// slashed takes a message that begins with a slash apart. A path is none, since
// no name holds a second slash.
func slashed(text string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
		name, arguments = rest[:end], rest[end+1:]
	}
	return name, arguments, !strings.Contains(name, "/")
}

// findCommand finds a command by what a person types, or by its own name. Of
// two that answer to it, the usable one does.
func findCommand(snap *registry.Snapshot, name string) (found registry.Entry, ok bool) {
	for _, e := range snap.Entries {
		if e.Kind != registry.EntryCommand || capability.CommandName(e.Row.Name) != name && e.Row.Name != name {
			continue
		}
		if !ok || found.Standing != registry.Usable {
			found, ok = e, true
		}
	}
	return found, ok
}

// noCommand answers a /name that nothing takes; it never reaches a model.
func noCommand(snap *registry.Snapshot, name string) error {
	f := fault.New(fault.Invalid, "unknown_command", "There is no command /%s here.", bounded(name, 80))
	if name == "" {
		f.Message = "A slash is followed by the name of a command."
	}
	near := nearCommands(snap, name)
	if len(near) == 0 {
		return atText(f.Do("Use /tool NAME {arguments} to run a tool, or /skill:NAME to load a skill."))
	}
	return atText(f.With("near", near).Do("Did you mean " + strings.Join(near, " or ") + "?"))
}

// nearCommands are what the name may have been meant for, as one would type it:
// slips of a name first, then what begins or goes on like it.
func nearCommands(snap *registry.Snapshot, name string) []string {
	var near []string
	add := func(label string) {
		for _, have := range near {
			if have == label {
				return
			}
		}
		if len(near) < maxNear {
			near = append(near, label)
		}
	}
	for _, kind := range []string{KindOfCommand, KindOfSkill, KindOfTool} {
		var names []string
		labels := map[string]string{}
		for _, c := range completable(snap) {
			if c.Kind == kind {
				names = append(names, c.name)
				labels[c.name] = c.Label
			}
		}
		if kind == KindOfTool {
			names, labels[slashTool] = append(names, slashTool), "/tool"
		}
		if nearest := jsonx.Nearest(name, names); nearest != "" {
			add(labels[nearest])
		}
	}
	if name != "" {
		for _, c := range Complete(snap, "/"+name) {
			add(c.Label)
		}
	}
	return near
}

func atText(f *fault.Fault) error {
	f.Fields = []fault.Field{{Path: "/text", Code: f.Code, Message: f.Message}}
	return f
}
