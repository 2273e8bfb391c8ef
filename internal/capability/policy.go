package capability

import "slices"

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

// PolicyEffect is what a rule does to what it matches. Rules only narrow.
type PolicyEffect string

const (
	PolicyNone PolicyEffect = ""     // no rule matches
	PolicyAsk  PolicyEffect = "ask"  // the member is asked, whatever the mode
	PolicyDeny PolicyEffect = "deny" // nobody here carries it
)

// PolicyRule binds every member of the workspace.
type PolicyRule struct {
	Effect PolicyEffect `json:"effect"`
	Match  string       `json:"match"` // glob over keys and runtime names
	Note   string       `json:"note,omitempty"`
}

// PolicyFor returns the strictest effect of the rules that match any of the
// names under which a thing is known: its key, its runtime names.
func (c AgentConfig) PolicyFor(names ...string) PolicyEffect {
	effect := PolicyNone
	for _, r := range c.Policy {
		matches := slices.ContainsFunc(names, func(name string) bool { return Glob(r.Match, name) })
		switch {
		case !matches:
		case r.Effect == PolicyDeny:
			return PolicyDeny
		case r.Effect == PolicyAsk:
			effect = PolicyAsk
		}
	}
	return effect
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
