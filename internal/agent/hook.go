package agent

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
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

// What a hook says is bounded, in bytes: the reason of a decision, and the
// text that it adds for the model.
const (
	maxReason  = 2000
	maxContext = 10_000
)

// exitDeny is the exit code by which a hook denies, whatever it prints.
const exitDeny = 2

// HookAnswer is how one run of a hook is read.
type HookAnswer struct {
	Decision Decision
	Reason   string
	// Arguments are those that the call shall have instead; of a rewrite, or of
	// an ask that changes them besides. Nil leaves them.
	Arguments json.RawMessage
	Context   string // what it tells the model
	// Failure says what went wrong with the run; nil when nothing did. Unless it
	// had denied before, its failure mode decided.
	Failure *fault.Fault
}

// ReadHook reads what a run of the hook came to. Exit code 2 denies, also when
// nothing is printed. A run that failed, or whose answer cannot be read, denies
// where the hook fails closed and else allows; one that printed a denial first
// has said no all the same. One that ends well and prints nothing has no
// objection, and plain text where a hook may add to what the model reads is
// such an addition.
func ReadHook(spec *capability.HookSpec, out sandbox.Result) HookAnswer {
	silent := strings.TrimSpace(out.Log) == ""
	switch code := out.Code(); {
	case out.ExitCode == exitDeny:
		said, _ := printedDenial(spec.Event, out.Log)
		return HookAnswer{Decision: HookDeny, Reason: firstOf(reasonOf(lastLines(out.Stderr)), said.Reason)}
	case code == sandbox.CodeNoResult && silent:
		return HookAnswer{Decision: HookAllow}
	case code == sandbox.CodeNoResult && isContext(spec.Event, out.Log):
		return HookAnswer{Decision: HookAllow, Context: bounded(out.Log, maxContext)}
	case code == sandbox.CodeNoResult:
		return failedHook(spec, fault.New(fault.Invalid, "hook_unreadable", "It printed something that is no decision."))
	case out.Failure != nil:
		if said, denied := printedDenial(spec.Event, out.Log); denied {
			said.Failure = out.Failure
			return said
		}
		return failedHook(spec, out.Failure)
	}
	answer, err := readDecision(spec.Event, out.Value)
	if err != nil {
		return failedHook(spec, err)
	}
	return answer
}

// printedDenial finds a denial in what a program printed before it failed.
func printedDenial(event capability.Event, printed string) (HookAnswer, bool) {
	out, found := sandbox.ParseOutput([]byte(printed))
	if !found {
		return HookAnswer{}, false
	}
	answer, err := readDecision(event, out.Value)
	return answer, err == nil && answer.Decision == HookDeny
}

// isContext reports whether plain text is meant for the model. What begins like
// JSON was meant as an answer and is broken.
func isContext(event capability.Event, text string) bool {
	if !addsContext(event) {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "{") {
			return false
		}
	}
	return true
}

// addsContext reports whether a hook of the event is read by the model.
func addsContext(event capability.Event) bool {
	return event == capability.EventSessionStart || event == capability.EventUserPromptSubmit || event == capability.EventAfterTool
}

func failedHook(spec *capability.HookSpec, why *fault.Fault) HookAnswer {
	answer := HookAnswer{Decision: HookAllow, Failure: why}
	if spec.FailsClosed() {
		answer.Decision, answer.Reason = HookDeny, reasonOf(why.Message)
	}
	return answer
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// reasonOf is a reason as it is passed on: bounded, and without what hides or
// reorders text.
func reasonOf(text string) string {
	var lines []string
	for line := range strings.Lines(bounded(text, maxReason)) {
		if line = capability.PlainText(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// bounded cuts a text between characters.
func bounded(text string, most int) string {
	text = strings.TrimSpace(text)
	if len(text) <= most {
		return text
	}
	text = text[:most]
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
