package registry

import (
	"capstore/internal/workspace"
)

// Current is the snapshot that the world stands at in this process, without
// looking at the database; nil when the world is not in use.
func (r *Registry) Current(key Key) *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.worlds[key.Workspace][key.Subject]; w != nil {
		return w.current
	}
	return nil
}

// Sets is how many sets are known to be alive.
func (r *Registry) Sets() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sets)
}

// Build is a set of what is carried, with nothing observed.
func Build(carried workspace.Carried) *Set {
	return build(carried, nil, func(*workspace.Row) (Observation, bool) { return Observation{}, false })
}

// Readmit forgets what was admitted.
func (s *Set) Readmit() { s.admitted.Clear() }

// FirstSentence is how the catalogue shortens what a tool says of itself.
var FirstSentence = firstSentence
