package capability

import (
	"encoding/json"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestPolicyOf(t *testing.T) {
	t.Parallel()
	is := func(path string, op ConditionOp, value string) ArgumentCondition {
		return ArgumentCondition{Path: path, Op: op, Value: json.RawMessage(value)}
	}
	rule := func(effect PolicyEffect, conditions ...ArgumentCondition) PolicyRule {
		return PolicyRule{Effect: effect, Match: "capability:acme/mail", Arguments: conditions}
	}
	const args = `{"to":"kim@acme.example","n":9007199254740993,"x":1.0,"force":true,"tags":["a","b"],"a/b":null,"deep":[{"k":"v"}]}`
	for name, tc := range map[string]struct {
		rules []PolicyRule
		want  PolicyEffect
	}{
		"no rule":                    {nil, PolicyNone},
		"deny beats ask beats allow": {[]PolicyRule{rule(PolicyAllow), rule(PolicyAsk), rule(PolicyDeny)}, PolicyDeny},
		"whatever their order":       {[]PolicyRule{rule(PolicyAsk), rule(PolicyAllow)}, PolicyAsk},
		"another thing":              {[]PolicyRule{{Effect: PolicyDeny, Match: "capability:acme/other"}}, PolicyNone},
		"the name that a model sees": {[]PolicyRule{{Effect: PolicyDeny, Match: "mcp__mail__*"}}, PolicyDeny},
		"the tool's own name":        {[]PolicyRule{{Effect: PolicyDeny, Match: "*", Tool: "send.*"}}, PolicyDeny},
		"another tool":               {[]PolicyRule{{Effect: PolicyDeny, Match: "*", Tool: "send_mail"}}, PolicyNone},
		"a guard is no effect":       {[]PolicyRule{rule(PolicyGuard)}, PolicyNone},

		"equals":                     {[]PolicyRule{rule(PolicyDeny, is("/to", OpEquals, `"kim@acme.example"`))}, PolicyDeny},
		"equals another":             {[]PolicyRule{rule(PolicyDeny, is("/to", OpEquals, `"x"`))}, PolicyNone},
		"equals by value":            {[]PolicyRule{rule(PolicyAllow, is("/x", OpEquals, `1`))}, PolicyAllow},
		"not equals":                 {[]PolicyRule{rule(PolicyAllow, is("/to", OpNotEquals, `"x"`))}, PolicyAllow},
		"every digit counts":         {[]PolicyRule{rule(PolicyDeny, is("/n", OpEquals, `9007199254740992`))}, PolicyNone},
		"greater by one":             {[]PolicyRule{rule(PolicyAllow, is("/n", OpGreater, `9007199254740992`))}, PolicyAllow},
		"not less":                   {[]PolicyRule{rule(PolicyDeny, is("/n", OpLess, `9007199254740993`))}, PolicyNone},
		"a glob":                     {[]PolicyRule{rule(PolicyAllow, is("/to", OpMatches, `"*@acme.example"`))}, PolicyAllow},
		"another glob":               {[]PolicyRule{rule(PolicyAllow, is("/to", OpMatches, `"*@globex.example"`))}, PolicyNone},
		"among":                      {[]PolicyRule{rule(PolicyAllow, is("/to", OpIn, `["x","kim@acme.example"]`))}, PolicyAllow},
		"not among":                  {[]PolicyRule{rule(PolicyDeny, is("/to", OpIn, `["x"]`))}, PolicyNone},
		"there":                      {[]PolicyRule{rule(PolicyDeny, is("/force", OpExists, ``))}, PolicyDeny},
		"null is there":              {[]PolicyRule{rule(PolicyDeny, is("/a~1b", OpExists, ``))}, PolicyDeny},
		"not there":                  {[]PolicyRule{rule(PolicyAllow, is("/bcc", OpAbsent, ``))}, PolicyAllow},
		"within a list":              {[]PolicyRule{rule(PolicyAllow, is("/deep/0/k", OpEquals, `"v"`))}, PolicyAllow},
		"a list as a whole":          {[]PolicyRule{rule(PolicyAllow, is("/tags", OpEquals, `["a","b"]`))}, PolicyAllow},
		"all conditions":             {[]PolicyRule{rule(PolicyAllow, is("/force", OpEquals, `true`), is("/to", OpEquals, `"x"`))}, PolicyNone},
		"missing: deny holds":        {[]PolicyRule{rule(PolicyDeny, is("/bcc", OpEquals, `"x"`))}, PolicyDeny},
		"missing: ask holds":         {[]PolicyRule{rule(PolicyAsk, is("/bcc", OpMatches, `"x"`))}, PolicyAsk},
		"missing: allow does not":    {[]PolicyRule{rule(PolicyAllow, is("/bcc", OpNotEquals, `"x"`))}, PolicyNone},
		"missing, where it exists":   {[]PolicyRule{rule(PolicyDeny, is("/bcc", OpEquals, `"x"`), is("/bcc", OpExists, ``))}, PolicyNone},
		"another type: deny holds":   {[]PolicyRule{rule(PolicyDeny, is("/to", OpLess, `5`))}, PolicyDeny},
		"another type: allow not":    {[]PolicyRule{rule(PolicyAllow, is("/n", OpMatches, `"*"`))}, PolicyNone},
		"not comparable to the list": {[]PolicyRule{rule(PolicyDeny, is("/n", OpIn, `["9007199254740993"]`))}, PolicyDeny},
		"a pointer is no path":       {[]PolicyRule{rule(PolicyAllow, is("/deep/00/k", OpEquals, `"v"`))}, PolicyNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := PolicyCall{Names: []string{"capability:acme/mail", "mcp__mail__send_now"}, Tool: "send.now", Arguments: json.RawMessage(args)}
			if got := (AgentConfig{Policy: tc.rules}).PolicyOf(call); got.Effect != tc.want {
				t.Errorf("got %q, want %q", got.Effect, tc.want)
			}
		})
	}
}

