package web

import (
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/views"
)

// learn asks an MCP server for its tools where the composer needs to know them:
// the server of the key, or the one of a picked tool that nobody asked yet. It
// returns what is known then, and the key of the server that was asked, "" for
// none.
func (s *Site) learn(c *Ctx, snap *registry.Snapshot, tool string, key capability.Key) (*registry.Snapshot, capability.Key, error) {
	if key == "" {
		entry, picked, ok := snap.Tool(tool)
		if !ok || entry.Kind != registry.EntryMCP || picked.Schema != nil {
			return snap, "", nil
		}
		key = entry.Row.Key
	}
	learnt, err := s.Agent.Learn(c.R.Context(), c.Actor(), key)
	if fault.Is(err, fault.NotFound) {
		return snap, "", nil
	}
	return learnt, key, err
}

// otherName is the raw name of a tool where the runtime name does not end with
// it, since it was altered to be one; "" elsewhere.
func otherName(name, raw string) string {
	if strings.HasSuffix(name, raw) {
		return ""
	}
	return raw
}

// serverSaid puts into words what asking the server gave: what can be used,
// and why the rest cannot.
func (c *Ctx) serverSaid(snap *registry.Snapshot, key capability.Key) *views.ServerSaid {
	entry, ok := snap.Find(key)
	if !ok {
		return nil
	}
	if entry.Trouble != "" {
		return &views.ServerSaid{Text: c.T("chat.server_trouble", "name", entry.Row.Name), Notes: []string{entry.Trouble}}
	}
	usable := 0
	out := &views.ServerSaid{}
	for _, t := range entry.Tools {
		if t.Refused == "" {
			usable++
			continue
		}
		out.Notes = append(out.Notes, t.Raw+": "+t.Refused)
	}
	out.Text = c.T("chat.server_said", "name", entry.Row.Name, "usable", strconv.Itoa(usable), "refused", strconv.Itoa(len(out.Notes)))
	out.Notes = append(out.Notes, entry.Notes...)
	return out
}
