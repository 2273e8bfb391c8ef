package agent_test

import (
	"iter"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/workspace"
)

// BenchmarkFirstWord is from the moment at which a model speaks to the one at
// which a follower on the same server is told.
func BenchmarkFirstWord(b *testing.B) {
	w := newWorld(b)
	var gate *modeltest.Gate
	w.think(b, workspace.ProviderOpenAI, modeltest.NewFunc(b, func(modeltest.Request) modeltest.Step {
		return modeltest.Say().Wait(gate).Say("Now.")
	}))
	for b.Loop() {
		b.StopTimer()
		gate = modeltest.NewGate()
		conv := w.conversation(b)
		next, stop := iter.Pull2(w.agent.Follow(b.Context(), w.member, conv, 0))
		done := w.begin(b, conv, "go")
		for {
			if e, err, ok := next(); err != nil || !ok {
				b.Fatal(err)
			} else if e.Turn != nil && e.Turn.State == agent.TurnRunning {
				break
			}
		}
		<-gate.Reached()
		b.StartTimer()
		gate.Open()
		for {
			if e, err, ok := next(); err != nil || !ok {
				b.Fatal(err)
			} else if e.Partial != nil || e.Entry != nil && e.Entry.Kind == agent.EntryModelOutput {
				break
			}
		}
		b.StopTimer()
		<-done
		stop()
		b.StartTimer()
	}
}
