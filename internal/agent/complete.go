package agent

import "capstore/internal/registry"

// Completion is one line of what a slash can begin.
type Completion struct {
	Kind        string // "command", "skill" or "tool"
	Insert      string // the text that takes the place of what was typed
	Label       string // the same without the slash's arguments: /weekly, /skill:x, /tool x
	Hint        string // of a command's arguments, "" for none
	Description string
}

// maxCompletions bounds what Complete offers.
const maxCompletions = 30

// Complete offers what the typed beginning of a message can become: commands,
// then /skill:name and /tool name, those that begin as it does before those
// that are only near. What does not begin with a slash has none.
func Complete(snap *registry.Snapshot, prefix string) []Completion { return nil }
