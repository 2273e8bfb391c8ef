package registry_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/registry"
)

// However somebody writes it down, what is there is found, and where nothing
// is, the answer says what might have had it.
func TestFindTools(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	split := h.adopted(t, "splitpot", server("splitpot", "settle_up"))
	off, broken := h.adopted(t, "switched", server("switched", "a")), h.adopted(t, "broken", server("broken", "b"))
	h.adopted(t, "unasked", server("unasked", "c"))
	h.set(t, h.member, keyOf(off), false)
	observe := func(key capability.Key, seen registry.Observation) {
		e, _ := look(t, h.reg, h.member).Find(key)
		if err := h.reg.Observe(t.Context(), h.member, e.Row, seen); err != nil {
			t.Fatal(err)
		}
	}
	observe(keyOf(split), registry.Observation{Known: true, Tools: []registry.ObservedTool{
		{Name: "settle_up", Title: "Even out", Description: "Records that a debt is paid back.", Schema: json.RawMessage(
			`{"type":"object","properties":{"creditor":{"type":"string","description":"Who gets the money."}}}`)},
		{Name: "list_groups", Description: "Lists the groups.", Schema: json.RawMessage(`{"type":"object"}`)},
	}})
	observe(keyOf(broken), registry.Observation{TroubleCode: "server_unreachable", Trouble: "No answer."})
	surface := func() *registry.Surface {
		return look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})
	}
	for _, query := range []string{
		"mcp__splitpot__settle_up", "settle_up", "SETTLE", "settle-up", "settleup", "setle up", "splitpot", "even out", "creditor",
		"pay back a debt", "settle_up " + strings.Repeat("and so on ", 400),
	} {
		found := surface().Find(query, 0)
		if !slices.ContainsFunc(found.Tools, func(f registry.FoundTool) bool { return f.Name == "mcp__splitpot__settle_up" && len(f.InputSchema) > 0 }) {
			t.Errorf("%.30q finds %+v", query, found.Tools)
		}
	}
	for _, exact := range []string{"mcp__splitpot__settle_up", "settle_up"} {
		if found := surface().Find(exact, 0); found.Tools[0].Name != "mcp__splitpot__settle_up" || found.Tools[0].Server != "splitpot" {
			t.Errorf("%s is not the first of %+v", exact, found.Tools)
		}
	}
	for _, query := range []string{"", "   ", "knead the dough"} {
		found := surface().Find(query, 0)
		standings := map[string]registry.Standing{}
		for _, u := range found.Unavailable {
			standings[u.Name] = u.Standing
		}
		if standings["switched"] != registry.Off || standings["broken"] != registry.Failing || !slices.Equal(found.Unasked, []string{"unasked"}) {
			t.Errorf("%q: unavailable %v, unasked %v", query, standings, found.Unasked)
		}
		for _, f := range found.Tools {
			if !f.Weak {
				t.Errorf("%q surely finds %s", query, f.Name)
			}
		}
	}
	if n := len(surface().Find("splitpot", 1<<40).Tools); n > 20 {
		t.Errorf("%d tools at once", n)
	}
}
