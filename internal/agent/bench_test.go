package agent_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/agent"
)

// BenchmarkDispatch is the door without the program behind it: a call of a
// skill, with its schema check, authorization, ledger rows and snapshot.
func BenchmarkDispatch(b *testing.B) {
	w := newWorld(b)
	w.skill(b, w.member, "close-month", "# Closing")
	conv, err := w.agent.NewConversation(b.Context(), w.member)
	if err != nil {
		b.Fatal(err)
	}
	snap, err := w.agent.Bind(b.Context(), w.member)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		got, err := w.agent.Call(b.Context(), snap, agent.Request{
			Actor: w.member, Conversation: conv.ID, Turn: conv.ID, Name: agent.UseSkill,
			Arguments: json.RawMessage(`{"name":"close-month"}`), Caller: agent.CallerDirect,
		})
		if err != nil || got.IsError {
			b.Fatal(got, err)
		}
	}
}

// BenchmarkBind is the snapshot of a turn over what a member carries.
func BenchmarkBind(b *testing.B) {
	w := newWorld(b)
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		w.code(b, w.member, name, echo, nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.agent.Bind(b.Context(), w.member); err != nil {
			b.Fatal(err)
		}
	}
}
