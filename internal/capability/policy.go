package capability

import (
	"encoding/json"
	"slices"
	"sync"

	"capstore/internal/jsonx"
)

// Surface is a door through which a turn comes in.
type Surface string

const (
	SurfaceWeb     Surface = "web"
	SurfaceAPI     Surface = "api"
	SurfaceGateway Surface = "gateway"
)

// Surfaces lists every surface.
var Surfaces = []Surface{SurfaceWeb, SurfaceAPI, SurfaceGateway}

// Slicing says whether only part of the tools is put before the model at once.
type Slicing string

const (
	SliceOn  Slicing = "" // the tools that the message needs, the rest by name
	SliceOff Slicing = "off"
)

// PolicyEffect is what a rule does to what it matches. Where several rules
// match, deny wins over ask over allow, whatever their order.
type PolicyEffect string

const (
	PolicyNone PolicyEffect = ""     // no rule matches
	PolicyAsk  PolicyEffect = "ask"  // the member is asked each time, whatever the mode
	PolicyDeny PolicyEffect = "deny" // nobody here calls it
	// PolicyAllow spares the question that the permission mode would ask. It
	// lets nothing write that the adoption does not.
	PolicyAllow PolicyEffect = "allow"
	// PolicyGuard marks what it matches as guarded: it asks in mode auto too.
	PolicyGuard PolicyEffect = "guard"
)

// PolicyEffects lists what a rule may do, from strictest to loosest.
var PolicyEffects = []PolicyEffect{PolicyDeny, PolicyAsk, PolicyGuard, PolicyAllow}

// PolicyRule binds every member of the workspace.
type PolicyRule struct {
	Effect PolicyEffect `json:"effect"`
	Match  string       `json:"match"`          // glob over keys and runtime names
	Tool   string       `json:"tool,omitempty"` // glob over the tool's name at its origin; "" for every tool
	// Arguments narrow the rule to calls whose arguments meet all of them.
	Arguments []ArgumentCondition `json:"arguments,omitempty"`
	Note      string              `json:"note,omitempty"`
}

// PolicyCall is what a policy is asked about.
type PolicyCall struct {
	// Names are those under which the thing is known: its key, its runtime names.
	Names []string
	// Tool is the function's name at its origin, "" for the thing as a whole.
	Tool string
	// Arguments are those of a call, an object; nil asks what holds whatever
	// they are.
	Arguments json.RawMessage
}

// PolicyVerdict is what the rules say together.
type PolicyVerdict struct {
	Effect PolicyEffect // deny, ask, allow or none
	// Note is that of the first rule with the effect.
	Note string
	// Guarded says that a rule marks the call as guarded.
	Guarded bool
}

// PolicyOf returns what the rules say of the call. A condition on arguments
// that are not at hand, are missing or of another type counts so that the
// rule is safe: it may hold where the rule narrows, and does not where it
// allows. Without any arguments only rules without conditions count.
func (c AgentConfig) PolicyOf(call PolicyCall) PolicyVerdict {
	var v PolicyVerdict
	arguments := sync.OnceValue(func() any {
		tree, err := jsonx.Parse(call.Arguments, 0)
		if err != nil {
			return nil // no argument can be read
		}
		return tree
	})
	for _, r := range c.Policy {
		if !r.names(call) || !r.meets(call, arguments) {
			continue
		}
		if r.Effect == PolicyGuard {
			v.Guarded = true
		} else if slices.Index(policyOrder, r.Effect) > slices.Index(policyOrder, v.Effect) {
			v.Effect, v.Note = r.Effect, r.Note
		}
	}
	return v
}

var policyOrder = []PolicyEffect{PolicyNone, PolicyAllow, PolicyAsk, PolicyDeny}

// PolicyFor is the effect on a thing as a whole, whatever tool of it is called
// with whatever arguments.
func (c AgentConfig) PolicyFor(names ...string) PolicyEffect {
	return c.PolicyOf(PolicyCall{Names: names}).Effect
}

func (r PolicyRule) names(call PolicyCall) bool {
	if r.Tool != "" && (call.Tool == "" || !Glob(r.Tool, call.Tool)) {
		return false
	}
	return slices.ContainsFunc(call.Names, func(name string) bool { return Glob(r.Match, name) })
}

func (r PolicyRule) meets(call PolicyCall, arguments func() any) bool {
	if len(r.Arguments) == 0 {
		return true
	}
	return call.Arguments != nil && conditionsHold(r.Arguments, arguments(), r.Effect != PolicyAllow)
}

// ChannelRule is what one surface may use. Deny beats allow; an empty allow
// list lets everything through that is not denied.
type ChannelRule struct {
	Allow []string `json:"allow,omitempty"` // globs over runtime names
	Deny  []string `json:"deny,omitempty"`
}

// Admits reports whether a runtime name may be used on the surface.
func (c AgentConfig) Admits(on Surface, name string) bool {
	rule := c.Channels[on]
	match := func(glob string) bool { return Glob(glob, name) }
	if slices.ContainsFunc(rule.Deny, match) {
		return false
	}
	return len(rule.Allow) == 0 || slices.ContainsFunc(rule.Allow, match)
}

// StricterOf returns the stricter of two permission modes: a conversation may
// narrow its workspace's mode and never widen it. An unknown mode counts as
// the strictest.
func StricterOf(a, b PermissionMode) PermissionMode {
	x, y := slices.Index(PermissionModes, a), slices.Index(PermissionModes, b)
	if x < 0 || y < 0 {
		return ModePlan
	}
	return PermissionModes[min(x, y)]
}

// Glob reports whether the whole name matches the pattern, in which * stands
// for any text and ? for one byte; nothing else is special. An empty pattern
// matches only an empty name. It runs in at most len(pattern)·len(name) steps.
func Glob(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// Matches reports whether the hook watches a tool; without a matcher it
// watches all.
func (s *HookSpec) Matches(tool string) bool { return s.Matcher == "" || Glob(s.Matcher, tool) }
