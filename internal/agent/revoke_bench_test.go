package agent_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// BenchmarkRevocation is from the commit of a revocation on one server to what
// becomes of it on another: the next call refused, and a call that ran ended.
func BenchmarkRevocation(b *testing.B) {
	w := newWorld(b)
	v := w.code(b, w.member, "program", waits, nil)
	key, on, off := capability.CapabilityKey(v.Source, v.ID), true, false
	here, there := w.server(b, serverOptions{poll: never}), w.server(b, serverOptions{poll: never})
	flip := func(to *bool) {
		if _, err := here.ws.SetSwitch(b.Context(), w.member, key, to); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("refused", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			flip(&on)
			snap, err := there.agent.Bind(b.Context(), w.member)
			if err != nil {
				b.Fatal(err)
			}
			req := agent.Request{Actor: w.member, Conversation: w.conversation(b), Name: "code__program", Caller: agent.CallerDirect, Mode: capability.ModeBypass}
			flip(&off)
			b.StartTimer()
			if got, err := there.agent.Call(b.Context(), snap, req); err != nil || got.Code != workspace.RevokedSwitch {
				b.Fatalf("%+v, %v", got, err)
			}
		}
	})
	for name, s := range map[string]*server{"ended on the same server": here, "ended on another server": there} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				flip(&on)
				conv := w.conversation(b)
				_, done, err := s.agent.Begin(b.Context(), w.member, conv, agent.Ask{Tool: "code__program", Arguments: json.RawMessage(`{"wait":true}`)})
				if err != nil {
					b.Fatal(err)
				}
				for e, err := range s.agent.Follow(b.Context(), w.member, conv, 0) {
					if err != nil {
						b.Fatal(err)
					}
					if e.Entry != nil && e.Entry.Kind == agent.EntryToolCall {
						break
					}
				}
				b.StartTimer()
				flip(&off)
				<-done
			}
		})
	}
}
