// Package interchange reads and writes the formats of the world outside. What
// it reads was written by strangers: every reader bounds its work while it
// streams, refuses whole what is dangerous, and notes what it tolerated.
package interchange

import (
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Note is something that was tolerated, changed or left out on the way in.
type Note struct {
	Path    string `json:"path"`             // within what was imported
	Code    string `json:"code"`             // stable, snake_case
	Message string `json:"message"`          // one sentence, safe to show
	Detail  string `json:"detail,omitempty"` // such as the repaired front matter
}

// Status is the fate of one SKILL.md.
type Status string

const (
	// Ready is for what can be made into a skill.
	Ready Status = "ready"
	// Refused is for what cannot, with the fault that says why.
	Refused Status = "refused"
	// Ignored is for a SKILL.md that is no skill of its own.
	Ignored Status = "ignored"
)

// Item is one SKILL.md that was found.
type Item struct {
	Path     string // of the SKILL.md itself
	Status   Status
	Content  capability.Content // when Ready; its Spec is a *capability.SkillSpec
	Repaired bool               // the front matter had to be mended to be read
	Notes    []Note
	Fault    *fault.Fault // when Refused
}

// Import is all that was found, in the order of paths. The numbers add up:
// every item is Ready, Refused or Ignored.
type Import struct {
	Items []Item
	Notes []Note // about the whole, such as junk left out
}

// Count returns how many items have the status.
func (i Import) Count(s Status) int {
	n := 0
	for _, item := range i.Items {
		if item.Status == s {
			n++
		}
	}
	return n
}

// Ready returns the items that can be made into skills.
func (i Import) Ready() []Item {
	var out []Item
	for _, item := range i.Items {
		if item.Status == Ready {
			out = append(out, item)
		}
	}
	return out
}
