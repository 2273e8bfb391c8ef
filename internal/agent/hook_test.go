package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// printed is a run that ended with the code and these streams, read by the
// contract of code tools.
func printed(code int, stdout, stderr string) sandbox.Result {
	r := sandbox.Result{ExitCode: code, Stderr: stderr}
	out, found := sandbox.ParseOutput([]byte(stdout))
	switch r.Log = string(out.Log); {
	case code != 0:
		r.Log, r.Failure = stdout, fault.New(fault.Invalid, sandbox.CodeExitNonzero, "It ended with exit code %d.", code)
	case !found:
		r.Failure = fault.New(fault.Invalid, sandbox.CodeNoResult, "No JSON.")
	default:
		r.Value = out.Value
	}
	return r
}

func TestReadHook(t *testing.T) {
	t.Parallel()
	before := &capability.HookSpec{Event: capability.EventBeforeTool}
	advisory := &capability.HookSpec{Event: capability.EventBeforeTool, FailureMode: capability.Advisory}
	after := &capability.HookSpec{Event: capability.EventAfterTool}
	prompt := &capability.HookSpec{Event: capability.EventUserPromptSubmit}
	killed := sandbox.Result{ExitCode: 137, Failure: fault.New(fault.Limited, sandbox.CodeOutOfMemory, "Out of memory.")}
	for name, tt := range map[string]struct {
		spec   *capability.HookSpec
		out    sandbox.Result
		want   Decision
		reason string
		failed bool
	}{
		"silent":                     {before, printed(0, "", "done"), HookAllow, "", false},
		"empty object":               {before, printed(0, "{ }", ""), HookAllow, "", false},
		"allow":                      {before, printed(0, `{"decision":"allow"}`, ""), HookAllow, "", false},
		"deny":                       {before, printed(0, `{"decision":"deny","reason":"no"}`, ""), HookDeny, "no", false},
		"block":                      {before, printed(0, `{"decision":"block"}`, ""), HookDeny, "", false},
		"nested":                     {before, printed(0, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"x"}}`, ""), HookDeny, "x", false},
		"nested in capitals":         {before, printed(0, `{"hookSpecificOutput":{"permissionDecision":"DENY"}}`, ""), HookDeny, "", false},
		"top level permission":       {before, printed(0, `{"permissionDecision":"deny"}`, ""), HookDeny, "", false},
		"a greeting first":           {before, printed(0, "hello\n{\"decision\":\"deny\"}", ""), HookDeny, "", false},
		"text after":                 {before, printed(0, "{\"decision\":\"deny\"}\ndone.", ""), HookDeny, "", false},
		"two decisions":              {before, printed(0, `{"decision":"deny","hookSpecificOutput":{"permissionDecision":"allow"}}`, ""), HookDeny, "", false},
		"ask":                        {after, printed(0, `{"decision":"ask"}`, ""), HookAsk, "", false},
		"exit 2, silent":             {advisory, printed(2, "", ""), HookDeny, "", false},
		"exit 2 with allow":          {advisory, printed(2, `{"decision":"allow"}`, "no"), HookDeny, "no", false},
		"exit 1":                     {before, printed(1, "", ""), HookDeny, "It ended with exit code 1.", true},
		"exit 1 with deny, advisory": {advisory, printed(1, `{"decision":"deny","reason":"no"}`, ""), HookDeny, "no", true},
		"exit 1 with allow":          {before, printed(1, `{"decision":"allow"}`, ""), HookDeny, "It ended with exit code 1.", true},
		"exit 2 with a said reason":  {advisory, printed(2, `{"decision":"deny","reason":"no"}`, ""), HookDeny, "no", false},
		"exit 2 out of memory":       {advisory, sandbox.Result{ExitCode: 2, Failure: fault.New(fault.Limited, sandbox.CodeOutOfMemory, "Out of memory.")}, HookDeny, "", false},
		"it does not go on":          {before, printed(0, `{"continue":false,"stopReason":"enough"}`, ""), HookDeny, "enough", false},
		"it goes on":                 {before, printed(0, `{"continue":true,"suppressOutput":true}`, ""), HookAllow, "", false},
		"only a message":             {before, printed(0, `{"systemMessage":"seen"}`, ""), HookAllow, "", false},
		"a misspelled key, nested":   {before, printed(0, `{"hookSpecificOutput":{"permisionDecision":"deny"}}`, ""), HookDeny, "Its answer has no decision.", true},
		"deferred":                   {before, printed(0, `{"hookSpecificOutput":{"permissionDecision":"defer"}}`, ""), HookAsk, "", false},
		"text for the model":         {prompt, printed(0, "Today is Monday.", ""), HookAllow, "", false},
		"broken JSON at a prompt":    {prompt, printed(0, "note\n{\"decision\":\"deny\"", ""), HookAllow, "", true},
		"a reason that deceives":     {before, printed(2, "", "no\u202e on\x1b[31m\tred\n\nagain"), HookDeny, "no on[31m red\nagain", false},
		"exit 127":                   {before, printed(127, "", "not found"), HookDeny, "It ended with exit code 127.", true},
		"exit 1 after a tool":        {after, printed(1, "", ""), HookAllow, "", true},
		"killed":                     {before, killed, HookDeny, "Out of memory.", true},
		"killed, advisory":           {advisory, killed, HookAllow, "", true},
		"no JSON":                    {before, printed(0, `{"decision":"allow"`, ""), HookDeny, "It printed something that is no decision.", true},
		"unknown word":               {before, printed(0, `{"decision":"maybe"}`, ""), HookDeny, "Its decision is none of allow, deny, ask and rewrite.", true},
		"no decision":                {before, printed(0, `{"decison":"deny"}`, ""), HookDeny, "Its answer has no decision.", true},
		"a bare word":                {before, printed(0, `"allow"`, ""), HookDeny, "Its answer is not a JSON object with a decision.", true},
		"wrong type":                 {before, printed(0, `{"decision":1}`, ""), HookDeny, "Its decision has a value of the wrong type.", true},
		"repeated key":               {before, printed(0, `{"decision":"deny","decision":"allow"}`, ""), HookDeny, "Its answer is not a JSON object with a decision.", true},
		"rewrite after a tool":       {after, printed(0, `{"decision":"rewrite","arguments":{}}`, ""), HookAllow, "", true},
		"rewrite of nothing":         {before, printed(0, `{"decision":"rewrite"}`, ""), HookDeny, "A rewrite carries the new arguments, an object.", true},
	} {
		got := ReadHook(tt.spec, tt.out)
		if got.Decision != tt.want || got.Reason != tt.reason || (got.Failure != nil) != tt.failed {
			t.Errorf("%s: %s %q, failure %v", name, got.Decision, got.Reason, got.Failure)
		}
	}
	long := ReadHook(before, printed(2, "", strings.Repeat("é", maxReason)))
	if len(long.Reason) > maxReason+len("…") {
		t.Errorf("a reason of %d bytes", len(long.Reason))
	}
}

func TestWhatAHookChanges(t *testing.T) {
	t.Parallel()
	arguments := json.RawMessage(`{"n":9007199254740993.0}`)
	for name, tt := range map[string]struct {
		event  capability.Event
		stdout string
		want   HookAnswer
	}{
		"rewrite": {capability.EventBeforeTool, `{"decision":"rewrite","arguments":{"n":9007199254740993.0}}`, HookAnswer{Decision: HookRewrite, Arguments: arguments}},
		"as the field says it": {
			capability.EventBeforeTool, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"n":9007199254740993.0}}}`,
			HookAnswer{Decision: HookRewrite, Arguments: arguments},
		},
		"without a decision": {capability.EventBeforeTool, `{"updatedInput":{"n":9007199254740993.0}}`, HookAnswer{Decision: HookRewrite, Arguments: arguments}},
		"and asks": {
			capability.EventBeforeTool, `{"permissionDecision":"ask","permissionDecisionReason":"sure?","updatedInput":{"n":9007199254740993.0}}`,
			HookAnswer{Decision: HookAsk, Reason: "sure?", Arguments: arguments},
		},
		"and denies": {capability.EventBeforeTool, `{"permissionDecision":"deny","updatedInput":{"n":1}}`, HookAnswer{Decision: HookDeny}},
		"context": {
			capability.EventUserPromptSubmit, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"It is\n Monday."}}`,
			HookAnswer{Decision: HookAllow, Context: "It is\n Monday."},
		},
		"plain text": {capability.EventSessionStart, "It is\n Monday.\n", HookAnswer{Decision: HookAllow, Context: "It is\n Monday."}},
	} {
		if diff := cmp.Diff(tt.want, ReadHook(&capability.HookSpec{Event: tt.event}, printed(0, tt.stdout, ""))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSampleEventsAreWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	for _, event := range capability.Events {
		var got struct{ Event capability.Event }
		if err := jsonx.Check(SampleEvent(event), 0); err != nil || json.Unmarshal(SampleEvent(event), &got) != nil || got.Event != event {
			t.Errorf("%s: %s", event, SampleEvent(event))
		}
	}
}

// Whatever a hook prints, reading it harms nobody, exit code 2 denies, and one
// that fails closed never lets pass what an advisory one would deny.
func FuzzReadHook(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"decision":"deny"}`, `{"hookSpecificOutput":{"permissionDecision":"ALLOW"}}`, `{"continue":false}`, "hi\n{\"decision\":", `{"updatedInput":{"n":1}}`} {
		f.Add(seed, "no", 0, 0)
		f.Add(seed, "", 2, 1)
	}
	f.Fuzz(func(t *testing.T, stdout, stderr string, code, event int) {
		at := capability.Events[uint(event)%uint(len(capability.Events))]
		open := ReadHook(&capability.HookSpec{Event: at, FailureMode: capability.Advisory}, printed(code, stdout, stderr))
		closed := ReadHook(&capability.HookSpec{Event: at, FailureMode: capability.FailClosed}, printed(code, stdout, stderr))
		switch {
		case code == exitDeny && open.Decision != HookDeny:
			t.Errorf("exit code 2 is %s", open.Decision)
		case strictness[closed.Decision] < strictness[open.Decision], closed.Failure != nil && closed.Decision != HookDeny:
			t.Errorf("advisory %s, failing closed %s", open.Decision, closed.Decision)
		case closed.Decision == HookRewrite && (at != capability.EventBeforeTool || closed.Arguments == nil):
			t.Errorf("rewritten at %s with %s", at, closed.Arguments)
		case len(closed.Reason) > maxReason+len("…") || len(closed.Context) > maxContext+len("…"):
			t.Errorf("%d bytes of reason, %d of context", len(closed.Reason), len(closed.Context))
		}
	})
}

// An event carries its numbers as they are, and of a result no more than fits.
func TestTheEventOfACall(t *testing.T) {
	t.Parallel()
	o := occasion{
		event: capability.EventAfterTool, tool: "code__x", ref: "1", mode: capability.ModePlan, arguments: json.RawMessage(`{"n":9007199254740993}`),
		result: &ToolResult{Content: []json.RawMessage{textBlock(strings.Repeat("é", maxEventResult))}},
	}
	raw, err := o.input()
	if err != nil || len(raw) > sandbox.MaxInput {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	var got struct {
		Arguments json.RawMessage `json:"tool_input"`
		Mode      string          `json:"permission_mode"`
		Result    struct{ Truncated bool }
	}
	if err := json.Unmarshal(raw, &got); err != nil || string(got.Arguments) != `{"n":9007199254740993}` || got.Mode != "plan" || !got.Result.Truncated {
		t.Errorf("%s %s %v %v", got.Arguments, got.Mode, got.Result.Truncated, err)
	}
}
