package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
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

// Begin takes one message into the actor's conversation and answers it in the
// background, without a model: a tool is run, a plain text is answered with
// what could be run. The message stands in the ledger when Begin returns, and
// done closes when the answer does too. Faults of the message itself (empty,
// too long, unknown /name) come back at once and leave nothing behind.
func (s *Service) Begin(ctx context.Context, actor capability.Actor, conversation uuid.UUID, ask Ask) (turn uuid.UUID, done <-chan struct{}, err error) {
	if err := capability.May(actor, capability.ActRun, capability.Ownership{}); err != nil {
		return uuid.Nil, nil, err
	}
	conv, err := s.Conversation(ctx, actor, conversation)
	if err != nil {
		return uuid.Nil, nil, err
	}
	snap, err := s.Bind(ctx, actor)
	if err != nil {
		return uuid.Nil, nil, err
	}
	req, text, err := read(snap, ask)
	if err != nil {
		return uuid.Nil, nil, err
	}
	req.Actor, req.Conversation, req.Caller, req.Mode = actor, conversation, CallerDirect, snap.Mode
	taken := make(chan error, 1)
	turn, done, err = s.turns.begin(conversation, func(run context.Context, turn uuid.UUID) {
		err := s.take(ctx, conv, turn, Message{Text: text, Refs: ask.Refs})
		taken <- err
		if err == nil {
			s.answer(run, snap, req, turn, text)
		}
	})
	if err != nil {
		return uuid.Nil, nil, err
	}
	return turn, done, <-taken
}

// take writes the member's message, and the title from the first one.
func (s *Service) take(ctx context.Context, conv Conversation, turn uuid.UUID, said Message) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := write(ctx, tx, conv.ID, turn, EntryMessage, nil, said); err != nil {
			return err
		}
		if conv.Title != "" {
			return nil
		}
		return queries.TitleConversation(ctx, tx, db.TitleConversationParams{ID: conv.ID, Title: titleOf(strings.TrimPrefix(said.Text, "/tool "))})
	})
}

// read decides what the ask wants: a request to run, or a text to answer.
func read(snap *registry.Snapshot, ask Ask) (Request, string, error) {
	if ask.Tool != "" {
		return Request{Name: ask.Tool, Arguments: ask.Arguments}, "/tool " + ask.Tool + argumentsText(ask.Arguments), nil
	}
	text := strings.TrimSpace(ask.Text)
	switch {
	case text == "":
		return Request{}, "", fieldFault("/text", "required", "Write something, or pick a tool.")
	case len(text) > maxMessage:
		return Request{}, "", fieldFault("/text", "too_long", "A message has at most 64 KiB.")
	case !strings.HasPrefix(text, "/"):
		return Request{}, text, nil
	}
	name, rest, _ := strings.Cut(text[1:], " ")
	if skill, ok := strings.CutPrefix(name, "skill:"); ok {
		args, err := json.Marshal(map[string]string{"name": skill})
		return Request{Name: UseSkill, Arguments: args}, text, err
	}
	if name != "tool" {
		return Request{}, "", unknownCommand(name)
	}
	tool, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if tool == "" {
		return Request{}, "", fieldFault("/text", "tool_missing", "Name a tool after /tool, or pick one from the list.")
	}
	args = strings.TrimSpace(args)
	if args != "" {
		if err := jsonx.Check([]byte(args), maxArguments); err != nil {
			return Request{}, "", err
		}
	}
	return Request{Name: tool, Arguments: json.RawMessage(args)}, text, nil
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

// unknownCommand answers a /name that nothing takes; it never reaches a model.
func unknownCommand(name string) error {
	f := fault.New(fault.Invalid, "unknown_command", "There is no command /%s here.", name)
	f.Fields = []fault.Field{{Path: "/text", Code: "unknown_command", Message: f.Message}}
	if near := jsonx.Nearest(name, []string{"tool", "skill"}); near != "" {
		return f.Do("Did you mean /" + near + "?")
	}
	return f.Do("Use /tool NAME {arguments} to run a tool, or /skill:NAME to load a skill.")
}

// answer is the turn: it ends with a result, with proposals, or with an entry
// that says why not.
func (s *Service) answer(ctx context.Context, snap *registry.Snapshot, req Request, turn uuid.UUID, text string) {
	req.Turn = turn
	var err error
	if req.Name != "" {
		_, err = s.Call(ctx, snap, req)
	} else {
		err = s.note(ctx, req.Conversation, turn, EntryModelOutput, ModelOutput{Model: directModel, Suggestions: suggest(snap, text)})
	}
	if errors.Is(context.Cause(ctx), errStopped) {
		err = s.note(ctx, req.Conversation, turn, EntryStop, Failure{Code: "stopped", Message: "You stopped this."})
	}
	if err == nil {
		return
	}
	s.log.ErrorContext(ctx, "agent: turn failed", "turn", turn, "error", err)
	if err := s.note(ctx, req.Conversation, turn, EntryError, failure(err)); err != nil {
		s.log.ErrorContext(ctx, "agent: end of turn not written", "turn", turn, "error", err)
	}
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
