package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

func (w *world) command(t testing.TB, by capability.Actor, name, template, hint string) {
	t.Helper()
	w.adopt(t, by, w.publish(t, by, name, map[string]any{"type": "command", "template": template, "argumentHint": hint}), nil)
}

func (w *world) bind(t testing.TB, actor capability.Actor) *registry.Snapshot {
	t.Helper()
	snap, err := w.agent.Bind(context.WithoutCancel(t.Context()), actor)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func TestCommandsExpand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.command(t, w.admin, "weekly", "Report on $1 for $2. All: $ARGUMENTS", "TEAM WEEK")
	w.command(t, w.admin, "front:tidy", "Tidy up.", "")
	w.command(t, w.admin, "old", "Gone.", "")
	w.skill(t, w.admin, "review", "Read it.")
	w.echo(t)
	off := false
	if _, err := w.ws.SetSwitch(t.Context(), w.member, capability.CapabilityKey("acme", "old"), &off); err != nil {
		t.Fatal(err)
	}
	snap := w.bind(t, w.member)
	for text, want := range map[string]string{
		`/weekly sales "week 3"`:       `Report on sales for week 3. All: sales "week 3"`,
		"  /weekly\n":                  "Report on  for . All: ",
		"/weekly 9007199254740993\n$1": "Report on 9007199254740993 for $1. All: 9007199254740993\n$1",
		"/front:tidy":                  "Tidy up.",
		"/" + capability.CommandName("front:tidy") + " the desk": "Tidy up.\n\nthe desk",
	} {
		if got, ok, err := w.agent.Expand(t.Context(), w.member, snap, text); err != nil || !ok || got != want {
			t.Errorf("%q: %q, %t, %v; want %q", text, got, ok, err, want)
		}
	}
	for _, text := range []string{"weekly", "/tool code__echo {}", "/tool", "/skill:review", "/usr/bin/env is there", "10/2"} {
		if got, ok, err := w.agent.Expand(t.Context(), w.member, snap, text); err != nil || ok || got != "" {
			t.Errorf("%q calls no command: %q, %t, %v", text, got, ok, err)
		}
	}
	for text, near := range map[string]string{
		"/weekyl":                     "/weekly",
		"/WEEKLY":                     "/weekly",
		"/reveiw":                     "/skill:review",
		"/review this":                "/skill:review",
		"/code__ech":                  "/tool code__echo",
		"/tools":                      "/tool",
		"/zzzzzzzz":                   "",
		"/":                           "",
		"/" + strings.Repeat("é", 99): "",
	} {
		_, ok, err := w.agent.Expand(t.Context(), w.member, snap, text)
		f := fault.From(err)
		if ok || f == nil || f.Code != "unknown_command" || len(f.Fields) != 1 || f.Fields[0].Path != "/text" {
			t.Errorf("%q: %t, %v", text, ok, err)
			continue
		}
		got, _ := f.Detail["near"].([]string)
		if near != "" && !slices.Contains(got, near) || near == "" && got != nil {
			t.Errorf("%q: near %q, want %q", text, got, near)
		}
	}
	if _, _, err := w.agent.Expand(t.Context(), w.member, snap, "/old"); fault.From(err).Code != "command_unusable" {
		t.Errorf("what is switched off: %v", err)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.command(t, w.admin, "weekly", "Report on $1.", "TEAM")
	w.command(t, w.admin, "tidy", "Tidy up.", "")
	w.skill(t, w.admin, "weekly-review", "Read it.")
	w.skill(t, w.admin, "review", "Read it.")
	w.echo(t)
	snap := w.bind(t, w.member)
	for prefix, want := range map[string][]string{
		"":             nil,
		"weekly":       nil,
		"/":            {"/tidy", "/weekly", "/skill:review", "/skill:weekly-review", "/tool code__echo"},
		"/we":          {"/weekly", "/skill:weekly-review"},
		"/rev":         {"/skill:review", "/skill:weekly-review"},
		"/WKLY":        {"/weekly", "/skill:weekly-review"},
		"/t":           {"/tidy", "/tool code__echo"},
		"/skill:":      {"/skill:review", "/skill:weekly-review"},
		"/skill:w":     {"/skill:weekly-review", "/skill:review"},
		"/tool ":       {"/tool code__echo"},
		"/tool echo":   {"/tool code__echo"},
		"/weekly ":     {"/weekly"},
		"/weekly on x": {"/weekly"},
		"/nothing on":  nil,
		"/zzz":         nil,
	} {
		var got []string
		for _, c := range agent.Complete(snap, prefix) {
			if c.Kind == agent.KindOfTool && c.Label != "/tool code__echo" {
				continue // the built-ins
			}
			got = append(got, c.Label)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", prefix, diff)
		}
	}
	want := []agent.Completion{{Kind: agent.KindOfCommand, Insert: "/weekly ", Label: "/weekly", Hint: "TEAM", Description: "Does weekly."}}
	if diff := cmp.Diff(want, agent.Complete(snap, "/weekly")[:1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
