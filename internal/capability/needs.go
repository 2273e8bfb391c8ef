package capability

import (
	"slices"
	"strings"
)

// Carried is what the rule on requirements needs to know of a row.
type Carried struct {
	Key      Key
	Enabled  bool
	Provides []string // runtime names of what it puts before the agent
	Requires []string // as its spec declares them
}

// Unmet returns, for every enabled row that leans on something which is not
// carried, what that is. Rows that lack nothing, and rows that are off, are not
// in the map.
func Unmet(rows []Carried) map[Key][]string {
	out := map[Key][]string{}
	carried := metBy(rows, "")
	for _, r := range rows {
		if lacks := lacking(r, carried); len(lacks) > 0 {
			out[r.Key] = lacks
		}
	}
	return out
}

// LeansOn returns the enabled rows, sorted, that would lose a requirement if
// key were switched off: what to say before it is. What another row provides
// as well is not lost.
func LeansOn(rows []Carried, key Key) []Key {
	var out []Key
	before, after := metBy(rows, ""), metBy(rows, key)
	for _, r := range rows {
		if r.Key != key && len(lacking(r, after)) > len(lacking(r, before)) {
			out = append(out, r.Key)
		}
	}
	slices.Sort(out)
	return out
}

// metBy is the set of requirements that the enabled rows satisfy, but for one.
func metBy(rows []Carried, without Key) map[string]bool {
	met := map[string]bool{}
	for _, r := range rows {
		if !r.Enabled || r.Key == without {
			continue
		}
		if pin, ok := strings.CutPrefix(string(r.Key), string(KeyCapability)+":"); ok {
			met[pin] = true
		}
		for _, name := range r.Provides {
			met[name] = true
		}
	}
	return met
}

func lacking(r Carried, met map[string]bool) []string {
	if !r.Enabled {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Requires), func(s string) bool { return met[s] })
}
