package agent_test

import (
	"sync"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
)

// Programs that take all they can end as what they are, while others run and
// the conversation answers.
func TestBombsEndAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	bombs := map[string]struct{ code, want string }{
		"forks":   {"import os\nwhile True: os.fork()\n", sandbox.CodeProcessLimit},
		"memory":  {"x = []\nwhile True: x.append(bytearray(1 << 20))\n", sandbox.CodeOutOfMemory},
		"output":  {"while True: print('y' * 4096)\n", sandbox.CodeOutputTooLarge},
		"nothing": {"print('done.')\n", sandbox.CodeNoResult},
		"failure": {"print('{}')\nraise SystemExit(3)\n", sandbox.CodeExitNonzero},
	}
	for name, b := range bombs {
		w.code(t, w.member, name, b.code, nil)
	}
	var wg sync.WaitGroup
	for name, b := range bombs {
		wg.Go(func() {
			got := last[agent.ToolResult](t, w.say(t, w.member, agent.Ask{Tool: "code__" + name}), agent.EntryToolResult)
			if got.Code != b.want || !got.IsError || got.Structured != nil || got.Message == "" {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
	for range 3 {
		got := last[agent.ToolResult](t, w.run(t, "code__echo", `{"n":1}`), agent.EntryToolResult)
		if string(got.Structured) != `{"n":1}` {
			t.Errorf("a healthy program beside them: %+v", got)
		}
	}
	wg.Wait()
}
