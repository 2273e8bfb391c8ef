package agent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

// used records a turn of so many days ago that ended, with the calls: each a
// tool, how long it took in milliseconds, and whether it failed.
func (w *world) used(t *testing.T, who capability.Actor, ago int, model, cost string, calls ...ended) {
	t.Helper()
	conversation, turn := uuid.New(), uuid.New()
	w.exec(t, `INSERT INTO conversations (id, workspace, subject) VALUES ($1, $2, $3)`, conversation, who.Workspace, who.Subject)
	w.exec(t, `INSERT INTO turns (turn, conversation, workspace, subject, surface, epoch, digest, mode, model, state, server,
			steps, input_tokens, cached_tokens, output_tokens, cost, started_at)
		VALUES ($1, $2, $3, $4, 'web', 1, '', 'ask', $5, 'done', $1, 2, 100, 30, 10, nullif($6, '')::numeric,
			date_trunc('day', now(), 'UTC') - make_interval(days => $7))`,
		turn, conversation, who.Workspace, who.Subject, model, cost, ago)
	for i, c := range calls {
		w.exec(t, `INSERT INTO ledger (conversation, seq, at, turn, kind, call, payload)
			VALUES ($1, $2, date_trunc('day', now(), 'UTC') - make_interval(days => $3), $4, 'tool_result', $5, $6)`,
			conversation, i+1, ago, turn, c.id(), fmt.Sprintf(`{"name":%q,"isError":%v,"durationMs":%d}`, c.tool, c.failed, c.ms))
	}
}

type ended struct {
	tool    string
	ms      int
	failed  bool
	refused bool // before it started, so that its entry names no call
}

func (c ended) id() *uuid.UUID {
	if c.refused {
		return nil
	}
	id := uuid.New()
	return &id
}

func usageWorld(t *testing.T) *world {
	w := newWorld(t)
	w.used(t, w.member, 0, "house", "0.25", ended{tool: "a", ms: 10}, ended{tool: "a", ms: 30}, ended{tool: "b", ms: 2000, failed: true}, ended{tool: "b", refused: true})
	w.used(t, w.member, 2, "house", "0.5", ended{tool: "a", ms: 20})
	w.used(t, w.member, 2, "", "")
	w.used(t, w.viewer, 1, "house", "1")
	w.used(t, w.viewer, 40, "house", "8", ended{tool: "old", ms: 1})
	w.used(t, w.other, 0, "house", "100", ended{tool: "elsewhere", ms: 1})
	return w
}

func TestUsageOfEveryoneIsForAdmins(t *testing.T) {
	t.Parallel()
	w := usageWorld(t)
	got, err := w.agent.Usage(t.Context(), w.admin, agent.UsageQuery{Days: 30})
	if err != nil {
		t.Fatal(err)
	}
	want := agent.UsageSum{Turns: 4, Requests: 8, Calls: 4, FailedCalls: 1, Input: 400, Cached: 120, Output: 40, Cost: "1.75"}
	if diff := cmp.Diff(want, got.Total); diff != "" || !got.Everyone {
		t.Errorf("everyone %v, total (-want +got):\n%s", got.Everyone, diff)
	}
	tools := []agent.ToolUsage{
		{Tool: "a", Calls: 3, Members: 1, P50: 20 * time.Millisecond, P95: 30 * time.Millisecond},
		{Tool: "b", Calls: 1, FailedCalls: 1, Members: 1, P50: 2 * time.Second, P95: 2 * time.Second},
	}
	if diff := cmp.Diff(tools, got.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	var members []string
	for _, m := range got.Members {
		members = append(members, fmt.Sprintf("%v %s %d %d %s", m.Subject == w.member.Subject, m.Model, m.Turns, m.Calls, m.Cost))
	}
	if diff := cmp.Diff([]string{"false house 1 0 1", "true house 2 4 0.75", "true  1 0 "}, members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestUsageHasEveryDay(t *testing.T) {
	t.Parallel()
	w := usageWorld(t)
	got, err := w.agent.Usage(t.Context(), w.member, agent.UsageQuery{Days: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Everyone || len(got.Days) != 3 {
		t.Fatalf("everyone %v, %d days", got.Everyone, len(got.Days))
	}
	for i, want := range []struct {
		turns, calls int64
		p95          time.Duration
	}{{2, 1, 20 * time.Millisecond}, {0, 0, 0}, {1, 3, 2 * time.Second}} {
		day := got.Days[i]
		if day.Turns != want.turns || day.Calls != want.calls || day.P95 != want.p95 || !day.Day.Equal(got.Days[0].Day.AddDate(0, 0, i)) {
			t.Errorf("day %d: %+v, want %+v", i, day, want)
		}
	}
	mine, err := w.agent.Usage(t.Context(), w.admin, agent.UsageQuery{Days: 30, Mine: true})
	if err != nil || mine.Everyone || mine.Total.Turns != 0 || len(mine.Members) > 0 {
		t.Errorf("the admin's own: %+v, %v", mine.Total, err)
	}
}

func TestUsageRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, days := range []int{0, -1, agent.MaxUsageDays + 1} {
		if _, err := w.agent.Usage(t.Context(), w.admin, agent.UsageQuery{Days: days}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d days: %v", days, err)
		}
	}
	if _, err := w.agent.Usage(t.Context(), capability.Actor{}, agent.UsageQuery{Days: 1}); err == nil {
		t.Error("nobody may ask")
	}
}

// TestUsageCountsWhatTurnsDo compares the figures with turns that really ran.
func TestUsageCountsWhatTurnsDo(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		w.think(t, p, modeltest.New(t, modeltest.Say("Fine.").Costs(modeltest.Usage{Input: 1000, Output: 200})))
		w.say(t, w.member, agent.Ask{Text: "How are you?"})
		got, err := w.agent.Usage(t.Context(), w.member, agent.UsageQuery{Days: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := agent.UsageSum{Turns: 1, Requests: 1, Input: 1000, Output: 200, Cost: "0.006"}
		if diff := cmp.Diff(want, got.Total); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(got.Members) != 1 || got.Members[0].Model != "thinker" {
			t.Errorf("members: %+v", got.Members)
		}
	})
}