func TestPolicyOfAWhole(t *testing.T) {
	t.Parallel()
	config := AgentConfig{Policy: []PolicyRule{
		{Effect: PolicyDeny, Match: "capability:acme/mail", Tool: "send", Note: "not by machines"},
		{Effect: PolicyDeny, Match: "capability:acme/files", Arguments: []ArgumentCondition{{Path: "/path", Op: OpExists}}},
		{Effect: PolicyGuard, Match: "capability:acme/mail", Tool: "purge"},
	}}
	if got := config.PolicyFor("capability:acme/mail"); got != PolicyNone {
		t.Errorf("a rule for one tool took the whole: %s", got)
	}
	if got := config.PolicyFor("capability:acme/files"); got != PolicyNone {
		t.Errorf("a rule for some arguments took all: %s", got)
	}
	send := config.PolicyOf(PolicyCall{Names: []string{"capability:acme/mail"}, Tool: "send"})
	if send.Effect != PolicyDeny || send.Note != "not by machines" || send.Guarded {
		t.Errorf("send: %+v", send)
	}
	if purge := config.PolicyOf(PolicyCall{Names: []string{"capability:acme/mail"}, Tool: "purge"}); !purge.Guarded || purge.Effect != PolicyNone {
		t.Errorf("purge: %+v", purge)
	}
	files := PolicyCall{Names: []string{"capability:acme/files"}, Arguments: json.RawMessage(`{"path":`)}
	if got := config.PolicyOf(files); got.Effect != PolicyDeny {
		t.Errorf("arguments that cannot be read: %+v", got)
	}
}

