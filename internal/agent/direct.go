package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
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

// maxSuggestions is how many tools and skills an answer proposes.
const maxSuggestions = 5

// Ask is what a member sends: a text, or a tool by name with its arguments.
type Ask struct {
	Text      string
	Tool      string
	Arguments json.RawMessage
	// Refs are what the message is about: see Message.
	Refs []string
}

// read decides what the ask wants: calls that the member makes by hand, a text
// for a model, or both, as when a skill is loaded and something asked of it.
func (s *Service) read(ctx context.Context, actor capability.Actor, snap *registry.Snapshot, ask Ask) (Message, error) {
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

// suggest ranks what the snapshot holds by the words it shares with the text.
func suggest(snap *registry.Snapshot, text string) []Suggestion {
	type scored struct {
		Suggestion
		score int
	}
	want := words(text)
	var found []scored
	consider := func(kind, name, description string) {
		score := 3*shared(want, words(name)) + shared(want, words(description))
		if score > 0 {
			found = append(found, scored{Suggestion{kind, name, description}, score})
		}
	}
	for _, e := range snap.Entries {
		if !e.Standing.Callable() || e.Always {
			continue
		}
		if e.Kind == registry.EntrySkill {
			consider("skill", e.Row.Name, e.Row.Description)
		}
		for _, t := range e.Tools {
			consider("tool", t.Name, cmp.Or(t.Description, e.Row.Description))
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Or(b.score-a.score, cmp.Compare(a.Name, b.Name)) })
	out := make([]Suggestion, 0, maxSuggestions)
	for _, f := range found[:min(len(found), maxSuggestions)] {
		out = append(out, f.Suggestion)
	}
	return out
}

// words are the letters-and-digits runs of s, folded, two characters or more.
func words(s string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), func(w string) bool { return len(w) < 2 })
}

func shared(want, have []string) int {
	n := 0
	for _, w := range want {
		if slices.ContainsFunc(have, func(h string) bool { return h == w || len(w) > 3 && strings.HasPrefix(h, w) }) {
			n++
		}
	}
	return n
}
