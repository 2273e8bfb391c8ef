package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// decisionWords are the words in which hooks of the field say a decision. To
// defer is to leave it to somebody else, and here that is the member.
var decisionWords = map[string]Decision{
	"allow": HookAllow, "approve": HookAllow, "ask": HookAsk, "defer": HookAsk,
	"deny": HookDeny, "block": HookDeny, "rewrite": HookRewrite,
}

// decisionShape are the two shapes that the field knows: the decision at the
// top, or nested under hookSpecificOutput.
type decisionShape struct {
	Decision           *string         `json:"decision"`
	PermissionDecision *string         `json:"permissionDecision"`
	Continue           *bool           `json:"continue"` // false ends it all: a denial
	Reason             string          `json:"reason"`
	PermissionReason   string          `json:"permissionDecisionReason"`
	StopReason         string          `json:"stopReason"`
	Arguments          json.RawMessage `json:"arguments"`
	UpdatedInput       json.RawMessage `json:"updatedInput"`
	Context            string          `json:"additionalContext"`
	Nested             *decisionShape  `json:"hookSpecificOutput"`
}

// besides are the members that an answer without a decision may have. Any other
// is taken for a decision that was misspelled.
var besides = map[string]bool{
	"continue": true, "suppressoutput": true, "systemmessage": true, "hookspecificoutput": true,
	"hookeventname": true, "additionalcontext": true, "arguments": true, "updatedinput": true,
}

// decided is what has been read of an answer so far.
type decided struct {
	HookAnswer
	found bool
}

// readDecision reads the answer that a hook printed. Where it says two things,
// the strictest counts.
func readDecision(event capability.Event, value json.RawMessage) (HookAnswer, *fault.Fault) {
	var shape decisionShape
	switch {
	case jsonx.Check(value, 0) != nil || !isObject(value):
		return unreadable("Its answer is not a JSON object with a decision.")
	case json.Unmarshal(value, &shape) != nil:
		return unreadable("Its decision has a value of the wrong type.")
	}
	d := decided{HookAnswer: HookAnswer{Decision: HookAllow}}
	for s := &shape; s != nil; s = s.Nested {
		if !d.take(s) {
			return unreadable("Its decision is none of allow, deny, ask and rewrite.")
		}
	}
	if !d.found && !harmless(value) {
		return unreadable("Its answer has no decision.")
	}
	return d.settle(event)
}

// take adds one level of the answer; false for a word that is no decision.
func (d *decided) take(s *decisionShape) bool {
	for _, word := range []*string{s.Decision, s.PermissionDecision} {
		if word == nil {
			continue
		}
		decision, known := decisionWords[strings.ToLower(strings.TrimSpace(*word))]
		if !known {
			return false
		}
		d.say(decision, firstOf(s.Reason, s.PermissionReason))
	}
	if s.Continue != nil && !*s.Continue {
		d.say(HookDeny, firstOf(s.StopReason, s.Reason))
	}
	for _, arguments := range []json.RawMessage{s.UpdatedInput, s.Arguments} {
		if arguments != nil && string(arguments) != "null" {
			d.Arguments = arguments
		}
	}
	if s.Context != "" {
		d.Context = bounded(s.Context, maxContext)
	}
	return true
}

func (d *decided) say(decision Decision, reason string) {
	if !d.found || strictness[decision] > strictness[d.Decision] {
		d.Decision, d.Reason = decision, reasonOf(reason)
	}
	d.found = true
}

// settle holds the answer to what the event allows. One that allows and gives
// new arguments has rewritten them.
func (d *decided) settle(event capability.Event) (HookAnswer, *fault.Fault) {
	if d.Decision == HookAllow && d.Arguments != nil {
		d.Decision = HookRewrite
	}
	rewrites := d.Decision == HookRewrite || d.Decision == HookAsk && d.Arguments != nil
	switch {
	case rewrites && event != capability.EventBeforeTool:
		return unreadable("Only a hook before a tool rewrites its arguments.")
	case rewrites && !isObject(d.Arguments):
		return unreadable("A rewrite carries the new arguments, an object.")
	case !rewrites:
		d.Arguments = nil
	}
	return d.HookAnswer, nil
}

func unreadable(message string) (HookAnswer, *fault.Fault) {
	return HookAnswer{}, fault.New(fault.Invalid, "hook_unreadable", "%s", message)
}

func isObject(value json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(value), []byte("{"))
}

// harmless reports whether an answer without a decision says nothing else that
// could have been meant as one.
func harmless(value json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	for name, member := range members {
		name = strings.ToLower(name)
		if !besides[name] || name == "hookspecificoutput" && !harmless(member) {
			return false
		}
	}
	return true
}