// TestConditionsCompareExactly holds less and greater to arithmetic, far past
// what a float can tell apart.
func TestConditionsCompareExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := new(big.Int).Mul(big.NewInt(rapid.Int64().Draw(t, "a")), big.NewInt(1<<62))
		b := new(big.Int).Add(a, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "step")))
		args, err := json.Marshal(map[string]json.RawMessage{"n": json.RawMessage(a.String())})
		if err != nil {
			t.Fatal(err)
		}
		holds := func(op ConditionOp) bool {
			config := AgentConfig{Policy: []PolicyRule{{Effect: PolicyAllow, Match: "*",
				Arguments: []ArgumentCondition{{Path: "/n", Op: op, Value: json.RawMessage(b.String())}}}}}
			return config.PolicyOf(PolicyCall{Names: []string{"x"}, Arguments: args}).Effect == PolicyAllow
		}
		cmp := a.Cmp(b)
		if holds(OpLess) != (cmp < 0) || holds(OpGreater) != (cmp > 0) || holds(OpEquals) != (cmp == 0) || holds(OpNotEquals) != (cmp != 0) {
			t.Fatalf("%s against %s", a, b)
		}
	})
}

// TestUnclearIsSafe draws conditions that may not fit the arguments: whatever
// they are, a rule that allows holds only where one that denies does.
func TestUnclearIsSafe(t *testing.T) {
	t.Parallel()
	values := []string{`null`, `1`, `"a"`, `["a",1]`, `{"k":1}`, `true`}
	rapid.Check(t, func(t *rapid.T) {
		c := ArgumentCondition{
			Path:  rapid.SampledFrom([]string{"/a", "/b", "/a/0", "/a/k", "/b/9"}).Draw(t, "path"),
			Op:    rapid.SampledFrom(ConditionOps).Draw(t, "op"),
			Value: json.RawMessage(rapid.SampledFrom(values).Draw(t, "value")),
		}
		args := json.RawMessage(`{"a":` + rapid.SampledFrom(values).Draw(t, "argument") + `}`)
		effect := func(e PolicyEffect) bool {
			config := AgentConfig{Policy: []PolicyRule{{Effect: e, Match: "*", Arguments: []ArgumentCondition{c}}}}
			return config.PolicyOf(PolicyCall{Names: []string{"x"}, Arguments: args}).Effect == e
		}
		if effect(PolicyAllow) && !effect(PolicyDeny) {
			t.Fatalf("%+v allows %s and would not deny it", c, args)
		}
	})
}

func TestValidatePolicies(t *testing.T) {
	t.Parallel()
	long := strconv.Quote(string(make([]byte, 0))) // a value that is fine
	for name, tc := range map[string]struct {
		rule PolicyRule
		want []string
	}{
		"a whole rule": {PolicyRule{Effect: PolicyAsk, Match: "*", Tool: "send", Arguments: []ArgumentCondition{{Path: "/to", Op: OpEquals, Value: json.RawMessage(long)}}}, nil},
		"every fault": {PolicyRule{Effect: "maybe", Match: "", Arguments: []ArgumentCondition{
			{Path: "to", Op: OpEquals, Value: json.RawMessage(`1`)}, {Path: "/a~2", Op: OpExists}, {Path: "/to", Op: "like"},
			{Path: "/to", Op: OpExists, Value: json.RawMessage(`1`)}, {Path: "/to", Op: OpIn, Value: json.RawMessage(`1`)},
			{Path: "/to", Op: OpLess, Value: json.RawMessage(`"1"`)}, {Path: "/to", Op: OpMatches}, {Path: "/to", Op: OpEquals, Value: json.RawMessage(`{"a":1,"a":2}`)},
		}}, []string{
			"/policy/0/effect not_allowed", "/policy/0/match required", "/policy/0/arguments/0/path bad_pointer", "/policy/0/arguments/1/path bad_pointer",
			"/policy/0/arguments/2/op not_allowed", "/policy/0/arguments/3/value not_allowed", "/policy/0/arguments/4/value wrong_type",
			"/policy/0/arguments/5/value wrong_type", "/policy/0/arguments/6/value required", "/policy/0/arguments/7/value duplicate_key",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range (AgentConfig{Policy: []PolicyRule{tc.rule}}).WithDefaults().Validate(Rules{}) {
				got = append(got, f.Path+" "+f.Code)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("got %q", got)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Errorf("got %q, want %q", got[i], tc.want[i])
				}
			}
		})
	}
}
