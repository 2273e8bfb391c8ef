package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

// rules sets the workspace's policy.
func (w *world) rules(t testing.TB, rules ...capability.PolicyRule) {
	t.Helper()
	w.config(t, func(c *capability.AgentConfig) { c.Policy = rules })
}

func (w *world) config(t testing.TB, change func(*capability.AgentConfig)) {
	t.Helper()
	if _, err := w.ws.Change(t.Context(), w.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		change(c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// asked runs the tool by hand in a new conversation where a policy asks, and
// returns the question.
func (w *world) asked(t testing.TB, arguments string) agent.Approval {
	t.Helper()
	w.rules(t, capability.PolicyRule{Effect: capability.PolicyAsk, Match: "code__echo", Note: "Look twice."})
	entries := w.say(t, w.member, agent.Ask{Tool: "code__echo", Arguments: json.RawMessage(arguments)})
	if diff := cmp.Diff([]agent.EntryKind{agent.EntryMessage, agent.EntryApprovalAsked}, kinds(entries)); diff != "" {
		t.Fatalf("it did not wait: %s", diff)
	}
	return w.approval(t, last[agent.ApprovalAsked](t, entries, agent.EntryApprovalAsked).Approval)
}

func (w *world) approval(t testing.TB, id uuid.UUID) agent.Approval {
	t.Helper()
	a, err := w.agent.Approval(t.Context(), w.member, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// answer gives the member's word and waits until the turn has ended.
func (w *world) answer(t testing.TB, s *agent.Service, a agent.Approval, word agent.Word) []agent.Entry {
	t.Helper()
	if _, err := s.Answer(t.Context(), w.member, a.ID, word); err != nil {
		t.Fatalf("answer %s: %v", word.Answer, err)
	}
	return w.ended(t, a.Conversation)
}

// ended waits until the conversation works on nothing, and returns its ledger.
func (w *world) ended(t testing.TB, conversation uuid.UUID) []agent.Entry {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for event, err := range w.agent.Follow(ctx, w.member, conversation, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Turn != nil && !event.Turn.State.Open() {
			break
		}
	}
	return w.ledger(t, w.member, conversation)
}

func TestAWaitingCallShowsAllThatItIsAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.code(t, w.member, "echo", echo, nil)
	const args = `{"order":7312459980021764353,"note":"ok\u202e"}`
	a := w.asked(t, args)

	if a.Tool != "code__echo" || a.Source != "acme" || a.Version != v.Version || a.Digest != v.Digest || string(a.Arguments) != args {
		t.Errorf("the question does not say what would run: %+v", a)
	}
	if a.Why != capability.WhyPolicy || a.Detail != "Look twice." || !a.Open() || a.Model != "" {
		t.Errorf("nor why: %+v", a)
	}
	if hours := a.ExpiresAt.Sub(a.AskedAt).Hours(); hours < 23.9 || hours > 24.1 {
		t.Errorf("it waits %v hours", hours)
	}
	if n, err := w.agent.CountApprovals(t.Context(), w.member); n != 1 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
	for _, stranger := range []capability.Actor{w.admin, w.other, w.viewer, {}} {
		if _, err := w.agent.Approval(t.Context(), stranger, a.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("somebody else reads it: %v", err)
		}
		if _, err := w.agent.Answer(t.Context(), stranger, a.ID, agent.Word{Answer: capability.AnswerOnce}); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
			t.Errorf("somebody else answers it: %v", err)
		}
	}
}

func TestAnApprovedCallRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	const args = `{"order":7312459980021764353}`
	a := w.asked(t, args)

	entries := w.answer(t, w.agent, a, agent.Word{Answer: capability.AnswerOnce})
	want := []agent.EntryKind{agent.EntryMessage, agent.EntryApprovalAsked, agent.EntryApprovalAnswered, agent.EntryToolCall, agent.EntryToolResult}
	if diff := cmp.Diff(want, kinds(entries)); diff != "" {
		t.Fatal(diff)
	}
	if call := last[agent.ToolCall](t, entries, agent.EntryToolCall); string(call.Arguments) != args {
		t.Errorf("other arguments ran: %s", call.Arguments)
	}
	if got := w.approval(t, a.ID); got.UsedAt == nil || got.Answer != capability.AnswerOnce {
		t.Errorf("the word is not used up: %+v", got)
	}
	_, err := w.agent.Answer(t.Context(), w.member, a.ID, agent.Word{Answer: capability.AnswerDeny})
	if !fault.HasCode(err, "already_decided") || fault.From(err).Detail["answer"] != "once" {
		t.Errorf("a second tab is told %v", err)
	}
	if entries := w.say(t, w.member, agent.Ask{Tool: "code__echo"}); entries[len(entries)-1].Kind != agent.EntryApprovalAsked {
		t.Errorf("the next call was not asked about: %v", kinds(entries))
	}
	audited := w.audit(t)
	for _, action := range []string{"approval.asked", "approval.answered"} {
		if !strings.Contains(audited, action) {
			t.Errorf("the audit lacks %s: %s", action, audited)
		}
	}
}

func (w *world) audit(t testing.TB) string {
	t.Helper()
	var actions string
	if err := w.db.QueryRow(t.Context(), `SELECT string_agg(action, ' ') FROM audit`).Scan(&actions); err != nil {
		t.Fatal(err)
	}
	return actions
}

func TestARefusedCallDoesNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	a := w.asked(t, `{}`)
	entries := w.answer(t, w.agent, a, agent.Word{Answer: capability.AnswerDeny, Reason: "Not today."})
	result := last[agent.ToolResult](t, entries, agent.EntryToolResult)
	if !result.IsError || result.Code != "denied_by_member" || !strings.Contains(result.Message, "Not today.") {
		t.Errorf("result %+v", result)
	}
	for _, e := range entries {
		if e.Kind == agent.EntryToolCall {
			t.Error("a refused call started")
		}
	}
}

func TestWordsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	a := w.asked(t, `{}`)
	for name, word := range map[string]agent.Word{
		"no answer":                 {},
		"an answer that is none":    {Answer: "maybe"},
		"always, where a rule asks": {Answer: capability.AnswerAlways},
		"expired, by hand":          {Answer: "expired"},
		"a reason for a yes":        {Answer: capability.AnswerOnce, Reason: "why not"},
		"a very long reason":        {Answer: capability.AnswerDeny, Reason: strings.Repeat("x", 2001)},
		"a zero byte":               {Answer: capability.AnswerDeny, Reason: "a\x00b"},
	} {
		if _, err := w.agent.Answer(t.Context(), w.member, a.ID, word); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !w.approval(t, a.ID).Open() {
		t.Error("it is answered")
	}
}

// TestRevocationBeatsApproval takes the right away while the question stands.
func TestRevocationBeatsApproval(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		revoke func(*testing.T, *world, catalog.VersionInfo) error
		code   string
	}{
		"switched off": {func(t *testing.T, w *world, v catalog.VersionInfo) error {
			off := false
			_, err := w.ws.SetSwitch(t.Context(), w.member, capability.CapabilityKey(v.Source, v.ID), &off)
			return err
		}, ""},
		"un-adopted": {func(t *testing.T, w *world, v catalog.VersionInfo) error {
			_, err := w.ws.Unadopt(t.Context(), w.admin, v.Source, v.ID)
			return err
		}, ""},
		"blocked": {func(t *testing.T, w *world, v catalog.VersionInfo) error {
			return w.store.Block(t.Context(), w.admin, v.Source, v.ID, v.Version, "it leaks")
		}, ""},
		"denied by its arguments": {func(t *testing.T, w *world, _ catalog.VersionInfo) error {
			w.rules(t, capability.PolicyRule{Effect: capability.PolicyDeny, Match: "*", Arguments: []capability.ArgumentCondition{
				{Path: "/n", Op: capability.OpGreater, Value: json.RawMessage(`9007199254740992`)}}})
			return nil
		}, "policy_denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v := w.code(t, w.admin, "echo", echo, nil)
			a := w.asked(t, `{"n":9007199254740993}`)
			if err := tc.revoke(t, w, v); err != nil {
				t.Fatal(err)
			}
			entries := w.answer(t, w.agent, a, agent.Word{Answer: capability.AnswerOnce})
			result := last[agent.ToolResult](t, entries, agent.EntryToolResult)
			if !result.IsError || tc.code != "" && result.Code != tc.code {
				t.Errorf("it ran: %+v", result)
			}
			for _, e := range entries {
				if e.Kind == agent.EntryToolCall {
					t.Error("a revoked call started")
				}
			}
		})
	}
}

func TestAQuestionExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	a := w.asked(t, `{}`)
	w.exec(t, `UPDATE approvals SET asked_at = asked_at - interval '25 hours', expires_at = expires_at - interval '25 hours'`)
	if _, err := w.agent.Answer(t.Context(), w.member, a.ID, agent.Word{Answer: capability.AnswerOnce}); !fault.HasCode(err, "approval_expired") {
		t.Errorf("a late answer: %v", err)
	}
	expired, resumed, err := agent.SweepApprovals(w.agent, t.Context())
	if err != nil || expired != 1 || resumed != 1 {
		t.Fatalf("swept %d, resumed %d: %v", expired, resumed, err)
	}
	result := last[agent.ToolResult](t, w.ended(t, a.Conversation), agent.EntryToolResult)
	if result.Code != "approval_expired" {
		t.Errorf("result %+v", result)
	}
	if got := w.approval(t, a.ID); got.Answer != "expired" {
		t.Errorf("it stands as %q", got.Answer)
	}
}

func TestAStoppedTurnWithdrawsItsQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	a := w.asked(t, `{}`)
	if err := w.agent.StopTurn(t.Context(), w.member, a.Conversation); err != nil {
		t.Fatal(err)
	}
	if got := w.approval(t, a.ID); got.Answer != "withdrawn" {
		t.Errorf("it stands as %q", got.Answer)
	}
	if _, err := w.agent.Answer(t.Context(), w.member, a.ID, agent.Word{Answer: capability.AnswerOnce}); !fault.HasCode(err, "approval_withdrawn") {
		t.Errorf("answered: %v", err)
	}
	if err := w.agent.DeleteConversation(t.Context(), w.member, a.Conversation); err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent.Approval(t.Context(), w.member, a.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("it outlives its conversation: %v", err)
	}
}

