package capability

import (
	"slices"
	"strings"
)

// MaxRuntimeName is the length that every model interface accepts.
const MaxRuntimeName = 64

const (
	mcpPrefix     = "mcp__"
	codePrefix    = "code__"
	controlPrefix = "capstore__"
	digestLength  = 12
	// maxServerPart keeps room for a tool's own name where a server's is long.
	maxServerPart = 24
)

// MCPToolName is the name under which the model calls a tool of an MCP server.
// A name that fits stays as it is; any other is altered and ends with a digest
// of both raw names, so that different pairs differ and one pair stays itself.
// Calls are resolved in a table, never by taking this name apart.
func MCPToolName(server, tool string) string {
	s, fitS := fitting(server)
	t, fitT := fitting(tool)
	name := mcpPrefix + s + "__" + t
	if fitS && fitT && len(name) <= MaxRuntimeName {
		return name
	}
	if s = shorten(s, maxServerPart); s == "" {
		s = "x"
	}
	t = shorten(t, MaxRuntimeName-len(mcpPrefix)-len(s)-len("__")-digestLength-1)
	return joinDigest(mcpPrefix+s+"__", t, server, tool)
}

// CodeToolName is the name under which the model calls a code tool.
func CodeToolName(name string) string { return runtimeName(codePrefix, name) }

// SkillName is the name under which the model asks for a skill. It is an
// argument of use_skill, never a tool.
func SkillName(name string) string { return runtimeName("", name) }

// CommandName is what a person types after the slash.
func CommandName(name string) string { return runtimeName("", name) }

// ControlToolName is the name of an operation of capstore itself among the
// agent's tools. Operations are named in the code, so they fit.
func ControlToolName(operation string) string { return controlPrefix + operation }

func runtimeName(prefix, raw string) string {
	name, fits := fitting(raw)
	if fits && len(prefix)+len(name) <= MaxRuntimeName {
		return prefix + name
	}
	return joinDigest(prefix, shorten(name, MaxRuntimeName-len(prefix)-digestLength-1), raw)
}

func joinDigest(prefix, name string, raw ...string) string {
	digest := shortDigest(digestLength, raw...)
	if name == "" {
		return prefix + digest
	}
	return prefix + name + "_" + digest
}

// fitting replaces what a runtime name may not hold, runs of underscores
// included, and reports whether raw was already fit.
func fitting(raw string) (name string, fits bool) {
	b := make([]byte, 0, len(raw))
	for i := range len(raw) {
		if c := raw[i]; isAlphanumeric(c) || c == '-' {
			b = append(b, c)
		} else if len(b) > 0 && b[len(b)-1] != '_' {
			b = append(b, '_')
		}
	}
	name = strings.TrimRight(string(b), "_")
	return name, name == raw && name != "" && !looksAltered(name)
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// looksAltered reports whether a raw name ends as altered ones do. It is
// altered too, or it could pose as another one's alteration.
func looksAltered(name string) bool {
	start := len(name) - digestLength
	if start < 0 || start > 0 && name[start-1] != '_' {
		return false
	}
	for _, c := range []byte(name[start:]) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return false
		}
	}
	return true
}

func shorten(name string, n int) string { return strings.TrimRight(name[:min(len(name), n)], "_") }

// ToolRefusal is a tool of a server that gets no name, and why.
type ToolRefusal struct {
	Raw    string
	Code   string // empty_name, duplicate or name_collision
	Detail string
}

// ToolNames names a server's tools, raw to runtime. The answer is the same in
// whatever order the server lists them. A nameless tool is refused, a second
// one of the same name is refused and reported, and so is one whose runtime
// name another already has.
func ToolNames(server string, raws []string) (map[string]string, []ToolRefusal) {
	names, taken := make(map[string]string, len(raws)), make(map[string]string, len(raws))
	var refused []ToolRefusal
	for _, raw := range slices.Sorted(slices.Values(raws)) {
		name := MCPToolName(server, raw)
		switch _, again := names[raw]; {
		case strings.TrimSpace(raw) == "":
			refused = append(refused, ToolRefusal{Raw: raw, Code: "empty_name", Detail: "A tool without a name cannot be called."})
		case again:
			refused = append(refused, ToolRefusal{Raw: raw, Code: "duplicate", Detail: "The server lists this tool more than once; the first one is used."})
		case taken[name] != "":
			refused = append(refused, ToolRefusal{Raw: raw, Code: "name_collision", Detail: "Its name cannot be told apart from " + taken[name] + "."})
		default:
			names[raw], taken[name] = name, raw
		}
	}
	return names, refused
}
