package intake

import (
	"encoding/json"
	"fmt"
	"slices"
)

// keptState is a State as it is kept.
type keptState struct {
	State
	Sealed []byte `json:"supplied,omitempty"`
}

// closeState spells the state for the database. What was supplied goes with
// what was sent, once everything was dealt with.
func (s *Staging) closeState(st State, bound []string) ([]byte, error) {
	kept := keptState{State: st}
	if len(st.Supply) > 0 && !st.Over {
		clear, err := json.Marshal(st.Supply)
		if err != nil {
			return nil, fmt.Errorf("staged import: %w", err)
		}
		if kept.Sealed, err = s.secrets.Seal(clear, append(bound, "supply")...); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("staged import: %w", err)
	}
	return raw, nil
}

// openState reads what closeState spelt. Missing once the key was replaced.
func (s *Staging) openState(raw []byte, bound []string) (State, error) {
	var kept keptState
	if err := json.Unmarshal(raw, &kept); err != nil {
		return State{}, fmt.Errorf("staged import: %w", err)
	}
	if len(kept.Sealed) == 0 {
		return kept.State, nil
	}
	clear, ok := s.secrets.Unseal(kept.Sealed, append(bound, "supply")...)
	if !ok {
		return State{}, expired()
	}
	if err := json.Unmarshal(clear, &kept.Supply); err != nil {
		return State{}, fmt.Errorf("staged import: %w", err)
	}
	return kept.State, nil
}

// Tell adds results. Of two requests that dealt with the same thing at once, one
// made it and the other found it there: what counts for the import is that it
// was made, and that its secrets were kept.
func (st *State) Tell(results []Result) {
	for _, r := range results {
		at := slices.IndexFunc(st.Results, func(have Result) bool { return have.Path == r.Path })
		if at < 0 {
			st.Results = append(st.Results, r)
			continue
		}
		have := st.Results[at]
		if r.Status != Made || have.Status == Made {
			have, r = r, have
		}
		for i, kept := range r.Secrets {
			same := slices.IndexFunc(have.Secrets, func(k KeptSecret) bool { return k.Name == kept.Name && k.Fault == nil })
			if same >= 0 {
				r.Secrets[i] = have.Secrets[same]
			}
		}
		st.Results[at] = r
	}
}