// TestOneAnswerCounts lets several tabs on two servers answer at once: one
// counts, the others are told which, and the call starts at most once.
func TestOneAnswerCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	other := w.again(t)
	a := w.asked(t, `{}`)
	var (
		all     sync.WaitGroup
		results = make([]error, 12)
	)
	for i := range results {
		word := agent.Word{Answer: capability.AnswerOnce}
		if i%3 == 0 {
			word = agent.Word{Answer: capability.AnswerDeny}
		}
		server := []*agent.Service{w.agent, other}[i%2]
		all.Go(func() { _, results[i] = server.Answer(t.Context(), w.member, a.ID, word) })
	}
	all.Wait()
	taken := 0
	for _, err := range results {
		if err == nil {
			taken++
		} else if !fault.HasCode(err, "already_decided") {
			t.Errorf("a later answer: %v", err)
		}
	}
	starts, answers, outcomes := 0, 0, 0
	for _, e := range w.ended(t, a.Conversation) {
		switch e.Kind {
		case agent.EntryToolCall:
			starts++
		case agent.EntryApprovalAnswered:
			answers++
		case agent.EntryToolResult:
			outcomes++
		}
	}
	if taken != 1 || answers != 1 || outcomes != 1 || starts > 1 {
		t.Errorf("%d answers taken, %d written, %d starts, %d results", taken, answers, starts, outcomes)
	}
}

// TestAnswerAgainstStop races the member's word with his stop: the call runs
// or it does not, and the ledger says the same as the question.
func TestAnswerAgainstStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	for range 5 {
		a := w.asked(t, `{}`)
		var all sync.WaitGroup
		var answered, stopped error
		all.Go(func() {
			_, answered = w.agent.Answer(t.Context(), w.member, a.ID, agent.Word{Answer: capability.AnswerOnce})
		})
		all.Go(func() { stopped = w.agent.StopTurn(t.Context(), w.member, a.Conversation) })
		all.Wait()
		if stopped != nil || answered != nil && !fault.HasCode(answered, "approval_withdrawn") {
			t.Fatalf("answered %v, stopped %v", answered, stopped)
		}
		got := w.approval(t, a.ID)
		if (answered == nil) != (got.Answer == capability.AnswerOnce) {
			t.Errorf("the answer was %v and stands as %q", answered, got.Answer)
		}
		started := false
		for _, e := range w.ended(t, a.Conversation) {
			started = started || e.Kind == agent.EntryToolCall
		}
		if started != (got.UsedAt != nil) || started && answered != nil {
			t.Errorf("started %t, used %v, answered %v", started, got.UsedAt, answered)
		}
	}
}

// TestAnApprovalOutlivesItsServer answers on a second server after the one that
// asked has stopped.
func TestAnApprovalOutlivesItsServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	a := w.asked(t, `{"n":1}`)
	other := w.again(t)
	w.agent.Stop()
	if _, err := other.Answer(t.Context(), w.member, a.ID, agent.Word{Answer: capability.AnswerOnce}); err != nil {
		t.Fatal(err)
	}
	w.agent = other
	result := last[agent.ToolResult](t, w.ended(t, a.Conversation), agent.EntryToolResult)
	if result.IsError || string(result.Structured) != `{"n":1}` {
		t.Errorf("result %+v", result)
	}
}

// TestAnAnsweredTurnIsTakenUp has the server go away between the answer and the
// turn that it frees: a sweep goes on with it.
func TestAnAnsweredTurnIsTakenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	a := w.asked(t, `{}`)
	w.exec(t, `UPDATE approvals SET answer = 'once', answered_at = clock_timestamp() + interval '1 second'`)
	w.exec(t, `UPDATE approvals SET answered_at = answered_at - interval '1 minute'`)
	w.exec(t, `UPDATE turns SET heartbeat_at = heartbeat_at - interval '2 minutes'`)
	if _, resumed, err := agent.SweepApprovals(w.agent, t.Context()); err != nil || resumed != 1 {
		t.Fatalf("resumed %d: %v", resumed, err)
	}
	if result := last[agent.ToolResult](t, w.ended(t, a.Conversation), agent.EntryToolResult); result.IsError {
		t.Errorf("result %+v", result)
	}
}

func TestATurnlessCallIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	w.rules(t, capability.PolicyRule{Effect: capability.PolicyAsk, Match: "*"})
	conv, err := w.agent.NewConversation(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := w.agent.Bind(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	result, err := w.agent.Call(t.Context(), snap, agent.Request{
		Actor: w.member, Conversation: conv.ID, Turn: uuid.New(), Name: "code__echo", Caller: agent.CallerModel, Mode: capability.ModeAsk,
	})
	if waits := (*agent.Waiting)(nil); errors.As(err, &waits) || err != nil || result.Code != "needs_approval" {
		t.Errorf("%+v, %v", result, err)
	}
}
