package registry

import (
	"encoding/json"
	"fmt"

	"capstore/internal/capability"
)

// Manifest is what an epoch held, kept so that what a turn could see is known
// for as long as the turn is.
type Manifest struct {
	Mode    capability.PermissionMode `json:"mode"`
	Entries []Listed                  `json:"entries"`
}

// Listed is one entry of a manifest. What was switched off is not listed.
type Listed struct {
	Kind     EntryKind      `json:"kind"`
	Name     string         `json:"name"`
	Key      capability.Key `json:"key"`
	Origin   Origin         `json:"origin"`
	Source   string         `json:"source,omitempty"`
	ID       string         `json:"id,omitempty"`
	Version  string         `json:"version,omitempty"`
	Digest   string         `json:"digest,omitempty"` // of the content
	Standing Standing       `json:"standing"`
	Reason   string         `json:"reason,omitempty"`
	Tools    []string       `json:"tools,omitempty"` // runtime names
	// Private is the member's own, which nobody else is shown.
	Private bool `json:"private,omitempty"`
	// Mark is equal exactly when all that a turn sees of the entry is.
	Mark string `json:"mark"`
}

// Manifest lists what a turn sees of the set.
func (s *Set) Manifest() Manifest {
	m := Manifest{Mode: s.Mode, Entries: make([]Listed, 0, len(s.Entries))}
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Standing != Off {
			m.Entries = append(m.Entries, listed(e))
		}
	}
	return m
}

func listed(e *Entry) Listed {
	l := Listed{
		Kind: e.Kind, Name: e.Row.Name, Key: e.Row.Key, Origin: e.Origin, Source: e.Row.Source, ID: e.Row.ID,
		Version: e.Row.Version, Digest: e.Row.Digest, Standing: e.Standing, Reason: e.Reason(), Mark: e.mark,
		Private: e.Row.Origin == capability.OriginPersonal,
	}
	for i := range e.Tools {
		if t := &e.Tools[i]; t.Refused == "" {
			l.Tools = append(l.Tools, t.Name)
		}
	}
	return l
}

// skills are the digests of the skills that a turn may load.
func (m Manifest) skills() []string {
	out := []string{}
	for _, e := range m.Entries {
		if e.Kind == EntrySkill && e.Standing.Callable() {
			out = append(out, e.Digest)
		}
	}
	return out
}

// NarrowTo returns a snapshot of what the set still holds exactly as the
// manifest lists it, for a turn that goes on after its own snapshot is gone.
// What has changed since is left out: it belongs to the next turn. Hooks stay
// as they are now, since they only forbid: one that was pinned anew meanwhile
// watches on.
func (s *Snapshot) NarrowTo(m Manifest) *Snapshot {
	marks := make(map[string]bool, len(m.Entries))
	for _, l := range m.Entries {
		marks[l.Mark] = true
	}
	kept := make([]Entry, 0, len(s.Entries))
	for i := range s.Entries {
		if e := &s.Entries[i]; marks[e.mark] || e.Always || e.Kind == EntryHook {
			kept = append(kept, *e)
		}
	}
	return &Snapshot{Set: newSet(s.Config, s.aside, kept), Epoch: s.Epoch}
}

func decodeManifest(raw json.RawMessage) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("stored manifest: %w", err)
	}
	return m, nil
}
