package interchange

import (
	"regexp"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

var (
	listMatcher = regexp.MustCompile(`^[A-Za-z0-9_\- ,|]*$`)
	globMatcher = regexp.MustCompile(`^[A-Za-z0-9_*?-]{1,128}$`)
)

// matchers are the patterns that watch what the handler's matcher does, [""] for
// everything. A fault where no pattern does.
func (h handler) matchers(event capability.Event, item *Item) ([]string, *fault.Fault) {
	m := strings.TrimSpace(h.matcher)
	if m == "" || m == "*" || m == ".*" {
		return []string{""}, nil
	}
	switch event {
	case capability.EventBeforeTool, capability.EventAfterTool:
	case capability.EventSessionStart:
		if !slices.Contains(listed(m), "startup") {
			return nil, fault.New(fault.Invalid, "hook_session", "It only runs when a session starts by %q; here a session starts anew or not at all.", clip(m, 60)).
				Do("Leave the hook out.").With("what", clip(m, 60))
		}
		return []string{""}, nil
	default:
		item.note(true, "hook_matcher_unused", "The matcher says nothing at this event, and is left out.")
		return []string{""}, nil
	}
	out, ok := globs(m)
	if !ok {
		return nil, fault.New(fault.Invalid, "hook_matcher", "The matcher %q cannot be said as a pattern with * and ?.", clip(m, 120)).
			Do("Have its author list the tools, or watch all of them and decide in the script.").With("what", clip(m, 120))
	}
	foreign := func(glob string) bool {
		return !strings.HasPrefix(glob, "mcp__") && !strings.HasPrefix(glob, "code__") && !strings.HasPrefix(glob, "capstore__") && !strings.HasPrefix(glob, "*")
	}
	item.note(slices.ContainsFunc(out, foreign), "hook_matcher_foreign", "It watches tools by the names that Claude Code gives them; the tools of a server here are called mcp__server__tool.")
	return out, nil
}

// listed are the names of a matcher that is a list.
func listed(m string) []string {
	return unique(strings.FieldsFunc(m, func(r rune) bool { return r == '|' || r == ',' || r == ' ' }))
}

// globs translates a matcher of tools: a list of names, or a regular expression
// that says no more than a pattern can. An expression matches anywhere in a
// name unless it is anchored.
func globs(m string) ([]string, bool) {
	if listMatcher.MatchString(m) {
		names := listed(m)
		return names, len(names) > 0 && len(names) <= maxMatchers
	}
	if len(m) > 1000 {
		return nil, false
	}
	var out []string
	for _, part := range alternatives(m) {
		glob, ok := globOf(part)
		if !ok {
			return nil, false
		}
		if glob == "" { // everything, whatever the others say
			return []string{""}, true
		}
		out = append(out, glob)
	}
	out = unique(out)
	return out, len(out) > 0 && len(out) <= maxMatchers
}

const maxMatchers = 20

// alternatives writes an expression as one for each way through its groups. A
// group in a group, or one that is repeated, stays as it is.
func alternatives(m string) []string {
	open := strings.IndexByte(m, '(')
	end := strings.IndexByte(m, ')')
	if open < 0 || end < open || strings.Contains(m[open+1:end], "(") || strings.HasPrefix(m[open+1:], "?") && !strings.HasPrefix(m[open+1:], "?:") {
		if open >= 0 {
			return []string{m}
		}
		return strings.Split(m, "|")
	}
	if end+1 < len(m) && strings.ContainsRune("*+?{", rune(m[end+1])) {
		return []string{m}
	}
	head, group, tail := m[:open], strings.TrimPrefix(m[open+1:end], "?:"), m[end+1:]
	// Alternatives outside the group bind more weakly than the group does.
	before, after := strings.Split(head, "|"), strings.Split(tail, "|")
	out := before[: len(before)-1 : len(before)-1]
	for part := range strings.SplitSeq(group, "|") {
		if len(out) > maxMatchers {
			break
		}
		out = append(out, alternatives(before[len(before)-1]+part+after[0])...)
	}
	for _, rest := range after[1:] {
		out = append(out, alternatives(rest)...)
	}
	return out
}

// globOf translates one alternative of a regular expression.
func globOf(part string) (string, bool) {
	// A tool's name holds this nowhere but at its beginning.
	head, tail := strings.HasPrefix(part, "mcp__"), false
	if rest, ok := strings.CutPrefix(part, "^"); ok {
		part, head = rest, true
	}
	if rest, ok := strings.CutSuffix(part, "$"); ok {
		part, tail = rest, true
	}
	glob := strings.NewReplacer(".*", "*", ".+", "?*", ".", "?").Replace(part)
	if strings.ContainsAny(strings.NewReplacer(".*", "", ".+", "").Replace(part), "*?+") || !globMatcher.MatchString(glob) {
		return "", false
	}
	if !head && !strings.HasPrefix(glob, "*") {
		glob = "*" + glob
	}
	if !tail && !strings.HasSuffix(glob, "*") {
		glob += "*"
	}
	if strings.Trim(glob, "*") == "" {
		glob = ""
	}
	return glob, true
}

// matcherOf is the matcher that says what a pattern does.
func matcherOf(glob string) string {
	if !strings.ContainsAny(glob, "*?") {
		return glob
	}
	return "^" + strings.NewReplacer("*", ".*", "?", ".").Replace(glob) + "$"
}
