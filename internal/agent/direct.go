package agent

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/registry"
)

// directModel is the name under which direct mode answers.
const directModel = "direct"

const (
	maxRefs = 8
	maxRef  = 300
)

// Ask is what a member sends: a text, or a tool by name with its arguments.
type Ask struct {
	Text      string
	Tool      string
	Arguments json.RawMessage
	// Refs are what the message is about: see Message.
	Refs []string
	// Surface is the door that it comes in by; "" is the pages'.
	Surface capability.Surface
}

// read decides what the ask wants: calls that the member makes by hand, a text
// for a model, or both, as when a skill is loaded and something asked of it.
func (s *Service) read(ctx context.Context, actor capability.Actor, snap *registry.Snapshot, ask Ask) (Message, error) {
	m, err := s.readText(ctx, actor, snap, ask)
	if err == nil {
		m.Refs, err = readRefs(ask.Refs)
	}
	return m, err
}

// readRefs holds what a message is about to its form. Whether the member may
// read it is asked when it is read.
func readRefs(refs []string) ([]string, error) {
	if len(refs) > maxRefs {
		return nil, fieldFault("/refs", "too_many", "A message is about eight things at most.")
	}
	for _, r := range refs {
		kind, id, _ := strings.Cut(r, ":")
		if kind != "capability" && kind != "skill" || id == "" || len(r) > maxRef || strings.ContainsFunc(r, func(c rune) bool { return !unicode.IsPrint(c) || c == ' ' }) {
			return nil, fieldFault("/refs", "unreadable", "A reference is capability:source/id or skill:id.")
		}
	}
	return refs, nil
}

func (s *Service) readText(ctx context.Context, actor capability.Actor, snap *registry.Snapshot, ask Ask) (Message, error) {
	if ask.Tool != "" {
		return Message{Text: "/tool " + ask.Tool + argumentsText(ask.Arguments), Calls: byHand(ask.Tool, ask.Arguments)}, nil
	}
	text := strings.TrimSpace(ask.Text)
	switch {
	case text == "":
		return Message{}, fieldFault("/text", "required", "Write something, or pick a tool.")
	case len(text) > maxMessage:
		return Message{}, fieldFault("/text", "too_long", "A message has at most 64 KiB.")
	}
	name, rest, slash := slashed(text)
	if skill, ok := strings.CutPrefix(name, slashSkill+":"); ok && slash {
		args, err := json.Marshal(map[string]string{"name": skill})
		return Message{Text: text, Prompt: strings.TrimSpace(rest), Calls: byHand(UseSkill, args)}, err
	}
	if !slash || name != slashTool {
		prompt, _, err := s.Expand(ctx, actor, snap, text)
		return Message{Text: text, Prompt: prompt}, err
	}
	tool, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if tool == "" {
		return Message{}, fieldFault("/text", "tool_missing", "Name a tool after /tool, or pick one from the list.")
	}
	args = strings.TrimSpace(args)
	if args != "" {
		if err := jsonx.Check([]byte(args), maxArguments); err != nil {
			return Message{}, err
		}
	}
	return Message{Text: text, Calls: byHand(tool, json.RawMessage(args))}, nil
}

func byHand(tool string, args json.RawMessage) []Requested {
	call := Requested{Ref: handRef + "1", Name: tool}
	switch {
	case len(args) == 0:
	case json.Valid(args) && utf8.Valid(args):
		call.Arguments = args
	default:
		call.Broken = string(args)
	}
	return []Requested{call}
}

// asks reports whether the message wants an answer, not only its calls made.
func (m Message) asks() bool { return len(m.Calls) == 0 || m.Prompt != "" }

// promptOf is the message as a model reads it.
func promptOf(m Message) string {
	if m.Prompt != "" {
		return m.Prompt
	}
	return m.Text
}

func argumentsText(args json.RawMessage) string {
	if len(args) == 0 || len(args) > 4096 {
		return ""
	}
	return " " + string(args)
}

func fieldFault(path, code, message string) error {
	return fault.Fields([]fault.Field{{Path: path, Code: code, Message: message}})
}
