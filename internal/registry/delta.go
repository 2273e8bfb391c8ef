package registry

import (
	"fmt"
	"slices"
	"strings"

	"capstore/internal/capability"
)

// Delta is the difference between two epochs of a world, as the ledger and the
// model are told. Added can be called since, Removed can no longer, Changed is
// still there and something about it differs.
type Delta struct {
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	Mode    string   `json:"mode,omitempty"` // the permission mode, where it is another
	Added   []Change `json:"added,omitempty"`
	Removed []Change `json:"removed,omitempty"`
	Changed []Change `json:"changed,omitempty"`
}

// Change is one entry of a delta. Reason is the closed code of why it stands
// as it does now; Gone where it is in the world no more.
type Change struct {
	Kind     EntryKind      `json:"kind"`
	Name     string         `json:"name"`
	Key      capability.Key `json:"key"`
	Version  string         `json:"version,omitempty"`
	Standing Standing       `json:"standing"`
	Reason   string         `json:"reason"`
	What     []string       `json:"what,omitempty"` // of a change: version, content, standing, tools, setup
	Private  bool           `json:"private,omitempty"`
}

// Gone is the reason of what left the world: un-adopted, deleted, switched
// off, or out of reach.
const Gone = "gone"

// Empty reports whether nothing differs.
func (d Delta) Empty() bool {
	return d.Mode == "" && len(d.Added) == 0 && len(d.Removed) == 0 && len(d.Changed) == 0
}

// veiled is the delta without what is private to the member.
func (d Delta) veiled() Delta {
	shown := func(list []Change) []Change {
		return slices.DeleteFunc(slices.Clone(list), func(c Change) bool { return c.Private })
	}
	d.Added, d.Removed, d.Changed = shown(d.Added), shown(d.Removed), shown(d.Changed)
	return d
}

// difference compares two manifests. off finds why an entry that is not listed
// any more is off; it may be nil.
func difference(from, to Manifest, off func(capability.Key) (Entry, bool)) Delta {
	var d Delta
	if from.Mode != to.Mode {
		d.Mode = string(to.Mode)
	}
	before := make(map[capability.Key]*Listed, len(from.Entries))
	for i := range from.Entries {
		before[from.Entries[i].Key] = &from.Entries[i]
	}
	for i := range to.Entries {
		now := &to.Entries[i]
		was := before[now.Key]
		delete(before, now.Key)
		switch {
		case was != nil && was.Mark == now.Mark:
		case (was == nil || !was.Standing.Callable()) && now.Standing.Callable():
			d.Added = append(d.Added, changeOf(now, nil))
		case was != nil && was.Standing.Callable() && !now.Standing.Callable():
			d.Removed = append(d.Removed, changeOf(now, nil))
		default:
			d.Changed = append(d.Changed, changeOf(now, what(was, now)))
		}
	}
	for i := range from.Entries { // in their order
		was, left := before[from.Entries[i].Key]
		if !left {
			continue
		}
		c := changeOf(was, nil)
		c.Standing, c.Reason = Off, Gone
		if off != nil {
			if e, ok := off(was.Key); ok {
				c.Reason = e.Reason()
			}
		}
		d.Removed = append(d.Removed, c)
	}
	return d
}

func changeOf(l *Listed, what []string) Change {
	return Change{Kind: l.Kind, Name: l.Name, Key: l.Key, Version: l.Version, Standing: l.Standing, Reason: l.Reason, What: what, Private: l.Private}
}

func what(was, now *Listed) []string {
	if was == nil {
		return []string{"standing"}
	}
	var out []string
	add := func(name string, differs bool) {
		if differs {
			out = append(out, name)
		}
	}
	add("version", was.Version != now.Version)
	add("content", was.Version == now.Version && was.Digest != now.Digest)
	add("standing", was.Standing != now.Standing || was.Reason != now.Reason)
	add("tools", strings.Join(was.Tools, "\x00") != strings.Join(now.Tools, "\x00"))
	if len(out) == 0 {
		out = append(out, "setup") // what it is granted, or how a tool is described
	}
	return out
}

// String tells the model what changed, one line each; "" for nothing.
func (d Delta) String() string {
	var b strings.Builder
	line := func(sign string, c Change) {
		fmt.Fprintf(&b, "%s %s %s", sign, c.Kind, oneLine(c.Name, maxName))
		if c.Version != "" {
			b.WriteString(" " + c.Version)
		}
		switch {
		case len(c.What) > 0 && c.Standing.Callable():
			b.WriteString(" (" + strings.Join(c.What, ", ") + ")")
		case c.Reason != "":
			b.WriteString(" (" + c.Reason + ")")
		}
		b.WriteString("\n")
	}
	for _, c := range d.Added {
		line("+", c)
	}
	for _, c := range d.Removed {
		line("-", c)
	}
	for _, c := range d.Changed {
		line("~", c)
	}
	if d.Mode != "" {
		b.WriteString("~ permission mode " + d.Mode + "\n")
	}
	return b.String()
}
