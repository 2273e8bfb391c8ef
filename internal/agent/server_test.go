package agent_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/agent/mcppool/mcptest"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/registry"
)

// serve publishes the server under the name and adopts it, with the classes
// and the right to write that an adopter confirms.
func (w *world) serve(t *testing.T, s *mcptest.Stub, name string, classes map[string]any, write bool) capability.Key {
	t.Helper()
	v := w.publish(t, w.member, name, map[string]any{"type": "mcp", "url": s.URL, "toolClasses": classes})
	w.adoptServer(t, v, write)
	return capability.CapabilityKey(v.Source, v.ID)
}

// learnt asks the server of the key and returns its entry.
func (w *world) learnt(t *testing.T, key capability.Key) (*registry.Snapshot, registry.Entry) {
	t.Helper()
	snap, err := w.agent.Learn(t.Context(), w.member, key)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := snap.Find(key)
	if !ok || entry.Trouble != "" {
		t.Fatalf("entry %+v", entry)
	}
	return snap, entry
}

// named returns the runtime names by the server's own ones, "" for a refused
// tool.
func named(e registry.Entry) map[string]string {
	out := map[string]string{}
	for _, tool := range e.Tools {
		out[tool.Raw] = tool.Name
		if tool.Refused != "" {
			out[tool.Raw] = ""
		}
	}
	return out
}

// run calls a tool by its runtime name and returns the ledger.
func (w *world) run(t *testing.T, name, args string) []agent.Entry {
	t.Helper()
	return w.say(t, w.member, agent.Ask{Tool: name, Arguments: json.RawMessage(args)})
}

func (w *world) adoptServer(t *testing.T, v catalog.VersionInfo, write bool) {
	t.Helper()
	_, err := w.ws.Adopt(t.Context(), w.member, adoption(v, write))
	if err != nil {
		t.Fatalf("adopt %s: %v", v.ID, err)
	}
}
