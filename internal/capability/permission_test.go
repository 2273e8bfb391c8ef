package capability

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ask  Asking
		want Outcome
	}{
		"a read in ask":                           {Asking{Mode: ModeAsk}, Outcome{}},
		"a write in ask":                          {Asking{Mode: ModeAsk, Write: true}, Outcome{Ask: WhyWrite}},
		"a write in auto":                         {Asking{Mode: ModeAuto, Write: true}, Outcome{}},
		"a write in bypass":                       {Asking{Mode: ModeBypass, Write: true}, Outcome{}},
		"a write in plan":                         {Asking{Mode: ModePlan, Write: true}, Outcome{Deny: "plan_mode"}},
		"a read in plan":                          {Asking{Mode: ModePlan}, Outcome{}},
		"a write in a mode nobody knows":          {Asking{Mode: "yolo", Write: true}, Outcome{Ask: WhyWrite}},
		"plan, whatever was approved":             {Asking{Mode: ModePlan, Write: true, Approved: true, Policy: PolicyAllow, ByHand: true}, Outcome{Deny: "plan_mode"}},
		"guarded in ask":                          {Asking{Mode: ModeAsk, Write: true, Guarded: true}, Outcome{Ask: WhyGuarded}},
		"guarded in auto":                         {Asking{Mode: ModeAuto, Write: true, Guarded: true}, Outcome{Ask: WhyGuarded}},
		"guarded in bypass":                       {Asking{Mode: ModeBypass, Write: true, Guarded: true}, Outcome{}},
		"guarded, by hand":                        {Asking{Mode: ModeAsk, Write: true, Guarded: true, ByHand: true}, Outcome{Ask: WhyGuarded}},
		"guarded, allowed by policy":              {Asking{Mode: ModeAuto, Guarded: true, Policy: PolicyAllow}, Outcome{Ask: WhyGuarded}},
		"guarded, his word for the conversation":  {Asking{Mode: ModeAuto, Guarded: true, Standing: AnswerConversation}, Outcome{}},
		"guarded, his word for always":            {Asking{Mode: ModeAuto, Guarded: true, Standing: AnswerAlways}, Outcome{Ask: WhyGuarded}},
		"a policy asks in bypass":                 {Asking{Mode: ModeBypass, Policy: PolicyAsk}, Outcome{Ask: WhyPolicy}},
		"a policy asks, by hand":                  {Asking{Mode: ModeAsk, Policy: PolicyAsk, ByHand: true}, Outcome{Ask: WhyPolicy}},
		"a policy asks, his word for always":      {Asking{Mode: ModeAsk, Policy: PolicyAsk, Standing: AnswerAlways}, Outcome{Ask: WhyPolicy}},
		"a policy asks, and he approved":          {Asking{Mode: ModeAsk, Policy: PolicyAsk, Approved: true}, Outcome{}},
		"a policy denies what he approved":        {Asking{Mode: ModeBypass, Policy: PolicyDeny, Approved: true}, Outcome{Deny: "policy_denied"}},
		"a policy allows a write":                 {Asking{Mode: ModeAsk, Write: true, Policy: PolicyAllow}, Outcome{}},
		"a policy allows a write in plan":         {Asking{Mode: ModePlan, Write: true, Policy: PolicyAllow}, Outcome{Deny: "plan_mode"}},
		"a hook asks in bypass":                   {Asking{Mode: ModeBypass, HookAsks: true}, Outcome{Ask: WhyHook}},
		"a hook asks for what a policy allows":    {Asking{Mode: ModeAsk, HookAsks: true, Policy: PolicyAllow}, Outcome{Ask: WhyHook}},
		"a hook asks, by hand":                    {Asking{Mode: ModeAsk, HookAsks: true, ByHand: true}, Outcome{Ask: WhyHook}},
		"a write by hand":                         {Asking{Mode: ModeAsk, Write: true, ByHand: true}, Outcome{}},
		"a write by hand, rewritten":              {Asking{Mode: ModeAsk, Write: true, ByHand: true, Rewritten: true}, Outcome{Ask: WhyRewritten}},
		"a write by hand, rewritten, in auto":     {Asking{Mode: ModeAuto, Write: true, ByHand: true, Rewritten: true}, Outcome{}},
		"a write of a model, rewritten":           {Asking{Mode: ModeAsk, Write: true, Rewritten: true}, Outcome{Ask: WhyWrite}},
		"a write with his word for always":        {Asking{Mode: ModeAsk, Write: true, Standing: AnswerAlways}, Outcome{}},
		"a write with his word here":              {Asking{Mode: ModeAsk, Write: true, Standing: AnswerConversation}, Outcome{}},
		"rewritten, with his word for any values": {Asking{Mode: ModeAsk, Write: true, ByHand: true, Rewritten: true, Standing: AnswerAlways}, Outcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(tc.ask); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func drawAsking(t *rapid.T) Asking {
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	return Asking{
		Mode:  rapid.SampledFrom(PermissionModes).Draw(t, "mode"),
		Write: flag("write"), Guarded: flag("guarded"), HookAsks: flag("hook"), Approved: flag("approved"),
		ByHand: flag("by hand"), Rewritten: flag("rewritten"),
		Policy:   rapid.SampledFrom([]PolicyEffect{PolicyNone, PolicyAllow, PolicyAsk, PolicyDeny}).Draw(t, "policy"),
		Standing: rapid.SampledFrom([]Answer{"", AnswerConversation, AnswerAlways}).Draw(t, "standing"),
	}
}

// strictnessOf orders outcomes: run, ask, deny.
func strictnessOf(o Outcome) int {
	switch {
	case o.Deny != "":
		return 2
	case o.Ask != "":
		return 1
	}
	return 0
}

func TestDecideNarrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawAsking(t)
		is := strictnessOf(Decide(a))
		stricter := func(name string, change func(*Asking)) {
			b := a
			change(&b)
			if strictnessOf(Decide(b)) < is {
				t.Fatalf("%s loosened %+v", name, a)
			}
		}
		stricter("a denying policy", func(b *Asking) { b.Policy = PolicyDeny })
		stricter("a hook that asks", func(b *Asking) { b.HookAsks = true })
		stricter("a guard", func(b *Asking) { b.Guarded = true })
		stricter("taking his word back", func(b *Asking) { b.Standing, b.Approved = "", false })
		stricter("a rewrite", func(b *Asking) { b.Rewritten = true })
		other := rapid.SampledFrom(PermissionModes).Draw(t, "other mode")
		stricter("a conversation's own mode", func(b *Asking) { b.Mode = StricterOf(a.Mode, other) })
	})
}

// TestAnswersAreKept holds the answers that are offered to what they then do:
// a standing word that is offered spares the next question of its kind.
func TestAnswersAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawAsking(t)
		a.Approved = false
		why := Decide(a).Ask
		if why == "" {
			return
		}
		for _, word := range []Answer{AnswerConversation, AnswerAlways} {
			b := a
			b.Standing = word
			if spares, offered := Decide(b).Ask != why, slices.Contains(why.Answers(), word); spares != offered && a.Standing == "" {
				t.Fatalf("%s for %s: offered %t, spares the next question %t (%+v)", word, why, offered, spares, a)
			}
		}
	})
}
