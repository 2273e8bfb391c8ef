package capability

// Why says why a call waits for its member's word. The set is closed.
type Why string

const (
	WhyWrite     Why = "write"     // the mode asks before a write
	WhyGuarded   Why = "guarded"   // it is one of the actions that ask in mode auto too
	WhyPolicy    Why = "policy"    // a rule of the workspace asks
	WhyHook      Why = "hook"      // a hook asks
	WhyRewritten Why = "rewritten" // a hook changed what the member had submitted
)

// Answer is a member's word on a call that waits for it.
type Answer string

const (
	AnswerOnce         Answer = "once"
	AnswerConversation Answer = "conversation" // for this tool in this conversation
	AnswerAlways       Answer = "always"       // for this tool, until its version or definition changes
	AnswerDeny         Answer = "deny"
)

// Answers lists what may be answered to a question of the kind, from narrow to
// wide, deny last. A rule or a hook that asks, asks each time; a guarded action
// is answered for a conversation at most.
func (w Why) Answers() []Answer {
	switch w {
	case WhyPolicy, WhyHook:
		return []Answer{AnswerOnce, AnswerDeny}
	case WhyGuarded:
		return []Answer{AnswerOnce, AnswerConversation, AnswerDeny}
	}
	return []Answer{AnswerOnce, AnswerConversation, AnswerAlways, AnswerDeny}
}

// Asking is all that decides whether a call that is authorized may run, waits
// for its member's word, or is refused.
type Asking struct {
	Mode    PermissionMode
	Write   bool
	Guarded bool
	Policy  PolicyEffect
	// HookAsks says that a hook wants the member asked.
	HookAsks bool
	// Standing is the member's standing word for the tool: "", conversation or
	// always.
	Standing Answer
	// Approved says that the member approved this very call.
	Approved bool
	// ByHand says that the member submitted the call himself, and Rewritten
	// that a hook has changed its arguments since.
	ByHand, Rewritten bool
}

// Outcome is what becomes of a call: it runs where neither is set.
type Outcome struct {
	Ask  Why
	Deny string // code of the refusal: policy_denied or plan_mode
}

// Decide is the whole rule of permission. From top to bottom, the first line
// that fits decides:
//
//	a policy denies                                  deny
//	mode plan, and it writes                         deny
//	the member approved this call                    run
//	a policy asks                                    ask   policy
//	a hook asks                                      ask   hook
//	guarded, in plan, ask or auto                    ask   guarded, unless the conversation has his word
//	it writes, in ask, no policy allows it           ask   write, unless he has given his word:
//	                                                       by hand, for the conversation, or always
//	anything else                                    run
//
// A write that was submitted by hand asks as rewritten when a hook has changed
// its arguments: his word was for others.
func Decide(a Asking) Outcome {
	switch {
	case a.Policy == PolicyDeny:
		return Outcome{Deny: "policy_denied"}
	case a.Mode == ModePlan && a.Write:
		return Outcome{Deny: "plan_mode"}
	case a.Approved:
		return Outcome{}
	case a.Policy == PolicyAsk:
		return Outcome{Ask: WhyPolicy}
	case a.HookAsks:
		return Outcome{Ask: WhyHook}
	case a.Guarded && a.Mode != ModeBypass:
		if a.Standing == AnswerConversation {
			return Outcome{}
		}
		return Outcome{Ask: WhyGuarded}
	case a.Write && a.Mode != ModeAuto && a.Mode != ModeBypass:
		return a.askWrite()
	}
	return Outcome{}
}

func (a Asking) askWrite() Outcome {
	switch {
	case a.Policy == PolicyAllow, a.Standing == AnswerConversation, a.Standing == AnswerAlways, a.ByHand && !a.Rewritten:
		return Outcome{}
	case a.ByHand:
		return Outcome{Ask: WhyRewritten}
	}
	return Outcome{Ask: WhyWrite}
}
