package agent

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// Decision is what a hook answers to an event.
type Decision string

const (
	HookAllow   Decision = "allow"
	HookAsk     Decision = "ask"
	HookRewrite Decision = "rewrite" // before a tool only
	HookDeny    Decision = "deny"
)

// strictness orders decisions: where a hook says two things, or several hooks
// answer, the strictest counts.
var strictness = map[Decision]int{HookAllow: 0, HookRewrite: 1, HookAsk: 2, HookDeny: 3}

// decisionWords are the words in which hooks of the field say a decision.
var decisionWords = map[string]Decision{
	"allow": HookAllow, "approve": HookAllow, "ask": HookAsk, "deny": HookDeny, "block": HookDeny, "rewrite": HookRewrite,
}

// maxReason bounds the reason of a decision, in bytes.
const maxReason = 2000

// exitDeny is the exit code by which a hook denies, whatever it prints.
const exitDeny = 2

// HookAnswer is how one run of a hook is read.
type HookAnswer struct {
	Decision  Decision
	Reason    string
	Arguments json.RawMessage // of a rewrite
	// Failure says why the run gave no answer of its own, so that the hook's
	// failure mode decided; nil when it answered.
	Failure *fault.Fault
}

// ReadHook reads what a run of the hook came to. Exit code 2 denies, also when
// nothing is printed. A run that failed, or whose answer cannot be read, denies
// where the hook fails closed and else allows. One that ends well and prints
// nothing has no objection.
func ReadHook(spec *capability.HookSpec, out sandbox.Result) HookAnswer {
	switch code := out.Code(); {
	case code == sandbox.CodeExitNonzero && out.ExitCode == exitDeny:
		return HookAnswer{Decision: HookDeny, Reason: reasonOf(lastLines(out.Stderr))}
	case code == sandbox.CodeNoResult && strings.TrimSpace(out.Log) == "":
		return HookAnswer{Decision: HookAllow}
	case code == sandbox.CodeNoResult:
		return failedHook(spec, fault.New(fault.Invalid, "hook_unreadable", "It printed something that is no decision."))
	case out.Failure != nil:
		return failedHook(spec, out.Failure)
	}
	answer, err := readDecision(spec.Event, out.Value)
	if err != nil {
		return failedHook(spec, err)
	}
	return answer
}

func failedHook(spec *capability.HookSpec, why *fault.Fault) HookAnswer {
	answer := HookAnswer{Decision: HookAllow, Failure: why}
	if spec.FailsClosed() {
		answer.Decision, answer.Reason = HookDeny, reasonOf(why.Message)
	}
	return answer
}

// decisionShape are the two shapes that the field knows: the decision at the
// top, or nested under hookSpecificOutput.
type decisionShape struct {
	Decision           *string         `json:"decision"`
	PermissionDecision *string         `json:"permissionDecision"`
	Reason             string          `json:"reason"`
	PermissionReason   string          `json:"permissionDecisionReason"`
	Arguments          json.RawMessage `json:"arguments"`
	UpdatedInput       json.RawMessage `json:"updatedInput"`
	Nested             *decisionShape  `json:"hookSpecificOutput"`
}

func readDecision(event capability.Event, value json.RawMessage) (HookAnswer, *fault.Fault) {
	unreadable := func(message string) (HookAnswer, *fault.Fault) {
		return HookAnswer{}, fault.New(fault.Invalid, "hook_unreadable", "%s", message)
	}
	if jsonx.Check(value, 0) != nil || !bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
		return unreadable("Its answer is not a JSON object with a decision.")
	}
	if string(bytes.Join(bytes.Fields(value), nil)) == "{}" {
		return HookAnswer{Decision: HookAllow}, nil
	}
	var shape decisionShape
	if json.Unmarshal(value, &shape) != nil {
		return unreadable("Its decision has a value of the wrong type.")
	}
	answer, found := HookAnswer{Decision: HookAllow}, false
	for s := &shape; s != nil; s = s.Nested {
		for _, word := range []*string{s.Decision, s.PermissionDecision} {
			if word == nil {
				continue
			}
			d, known := decisionWords[strings.ToLower(strings.TrimSpace(*word))]
			if !known {
				return unreadable("Its decision is none of allow, deny, ask and rewrite.")
			}
			if !found || strictness[d] > strictness[answer.Decision] {
				answer.Decision, answer.Reason = d, reasonOf(firstOf(s.Reason, s.PermissionReason))
			}
			found = true
		}
		if arguments := s.Arguments; arguments != nil || s.UpdatedInput != nil {
			if arguments == nil {
				arguments = s.UpdatedInput
			}
			answer.Arguments = arguments
		}
	}
	switch {
	case !found:
		return unreadable("Its answer has no decision.")
	case answer.Decision == HookRewrite && event != capability.EventBeforeTool:
		return unreadable("Only a hook before a tool rewrites its arguments.")
	case answer.Decision == HookRewrite && !bytes.HasPrefix(bytes.TrimSpace(answer.Arguments), []byte("{")):
		return unreadable("A rewrite carries the new arguments, an object.")
	case answer.Decision != HookRewrite:
		answer.Arguments = nil
	}
	return answer, nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// reasonOf is a reason as it is passed on: bounded, and cut between characters.
func reasonOf(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxReason {
		return text
	}
	text = text[:maxReason]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// lastLines is the end of what a program said of itself.
func lastLines(stderr string) string {
	stderr = strings.TrimSpace(stderr)
	if len(stderr) > maxReason {
		stderr = strings.ToValidUTF8(stderr[len(stderr)-maxReason:], "")
	}
	return stderr
}

// SampleEvent is an event as a hook of it is given, to try one with.
func SampleEvent(event capability.Event) json.RawMessage {
	sample := map[string]any{"event": event, "workspace": "acme", "conversation": "3f1c0000-0000-7000-8000-000000000000"}
	switch event {
	case capability.EventUserPromptSubmit:
		sample["text"] = "Send the invoice of March to the customer."
	case capability.EventBeforeTool, capability.EventAfterTool:
		sample["tool"], sample["arguments"] = "mcp__mail__send", map[string]any{"to": "kim@example.com", "subject": "Invoice"}
		if event == capability.EventAfterTool {
			sample["result"] = map[string]any{"isError": false, "content": []any{map[string]string{"type": "text", "text": "Sent."}}}
		}
	case capability.EventTurnEnd:
		sample["text"] = "The invoice is on its way."
	}
	raw, err := json.MarshalIndent(sample, "", "  ")
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// hookRun is a hook as the sandbox takes it.
func hookRun(spec *capability.HookSpec, event json.RawMessage, foreign bool) (sandbox.Run, error) {
	run := codeRun(&capability.CodeSpec{Language: spec.Language, Code: spec.Code, TimeoutSec: spec.TimeoutSec}, event, nil, foreign, nil)
	for _, f := range spec.Files {
		data := []byte(f.Content)
		if f.Encoding == capability.EncodingBase64 {
			var err error
			if data, err = base64.StdEncoding.DecodeString(f.Content); err != nil {
				return run, fault.New(fault.Invalid, "bad_file", "The file %s cannot be read.", f.Path)
			}
		}
		run.Files = append(run.Files, sandbox.File{Path: f.Path, Data: data})
	}
	return run, nil
}
